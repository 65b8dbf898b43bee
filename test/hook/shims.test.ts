import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { shimText } from '../../src/flow/hooks/hook-shims.ts'
import { hookNames } from '../../src/model/hook.ts'
import { agentVariables } from '../../src/policy/agent-environment.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { projectRoot } from '../helpers/source-tree.ts'
import { runAs } from './hook-world.ts'
import { saying, writeScript } from './managers.ts'

const directory = join(projectRoot, 'hooks')
const shells = [['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(([program = '']) =>
  (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program))),
)

/** The shim of a hook, filled in with a node that notes what it is asked. */
async function shimIn(repo: TestRepo, name: (typeof hookNames)[number]): Promise<string> {
  writeScript(join(repo.home, "it's node"), `#!/bin/sh\necho "$* <$(cat)>" >> '${repo.home}/ran'\nexit 7\n`)
  const program = join(repo.home, 'galley.js')
  writeScript(program, '')
  const text = await shimText({ directory, program, node: join(repo.home, "it's node") }, name)
  const path = join(repo.home, 'hooks', name)
  writeScript(path, text)
  return path
}

const ran = (repo: TestRepo): string =>
  existsSync(join(repo.home, 'ran')) ? readFileSync(join(repo.home, 'ran'), 'utf8') : ''

test('there is a shim for every hook that galley answers', () => {
  expect(readdirSync(directory).sort()).toEqual([...hookNames].sort())
})

test.each(['pre-commit', 'pre-merge-commit', 'pre-push', 'reference-transaction'] as const)(
  '%s knows every variable by which an agent is recognised',
  (name) => {
    const text = readFileSync(join(directory, name), 'utf8')
    const lines = text.split('\n').filter((line) => line.startsWith('agents='))
    const named = [...lines.join('').matchAll(/\$([A-Z_]+)/g)].map((match) => match[1])
    expect(named).toEqual([...agentVariables])
  },
)

describe.each(shells)('under %s', (...shell) => {
  const words = shell.filter((word) => typeof word === 'string')

  test.each(hookNames)(
    '%s asks galley where it has to, with arguments and input, and gives its exit code',
    async (name) => {
      using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
      const path = await shimIn(repo, name)
      const message = join(repo.home, 'message')
      writeScript(message, 'Title\n\nGalley-Change: g000000000\n')
      const args = { 'commit-msg': [message], 'reference-transaction': ['prepared'] }[name as string] ?? [
        'one',
        'two words',
      ]
      const input = `0 1 refs/heads/main\n0 1 refs/heads/x\n\n`
      const result = runAs(repo, [...words, path, ...args], { CLAUDECODE: '1' }, { input })
      expect(result).toEqual({ code: 7, out: '' })
      expect(ran(repo)).toContain(`${join(repo.home, 'galley.js')} hook ${name} ${args.join(' ')}`)
      const getsInput = ['pre-push', 'reference-transaction', 'pre-receive'].includes(name)
      if (getsInput) expect(ran(repo)).toContain('<0 1 refs/heads/main\n0 1 refs/heads/x>')
    },
  )

  test.each(hookNames)('%s runs the hook that it keeps first, and stops with its code', async (name) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const path = await shimIn(repo, name)
    writeScript(join(repo.home, 'hooks/galley-prev', name), saying(repo, `theirs-${name}`, 5))
    const result = runAs(repo, [...words, path, 'committed'], { CLAUDECODE: '1' }, { input: 'x\n' })
    expect(result.code).toBe(5)
    expect(ran(repo)).toBe(`theirs-${name} committed\n`)
  })

  test('a person on a branch that nothing guards waits for no node', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const input = '0 1 refs/heads/main\n'
    for (const name of ['pre-commit', 'pre-merge-commit', 'pre-push', 'reference-transaction'] as const) {
      const path = await shimIn(repo, name)
      expect(runAs(repo, [...words, path, 'prepared'], {}, { input })).toEqual({ code: 0, out: '' })
    }
    expect(ran(repo)).toBe('')
  })

  test.each(['{ "guard": ["main"] }\n', '{ "gu\\u0061rd": ["main"] }\n'])(
    'a guard is seen: %s',
    async (policy) => {
      using repo = makeRepo({ files: { 'a.txt': 'a\n', '.galley.json': policy } })
      expect(runAs(repo, [...words, await shimIn(repo, 'pre-commit')]).code).toBe(7)
    },
  )

  test('a replace ref does not hide it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', '.galley.json': '{ "guard": ["main"] }\n' } })
    const [real, fake] = ['.galley.json', 'a.txt'].map((path) => repo.git('rev-parse', `HEAD:${path}`))
    repo.git('replace', real ?? '', fake ?? '')
    expect(runAs(repo, [...words, await shimIn(repo, 'pre-commit')]).code).toBe(7)
  })

  test.each(hookNames)('%s says what it needs where there is no galley', async (name) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const path = join(directory, name)
    const message = join(repo.home, 'message')
    writeScript(message, 'Galley-Change: g000000000\n')
    const args = name === 'commit-msg' ? [message] : ['prepared']
    const bare = { PATH: '/usr/bin:/bin', CLAUDECODE: '1' }
    const result = runAs(repo, [...words, path, ...args], bare, { input: '0 1 refs/heads/main\n' })
    expect(result.code).toBe(1)
    expect(result.out).toMatch(new RegExp(`^galley: the ${name} hook needs galley`))
  })
})

test('galley is found in PATH where the paths of the installation are gone', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  const text = await shimText({ directory, program: '/gone/galley.js', node: '/gone/node' }, 'pre-commit')
  writeScript(join(repo.home, 'hook'), text)
  writeScript(join(repo.home, 'bin/galley'), saying(repo, 'from PATH'))
  const env = { PATH: `${repo.home}/bin:${repo.env['PATH']}`, CLAUDECODE: '1' }
  expect(runAs(repo, ['sh', join(repo.home, 'hook')], env).code).toBe(0)
  expect(ran(repo)).toBe('from PATH hook pre-commit\n')
})
