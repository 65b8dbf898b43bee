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
  test.each([['committed above too', `${COMMIT} -am moved`]])(
    '%s: as a commit that is kept, published as the answer says, and landed',
    async (_, above) => {
      using inner = makeRepo({ files: { f: 'one\n' }, name: 'in ner' })
      using repo = withSubmodule(inner)
      const before = repo.snapshot()
      const script = `${GIT} submodule --quiet update --init; cd libs/sub; echo two > f; ${COMMIT} -am two; cd ../..; ${above}`
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
    },
  )

  test.each([
    ['a new one', 'add', ['.gitmodules 100644', 'new 160000'], 'new'],
    [
      'one in the place of a directory',
      'rm',
      ['.gitmodules 100644', 'lib 160000', 'lib/x 000000', 'lib/y 000000'],
      'lib',
    ],
  ] as const)('%s', async (_, kind, expected, place) => {
    using inner = makeRepo({ files: { f: 'one\n' } })
    using repo = withSubmodule(inner)
    const removal = kind === 'rm' ? 'git rm -rq lib; ' : ''
    const script = `${removal}${GIT} submodule --quiet add ${inner.dir} ${place}`
    await using found = await shell(repo, script)
    expect([found.outcome.exitCode, found.files]).toEqual([0, expected])
    await approved(found.world, found.outcome.changes[0]?.id ?? '')
    expect(repo.git('rev-parse', `HEAD:${place}`)).toBe(inner.git('rev-parse', 'main'))
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test.each([
    ['one that is only checked out', `${GIT} submodule --quiet update --init`],
    [
      'a repository that no .gitmodules names',
      'git init -q own; cd own; git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x; cd ..; git add own',
    ],
    [
      'one whose HEAD is broken',
      `${GIT} submodule --quiet update --init; echo x > .git/modules/libs/sub/HEAD`,
    ],
    [
      'one whose .git leads out',
      'mkdir -p libs/sub; echo "gitdir: ../../../../../x" > libs/sub/.git; touch libs/sub/f',
    ],
  ])('%s is in none', async (_, script) => {
    using inner = makeRepo({ files: { f: 'one\n' } })
    using repo = withSubmodule(inner)
    await using found = await shell(repo, script)
    expect([found.outcome.exitCode, found.files]).toEqual([0, []])
  })
})
