import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../../src/flow/run/run.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { approved, openFor, SUBMODULE } from './link-world.ts'

const GIT = 'git -c protocol.file.allow=always -c user.name=x -c user.email=x@y'
const COMMIT = 'git -c user.name=x -c user.email=x@y commit -q'

function withSubmodule(inner: TestRepo): TestRepo {
  const repo = makeRepo({ files: { 'a.txt': 'a\n', 'lib/x': 'x\n', 'lib/y': 'y\n' } })
  repo.git(...SUBMODULE, 'add', inner.dir, 'libs/sub')
  repo.commit('submodule')
  return repo
}

async function shell(repo: TestRepo, script: string) {
  const open = await openFor(repo)
  const outcome = await run(open.world, { command: ['sh', '-ec', script] })
  const files = outcome.changes.flatMap((c) => c.files.map((f) => `${f.path} ${f.newMode}`))
  return { ...open, outcome, files }
}

describe('a submodule that a run moves is in its change', () => {
  test('as a commit that is kept, published as the answer says, and landed', async () => {
    using inner = makeRepo({ files: { f: 'one\n' }, name: 'in ner' })
    using repo = withSubmodule(inner)
    const before = repo.snapshot()
    const script = `${GIT} submodule --quiet update --init; cd libs/sub; echo two > f; ${COMMIT} -am two`
    await using found = await shell(repo, script)
    const { outcome, files, world } = found
    expect([outcome.exitCode, files]).toEqual([0, ['libs/sub 160000']])
    expect(outcome.changes[0]?.state).toBe('staged')
    expect(repo.snapshot()).toEqual(before)
    const hint = outcome.remarks.find((remark) => remark.includes('stands at')) ?? ''
    const [fetch = '', push = ''] = [...hint.matchAll(/`([^`]*)`/g)].map(([, command]) => command)
    const sub = { cwd: join(repo.dir, 'libs/sub'), env: repo.env }
    execFileSync('sh', ['-ec', `${fetch}; ${push.replace('BRANCH', 'two')}`], { ...sub, stdio: 'pipe' })
    expect(inner.git('show', 'two:f')).toBe('two')
    await approved(world, outcome.changes[0]?.id ?? '')
    expect(repo.git('rev-parse', 'HEAD:libs/sub')).toBe(inner.git('rev-parse', 'two'))
  })
})
