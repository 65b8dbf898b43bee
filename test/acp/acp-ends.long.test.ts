import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { choosing, type Editor, startEditor } from '../helpers/acp.ts'
import { cli, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const MARKER = 'what the agent wrote\n'
const write = { do: 'write', path: 'a.txt', text: MARKER }
const told = { do: 'tell', method: '_x/written', params: {} }

/** How far a conversation has come; whether the agent has written by then. */
const moments: readonly (readonly [
  name: string,
  hasWritten: boolean,
  reach: (editor: Editor) => Promise<unknown>,
])[] = [
  ['before a word', false, async () => undefined],
  ['when it has been greeted', false, (editor) => editor.ask('initialize', { protocolVersion: 1 })],
  [
    'while a session opens',
    false,
    async (editor) => {
      await editor.ask('initialize', { protocolVersion: 1 })
      void editor.ask('session/new', { cwd: '.', mcpServers: [] })
    },
  ],
  [
    'in a turn',
    true,
    async (editor) => {
      await editor.open()
      const written = editor.next(({ method }) => method === '_x/written')
      void editor.prompt([write, told, { do: 'hang' }])
      await written
    },
  ],
  [
    'while it is asked',
    true,
    async (editor) => {
      await editor.open()
      const asked = editor.next(({ method }) => method === 'session/request_permission')
      void editor.prompt([write])
      await asked
    },
  ],
]

const ways = {
  'closes its pipe': (editor: Editor) => editor.close(),
  'ends galley politely': (editor: Editor) => {
    editor.kill('SIGTERM')
    return editor.exited
  },
  'kills galley': (editor: Editor) => {
    editor.kill('SIGKILL')
    return editor.exited
  },
}

/** Wherever it is kept: as a change, or as work that was left. */
function isKept(repo: TestRepo): boolean {
  const store = join(repo.dir, '.git/galley/store.git')
  const blob = execFileSync('git', ['hash-object', '--stdin'], { input: MARKER, encoding: 'utf8' }).trim()
  const objects = execFileSync('git', ['--git-dir', store, 'rev-list', '--all', '--objects'], {
    env: repo.env,
    encoding: 'utf8',
  })
  return objects.includes(blob)
}

describe.each(Object.keys(ways) as readonly (keyof typeof ways)[])('an editor that %s', (way) => {
  test.each(moments)('%s loses nothing and leaves nothing running', async (_, hasWritten, reach) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const before = repo.snapshot()
    const editor = startEditor(repo)
    await reach(editor)
    await ways[way](editor)
    if (way === 'kills galley') expect(cli(repo, ['gc', '--json']).code).toBe(0)
    expect(repo.snapshot()).toEqual(before)
    if (hasWritten) expect(isKept(repo)).toBe(true)
    for (const line of editor.lines) expect(() => JSON.parse(line)).not.toThrow()
    await using galley = await openGalley(repo)
    expect((await galley.run({ command: ['true'] })).exitCode).toBe(0)
  })
})

test('an agent that cannot be started is told on standard error, and standard output stays clean', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const editor = startEditor(repo, { agent: ['no-such-agent'] })
  expect(await editor.exited).toBe(1)
  expect(editor.stderr()).toContain('not-found')
  expect(editor.lines).toEqual([])
})

test('whatever either side says, galley goes on, answers in JSON alone, and changes nothing', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  const before = repo.snapshot()
  const editor = startEditor(repo)
  await editor.open()
  editor.onRequest = choosing('later')
  const methods = [
    'session/prompt',
    'session/new',
    'session/update',
    'fs/read_text_file',
    'fs/write_text_file',
    'x',
    '',
  ]
  const message = fc.record(
    {
      id: fc.oneof(fc.integer({ min: 100 }), fc.string(), fc.constant(null)),
      method: fc.oneof(fc.constantFrom(...methods), fc.string()),
      params: fc.oneof(
        fc.object({ maxDepth: 2 }),
        fc.record({ sessionId: fc.constant('s-1'), path: fc.string() }),
      ),
      result: fc.anything(),
      error: fc.anything(),
    },
    { requiredKeys: [] },
  )
  const line = fc.oneof(
    message.map((value) => JSON.stringify(value)),
    fc.string().map((text) => text.replaceAll(/[\r\n]/g, ' ')),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 20 }),
      fc.array(line, { maxLength: 20 }),
      async (ours, theirs) => {
        for (const text of ours) editor.send(text)
        const { error } = await editor.prompt(theirs.map((text) => ({ do: 'raw', text })))
        expect(error).toBeUndefined()
      },
    ),
    { numRuns: Number(process.env['GALLEY_RUNS'] ?? 30) },
  )
  expect(await editor.close()).toBe(0)
  for (const text of editor.lines) expect(() => JSON.parse(text)).not.toThrow()
  expect(repo.snapshot()).toEqual(before)
}, 120_000)
