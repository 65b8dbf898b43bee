import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentClients } from '../../src/setup/clients.ts'
import { cliHere } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const names = agentClients.map(({ name }) => name)
const setup = (repo: TestRepo, ...words: readonly string[]) => cliHere(repo, ['setup', ...words])

const put = (file: string, text: string) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Where a client keeps its settings, by what setup says itself. */
async function fileOf(repo: TestRepo, name: string, scope: 'project' | 'user'): Promise<string> {
  const { json } = await cliHere(repo, ['setup', name, `--${scope}`, '--dry-run', '--json'])
  return json.clients[0].path
}

describe.each(names)('setup of %s', (name) => {
  test.each(['project', 'user'] as const)(
    'writes its %s settings, once, and takes all of it away again',
    async (scope) => {
      using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
      const file = await fileOf(repo, name, scope)
      const before = repo.snapshot()
      expect((await setup(repo, name, `--${scope}`, '--yes')).code).toBe(0)
      const written = readFileSync(file, 'utf8')
      expect(written).toContain('git-galley')
      expect((await setup(repo, name, `--${scope}`, '--yes')).stdout).toContain('has it already')
      expect(readFileSync(file, 'utf8')).toBe(written)
      expect((await setup(repo, name, `--${scope}`, '--remove')).stdout).toContain('as it was before')
      expect(existsSync(file)).toBe(false)
      expect(repo.snapshot()).toEqual(before)
    },
  )
})

describe.each(['claude-code', 'codex'] as const)('what else is in the settings of %s', (name) => {
  test('is put back to the byte, also where galley has written twice', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
    const file = await fileOf(repo, name, 'project')
    const text = name === 'codex' ? '# mine\r\nmodel = "x"' : '{\r\n\t"mine": [1,2 ]}'
    put(file, text)
    expect((await setup(repo, name, '--yes')).code).toBe(0)
    await setup(repo, name, '--yes', '--command', 'galley mcp')
    expect((await setup(repo, name, '--remove')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test("stays where somebody has written since: only galley's part is taken out", async () => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
    const file = await fileOf(repo, name, 'project')
    await setup(repo, name, '--yes')
    const text = readFileSync(file, 'utf8')
    const more =
      name === 'claude-code' ? text.replace('{', '{\n  "mine": [1], // keep') : `${text}\n[mine]\nkeep = 1\n`
    writeFileSync(file, more)
    expect((await setup(repo, name, '--remove')).stdout).toContain('taken out')
    const left = readFileSync(file, 'utf8')
    expect(left).toContain('keep')
    expect(left).not.toContain('galley')
  })
})

describe('setup', () => {
  const snapshotWithHome = (repo: TestRepo) => [repo.snapshot(), existsSync(join(repo.home, '.local'))]

  test.each([
    ['dry', ['codex', 'claude-code', '--dry-run']],
    ['without a yes', ['codex', 'claude-code']],
    ['of what is not there', []],
  ])('writes nothing when it is %s', async (_, words) => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
    const before = snapshotWithHome(repo)
    await setup(repo, ...words)
    expect(snapshotWithHome(repo)).toEqual(before)
  })

  test('finds the clients by their folders and programs', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n', '.cursor/rules.md': 'x\n' } })
    mkdirSync(join(repo.home, '.codex'))
    put(join(repo.home, 'bin/zed'), '')
    const env = { PATH: `${join(repo.home, 'bin')}:/usr/bin:/bin` }
    const { json } = await cliHere(repo, ['setup', '--dry-run', '--json'], { env })
    expect(json.clients.map(({ client }: { client: string }) => client)).toEqual(['codex', 'cursor', 'zed'])
  })

  test.each([
    ['is broken', 'claude-code', '.mcp.json', '{ "mcpServers": ', 'parse-error'],
    ['is no object', 'claude-code', '.mcp.json', '[1]', 'parse-error'],
    ['has its servers twice', 'claude-code', '.mcp.json', '{"mcpServers":{},"mcpServers":{}}', 'parse-error'],
    [
      'has its servers in one line',
      'codex',
      '.codex/config.toml',
      'mcp_servers = { a = { command = "x" } }\n',
      'parse-error',
    ],
    ['is broken TOML', 'codex', '.codex/config.toml', '[a\n', 'parse-error'],
    [
      'has another galley',
      'codex',
      '.codex/config.toml',
      '[mcp_servers.galley]\ncommand = "evil"\n',
      'parse-error',
    ],
  ])('refuses a file that %s, and leaves every file as it is', async (_, name, path, text, code) => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
    put(join(repo.dir, path), text)
    const before = snapshotWithHome(repo)
    // The good one is not written either.
    const { json, code: exitCode } = await cliHere(repo, ['setup', 'zed', name, '--yes', '--json'])
    expect([exitCode, json.error.code]).toEqual([1, code])
    expect(snapshotWithHome(repo)).toEqual(before)
  })

  test.each([
    ['.mcp.json', 'claude-code'],
    ['.gemini', 'gemini-cli'],
  ])('does not follow a link that a repository has at %s', async (path, name) => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
    const target = join(repo.home, 'mine')
    if (path === '.gemini') mkdirSync(target)
    else writeFileSync(target, '{}')
    symlinkSync(target, join(repo.dir, path))
    const before = repo.snapshot()
    const { json } = await cliHere(repo, ['setup', name, '--yes', '--json'])
    expect(json.error.code).toBe('symlink')
    expect(repo.snapshot()).toEqual(before)
    expect(existsSync(join(target, 'settings.json'))).toBe(false)
  })

  test("follows a person's own link to where they keep their settings", async () => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
    put(join(repo.home, 'dotfiles/claude.json'), '{"mine":1}\n')
    symlinkSync(join(repo.home, 'dotfiles/claude.json'), join(repo.home, '.claude.json'))
    expect((await setup(repo, 'claude-code', '--user', '--yes')).code).toBe(0)
    expect(readFileSync(join(repo.home, 'dotfiles/claude.json'), 'utf8')).toContain('git-galley')
    await setup(repo, 'claude-code', '--user', '--remove')
    expect(readFileSync(join(repo.home, 'dotfiles/claude.json'), 'utf8')).toBe('{"mine":1}\n')
  })

  test('shows an entry of its name that leads elsewhere before it replaces it', async () => {
    using repo = makeRepo({ files: { '.mcp.json': '{"mcpServers":{"galley":{"command":"evil"}}}\n' } })
    const shown = await setup(repo, 'claude-code', '--dry-run')
    expect(shown.stdout).toContain('another entry by that name')
    expect(shown.stdout).toContain('evil')
  })

  test('is not for an agent to write', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'x\n' } })
    const before = snapshotWithHome(repo)
    const { json } = await cliHere(repo, ['setup', 'codex', '--yes', '--json'], { env: { CLAUDECODE: '1' } })
    expect(json.error.code).toBe('agent-may-not-approve')
    expect(snapshotWithHome(repo)).toEqual(before)
  })
})
