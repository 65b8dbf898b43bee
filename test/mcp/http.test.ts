import { request } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { openWorld } from '../../src/flow/world.ts'
import { serveOverHttp } from '../../src/mcp/serve.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { eras, givenOf, yes } from '../helpers/mcp.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const token = 'a-token-for-this-test'

async function serve(repo: TestRepo) {
  const serving = await serveOverHttp({
    directories: [repo.dir],
    open: (directory) => openWorld(directory, { env: repo.env, clock: systemClock }),
    clock: systemClock,
    adapter: null,
    port: 0,
    token,
  })
  return { ...serving, [Symbol.asyncDispose]: serving.close }
}

/** One request as a stranger would make it. */
const ask = (
  url: string,
  headers: Record<string, string>,
  body?: string | Buffer,
  method = 'POST',
): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    sent.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? undefined : reject(error),
    )
    sent.end(body)
  })

const authorization = `Bearer ${token}`
const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

describe('over HTTP', () => {
  test.each(eras)('a client of the era of %s reads, proposes, is asked, and lands', async (era) => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using serving = await serve(repo)
    const client = new Client(
      { name: 'http', version: '1' },
      {
        capabilities: { elicitation: { form: {} } },
        ...(era === '2026' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
      },
    )
    client.setRequestHandler('elicitation/create', yes)
    const transport = new StreamableHTTPClientTransport(new URL(serving.url), {
      requestInit: { headers: { authorization } },
    })
    await client.connect(transport)
    const call = async (name: string, input: Record<string, unknown>) =>
      givenOf(await client.callTool({ name, arguments: input }))
    expect((await call('read_file', { path: 'a.txt' })).value.content).toBe('hello\n')
    const edits = [{ op: 'replace', path: 'a.txt', old: 'hello', new: 'goodbye' }]
    const { id } = (await call('propose_edits', { title: 'Greet', edits })).value.change
    expect((await call('land_change', { id })).isError).toBe(false)
    expect(repo.read('a.txt')).toBe('goodbye\n')
    await client.close()
  })

  test.each([
    ['no token', {}, 401],
    ['another token', { authorization: 'Bearer another' }, 401],
    ['the token in another form', { authorization: token }, 401],
    ['a Host of elsewhere', { authorization, host: 'evil.example' }, 403],
    ['an Origin of elsewhere', { authorization, origin: 'https://evil.example' }, 403],
    ['the token, from here', { authorization, accept: 'application/json, text/event-stream' }, 200],
    [
      'an Origin of this machine',
      { authorization, origin: 'http://localhost:6274', accept: 'application/json, text/event-stream' },
      200,
    ],
  ])('answers a request with %s as it should', async (_, headers, status) => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using serving = await serve(repo)
    expect(await ask(serving.url, headers as unknown as Record<string, string>, ping)).toBe(status)
  })

  test('what is too large, too deep, or elsewhere is refused, and the server stays', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using serving = await serve(repo)
    const accept = 'application/json, text/event-stream'
    expect(await ask(serving.url, { authorization, accept }, Buffer.alloc(34 * 1024 * 1024, 32))).toBe(413)
    expect(await ask(serving.url, { authorization, accept }, '['.repeat(10_000))).toBe(400)
    expect(await ask(serving.url.replace('/mcp', '/other'), { authorization }, ping)).toBe(404)
    expect(await ask(serving.url, { authorization }, undefined, 'PUT')).toBe(405)
    expect(await ask(serving.url, { authorization, accept }, ping)).toBe(200)
  })

  test('an older session is known by its name alone, and ends when its client says so', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'hello\n' } })
    await using serving = await serve(repo)
    const accept = 'application/json, text/event-stream'
    const headers = { authorization, accept, 'content-type': 'application/json' }
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const begun = await fetch(serving.url, { method: 'POST', headers, body })
    const id = begun.headers.get('mcp-session-id') ?? ''
    expect(id).toMatch(/^[0-9a-f]{36}$/)
    const inSession = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    expect(await ask(serving.url, { ...inSession, authorization: 'Bearer another' }, ping)).toBe(401)
    expect(await ask(serving.url, { ...inSession, 'mcp-session-id': `${id}0` }, ping)).toBe(404)
    expect(await ask(serving.url, inSession, ping)).toBe(200)
    expect(await ask(serving.url, inSession, undefined, 'DELETE')).toBe(200)
    expect(await ask(serving.url, inSession, ping)).toBe(404)
  })
})
