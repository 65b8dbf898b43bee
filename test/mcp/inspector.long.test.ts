import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { builtProgram } from '../helpers/galley.ts'
import { installPackage } from '../helpers/real-clients.ts'
import { makeRepo } from '../helpers/repo.ts'

test("the inspector's command line lists galley's tools, calls them, and reads a diff", () => {
  const inspector = installPackage(
    '@modelcontextprotocol/inspector',
    '2.12.0',
    'node_modules/.bin/mcp-inspector',
  )
  if ('why' in inspector) {
    process.stderr.write(`not tried: ${inspector.why}\n`)
    return
  }
  using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
  // It hands its server hardly any of its environment: who commits stands in the repository.
  repo.git('config', 'user.name', 'T')
  repo.git('config', 'user.email', 't@example.org')
  const ask = (...words: readonly string[]) => {
    const server = [process.execPath, builtProgram, 'mcp']
    const { status, stdout, stderr } = spawnSync(inspector.path, ['--cli', ...server, ...words], {
      cwd: repo.dir,
      env: { ...repo.env },
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const { tools } = ask('--method', 'tools/list')
  expect(tools.map(({ name }: { name: string }) => name)).toContain('propose_edits')
  const call = (name: string, ...given: readonly string[]) =>
    ask('--method', 'tools/call', '--tool-name', name, ...given.flatMap((word) => ['--tool-arg', word]))
  expect(call('read_file', 'path=a.txt').structuredContent.content).toBe('hello\n')
  const edits = JSON.stringify([{ op: 'replace', path: 'a.txt', old: 'hello', new: 'goodbye' }])
  const { change } = call('propose_edits', 'title=Greet', `edits=${edits}`).structuredContent
  expect(change).toMatchObject({ state: 'staged', title: 'Greet' })
  const uri = `galley://changes/${change.id}/1.diff`
  expect(ask('--method', 'resources/read', '--uri', uri).contents[0].text).toContain('+goodbye')
}, 120_000)
