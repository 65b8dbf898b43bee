import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { connectHere, eras, serveHere } from '../helpers/mcp.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const listTools = { jsonrpc: '2.0', id: 'last', method: 'tools/list', params: {} }

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
type Said = any

/** Sends lines as they are to a server that has been greeted, and gives all that it says until it has answered one more call. */
async function say(repo: TestRepo, lines: readonly (string | Uint8Array)[]): Promise<readonly Said[]> {
  const { input, output, served } = serveHere(repo)
  const said: Said[] = []
  let rest = ''
  const answered = new Promise<void>((resolve) => {
    output.setEncoding('utf8').on('data', (text: string) => {
      const parts = `${rest}${text}`.split('\n')
      rest = parts.pop() ?? ''
      for (const part of parts) said.push(JSON.parse(part))
      if (said.some(({ id }) => id === 'last')) resolve()
    })
  })
  input.write(`${JSON.stringify(initialize)}\n`)
  for (const line of lines) input.write(line)
  input.write(`\n${JSON.stringify(listTools)}\n`)
  await answered
  input.end()
  await served
  return said.filter(({ id }) => id !== 'hello' && id !== 'last')
}

const callOf = (id: unknown, name: string, input: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } })

describe('a message that is none', () => {
  test('is answered with an error, and the connection stays', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const said = await say(repo, [
      'no json\n',
      '{}\n',
      '[]\n',
      'null\n',
      '{"jsonrpc":"2.0","id":7}\n',
      '\n\r\n',
    ])
    expect(said.map(({ error }) => error.code)).toEqual([-32700, -32600, -32600, -32600, -32600])
    expect(said.at(-1).id).toBe(7)
  })

  test('with more than a batch may have is not kept, and its caller is told', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const piece = 'x'.repeat(1024 * 1024)
    const before = repo.snapshot()
    const said = await say(repo, [
      '{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"propose_edits","arguments":{"title":"',
      ...Array.from({ length: 34 }, () => piece),
      '"}}}\n',
    ])
    expect(said).toMatchObject([{ id: 41, error: { message: expect.stringContaining('too-large') } }])
    expect(repo.snapshot()).toEqual(before)
  })

  test('nested too deeply is not parsed, and its caller is told by the id behind it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const deep = `{"jsonrpc":"2.0","method":"tools/call","params":${'['.repeat(100_000)}${']'.repeat(100_000)},"id":"x"}\n`
    const said = await say(repo, [deep])
    expect(said).toMatchObject([{ id: 'x', error: { message: expect.stringContaining('invalid-json') } }])
  })

  test('names an unknown method or tool: an error with its id', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const said = await say(repo, [
      '{"jsonrpc":"2.0","id":1,"method":"no/such"}\n',
      `${callOf(2, 'no_such', {})}\n`,
      `${callOf(3, 'constructor', {})}\n`,
      '{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"galley://changes/../1.diff"}}\n',
    ])
    expect(said.map(({ id, error }) => [id, error.code]).sort()).toEqual([
      [1, -32601],
      [2, -32602],
      [3, -32602],
      [4, expect.any(Number)],
    ])
  })
})

describe('arguments of any kind', () => {
  test('give a refusal with a public code, and change nothing', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using mcp = await connectHere(repo)
    const names = (await mcp.client.listTools()).tools
      .map(({ name }) => name)
      .filter((name) => name !== 'await_decision')
    const before = repo.snapshot()
    const value = fc.object({ maxDepth: 3, withNullPrototype: false })
    const likely = fc.record(
      {
        id: fc.anything(),
        path: fc.string(),
        edits: fc.array(fc.object({ maxDepth: 2 })),
        title: fc.string(),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.oneof(value, likely), async (name, given) => {
        const input = JSON.parse(JSON.stringify(given))
        const { isError, value: said, text } = await mcp.call(name, input)
        if (isError) expect(said.error.code).not.toBe('internal')
        expect(text.length).toBeGreaterThan(0)
      }),
      { numRuns: Number(process.env['GALLEY_RUNS'] ?? 60) },
    )
    expect(repo.snapshot()).toEqual(before)
  })

  test.each([
    ['read_file', { path: '../../etc/passwd' }, 'outside-repository'],
    ['read_file', { path: '.git/config' }, 'path-invalid'],
    ['read_file', { path: 'a\0b' }, 'path-invalid'],
    ['galley_status', { repository: '/' }, 'outside-repository'],
    ['galley_status', { repository: 'x\0y' }, 'outside-repository'],
    ['galley_status', { repository: '../other' }, 'outside-repository'],
    ['galley_status', { repository: 'link' }, 'outside-repository'],
    ['galley_status', { repository: 'nested' }, 'outside-repository'],
    ['galley_status', { repository: 'moved' }, 'outside-repository'],
    ['galley_status', { repository: 'nothing/here' }, 'not-a-repository'],
    [
      'propose_edits',
      { title: 'x', edits: [{ op: 'write', path: '.git/hooks/pre-commit', content: 'x' }] },
      'path-invalid',
    ],
    ['show_change', { id: '../../etc' }, 'unknown-change'],
    ['undo_change', { target: '--upload-pack=x' }, 'unknown-change'],
  ])('%s %o is refused as %s', async (name, input, code) => {
    using other = makeRepo({ files: { 'b.txt': 'theirs\n' }, name: 'other' })
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    repo.git('init', '-q', 'moved')
    repo.git('-C', 'moved', 'config', 'core.worktree', other.dir)
    repo.write('nested/.git', `gitdir: ${other.dir}/.git\n`)
    const { symlinkSync } = await import('node:fs')
    symlinkSync(other.dir, `${repo.dir}/link`)
    await using mcp = await connectHere(repo)
    const before = [repo.snapshot(), other.snapshot()]
    const refused = await mcp.call(name, input)
    expect(refused.value.error.code).toBe(code)
    expect([repo.snapshot(), other.snapshot()]).toEqual(before)
  })
})

describe('a client', () => {
  test('that vanishes in the middle of a landing leaves it landed as a whole', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    const { cliHere } = await import('../helpers/galley.ts')
    await using mcp = await connectHere(repo)
    const edits = [{ op: 'replace', path: 'a.txt', old: 'hello', new: 'goodbye' }]
    const { id } = (await mcp.call('propose_edits', { title: 'Greet', edits })).value.change
    await cliHere(repo, ['approve', id])
    const { input, output, served } = serveHere(repo)
    output.resume()
    input.write(`${JSON.stringify(initialize)}\n${callOf(1, 'land_change', { id })}\n`)
    input.end()
    await served
    const { state } = (await mcp.call('show_change', { id })).value.change
    expect([state, repo.read('a.txt')]).toEqual(
      state === 'landed' ? ['landed', 'goodbye\n'] : ['approved', 'hello\n'],
    )
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('that waits for a decision holds up no other call, and ends its wait when it cancels', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    for (const era of eras) {
      await using mcp = await connectHere(repo, { era })
      const edits = [{ op: 'write', path: `${era}.txt`, content: 'x\n' }]
      const { id } = (await mcp.call('propose_edits', { title: 'x', edits })).value.change
      const abort = new AbortController()
      let alive: () => void = () => undefined
      const sign = new Promise<void>((resolve) => {
        alive = resolve
      })
      const waiting = mcp.client
        .callTool(
          { name: 'await_decision', arguments: { id, timeout_seconds: 600 } },
          { signal: abort.signal, onprogress: () => alive() },
        )
        .catch((error: unknown) => error)
      expect((await mcp.call('galley_status')).value.pending.length).toBeGreaterThan(0)
      expect((await mcp.call('read_file', { path: 'a.txt' })).isError).toBe(false)
      // The first sign of life comes at once, whatever the other calls do.
      await sign
      abort.abort()
      expect(await waiting).toBeInstanceOf(Error)
    }
  })

  test('shares its reads with no other: two at once have a session each', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\ntwo\n' } })
    await using first = await connectHere(repo)
    await using second = await connectHere(repo)
    await first.call('read_file', { path: 'a.txt' })
    const edits = [{ op: 'lines', path: 'a.txt', from: 2, to: 2, content: 'TWO\n' }]
    const [mine, theirs] = await Promise.all([
      first.call('propose_edits', { title: 'x', edits }),
      second.call('propose_edits', { title: 'x', edits }),
    ])
    expect([mine.isError, theirs.value.error?.code]).toEqual([false, 'not-read'])
  })
})
