import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { land } from '../../src/flow/land/land.ts'
import { status } from '../../src/flow/status.ts'
import { openServer } from '../../src/remote/host-http.ts'
import { hostHere, hubHere, hubToken } from '../helpers/agent-zero.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const byRule = { '.galley.json': '{"autoApprove":{"paths":["*.txt"]}}' }
const text = 'one\ntwo\nthree\n'

const repoOf = (files: Readonly<Record<string, string>> = {}) =>
  makeRepo({ files: { 'a.txt': text, ...files } })

describe('a file on the host', () => {
  test('is read, edited by a rule, and read again, in the words of the system', async () => {
    using repo = repoOf(byRule)
    await using hub = await hubHere()
    await using _ = await hostHere(repo, hub.url)
    expect((await hub.call({ action: 'read', path: 'a.txt' })).text).toBe(
      'a.txt 3 lines\n>>>\n   1 | one\n   2 | two\n   3 | three\n\n<<<',
    )
    const edits = [{ from: 2, to: 2, content: 'TWO\n' }]
    expect((await hub.call({ action: 'patch', path: 'a.txt', edits })).text).toBe(
      'a.txt patched successfully',
    )
    const more = [{ from: 3, to: 3, content: 'THREE\n' }]
    expect((await hub.call({ action: 'patch', path: 'a.txt', edits: more })).isRefused).toBe(false)
    expect(
      (await hub.call({ action: 'patch', path: 'a.txt', old_text: 'one', new_text: 'ONE' })).isRefused,
    ).toBe(false)
    expect((await hub.call({ action: 'write', path: 'b.txt', content: 'new\n' })).text).toBe(
      'b.txt written successfully',
    )
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual(['ONE\nTWO\nTHREE\n', 'new\n'])
    expect(repo.git('log', '--format=%s').split('\n').length).toBe(5)
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('keeps its line endings', async () => {
    using repo = repoOf({ ...byRule, 'w.txt': 'a\r\nb\r\n' })
    await using hub = await hubHere()
    await using _ = await hostHere(repo, hub.url)
    const patch_text = '@@ a\n-b\n+B'
    expect((await hub.call({ action: 'patch', path: 'w.txt', patch_text })).isRefused).toBe(false)
    expect(repo.read('w.txt')).toBe('a\r\nB\r\n')
  })

  test('that nobody decides on stays as it is: the answer names the change, and the same call takes effect after an approval', async () => {
    using repo = repoOf()
    await using hub = await hubHere()
    await using here = await hostHere(repo, hub.url)
    const before = repo.snapshot()
    const call = { action: 'patch', path: 'a.txt', old_text: 'two', new_text: 'TWO' }
    const { text: said } = await hub.call(call)
    const [change] = (await status(here.world)).pending
    expect(said).toContain(`It is staged as ${change?.id}`)
    expect(said).toContain('the same call, made again, then takes effect')
    expect(repo.snapshot()).toEqual(before)
    await approve(here.world, { id: String(change?.id), via: 'cli' })
    expect((await hub.call(call)).text).toBe('a.txt patched successfully')
    expect(repo.read('a.txt')).toBe('one\nTWO\nthree\n')
  })

  test('waits for the person at the host', async () => {
    using repo = repoOf()
    await using hub = await hubHere()
    await using here = await hostHere(repo, hub.url, {
      ask: ({ id, digest }) => void approve(here.world, { id, digest, via: 'terminal' }),
    })
    expect((await hub.call({ action: 'write', path: 'a.txt', content: 'x\n' })).text).toBe(
      'a.txt written successfully',
    )
    expect(repo.read('a.txt')).toBe('x\n')
  })
})

describe('nothing is applied behind the back of a server that gave up', () => {
  test('when the approval comes after its time', async () => {
    using repo = repoOf()
    await using hub = await hubHere()
    const ids: string[] = []
    // 5 of the 6 seconds are kept for the landing.
    await using here = await hostHere(repo, hub.url, {
      operationMs: 6_000,
      ask: ({ id }) => void ids.push(id),
    })
    const before = repo.snapshot()
    const call = { action: 'write', path: 'a.txt', content: 'late\n' }
    const { text: said } = await hub.call(call)
    expect(said).toContain('for nobody decided within')
    await approve(here.world, { id: String(ids[0]), via: 'cli' })
    expect(repo.snapshot()).toEqual(before)
    expect((await hub.call(call)).text).toBe('a.txt written successfully')
    expect(repo.read('a.txt')).toBe('late\n')
  })

  test('when the connection is gone by the time of the approval', async () => {
    using repo = repoOf()
    await using hub = await hubHere()
    let stop = (): void => undefined
    await using here = await hostHere(repo, hub.url, {
      ask: ({ id, digest }) => {
        stop()
        void approve(here.world, { id, digest, via: 'terminal' })
      },
    })
    stop = here.host.stop
    const before = repo.snapshot()
    const answer = await hub.call({ action: 'write', path: 'a.txt', content: 'late\n' })
    expect(answer.text).toContain('CLI disconnected before completing the requested file operation')
    await here.running
    expect(repo.snapshot()).toEqual(before)
    const [change] = (await status(here.world)).pending
    expect(change?.state).toBe('approved')
    await land(here.world, { id: String(change?.id) })
    expect(repo.read('a.txt')).toBe('late\n')
  })
})

describe('a host in read-only mode', () => {
  test('reads, and refuses to write before it looks at the arguments', async () => {
    using repo = repoOf(byRule)
    await using hub = await hubHere()
    await using here = await hostHere(repo, hub.url, { writes: false })
    const before = repo.snapshot()
    expect((await hub.call({ action: 'read', path: 'a.txt' })).isRefused).toBe(false)
    expect((await hub.call({ action: 'write', path: '../x', content: 'x' })).text).toContain(
      'Press F3 to switch the CLI to Read&Write.',
    )
    expect(repo.snapshot()).toEqual(before)
    here.host.toggleWrites()
    await expect
      .poll(async () => (await hub.call({ action: 'write', path: 'a.txt', content: 'x\n' })).isRefused)
      .toBe(false)
    here.host.toggleWrites()
    expect(here.host.writes()).toBe(false)
  })

  test('refuses by itself, whatever the server believes', async () => {
    using repo = repoOf(byRule)
    await using hub = await hubHere()
    await using here = await hostHere(repo, hub.url)
    const before = repo.snapshot()
    const told = hub.call({ action: 'read', path: 'a.txt' })
    here.host.toggleWrites()
    const written = hub.call({ action: 'write', path: 'a.txt', content: 'x\n' })
    expect((await told).isRefused).toBe(false)
    expect((await written).text).toMatch(/Press F3/)
    expect(repo.snapshot()).toEqual(before)
  })
})

test('no path leads out of the repository, into .git, behind a link or to an ignored file', async () => {
  using repo = repoOf({ ...byRule, '.gitignore': 'secret.txt\n' })
  writeFileSync(join(repo.home, 'outside.txt'), 'outside\n')
  repo.write('secret.txt', 'secret\n')
  symlinkSync(repo.home, join(repo.dir, 'up'))
  symlinkSync(join(repo.home, 'outside.txt'), join(repo.dir, 'link.txt'))
  await using hub = await hubHere()
  await using _ = await hostHere(repo, hub.url)
  const before = repo.snapshot()
  const paths = [
    '../outside.txt',
    join(repo.home, 'outside.txt'),
    '/etc/passwd',
    '~/outside.txt',
    '..\\outside.txt',
    'x/../../outside.txt',
    '.git/config',
    '.GIT/config',
    'a/../.git/HEAD',
    '.git\\config',
    'up/outside.txt',
    'link.txt',
    'secret.txt',
    './secret.txt',
    'a.txt\0.png',
    '',
    'C:\\Windows\\x',
    '//server/share',
  ]
  for (const path of paths)
    for (const input of [
      { action: 'read', path },
      { action: 'write', path, content: 'x\n' },
      { action: 'patch', path, patch_text: '@@ one\n+x' },
    ]) {
      const { isRefused, text: said } = await hub.call(input)
      expect({ input, isRefused, leaks: /outside\n|secret\n|root:/.test(said) }).toEqual({
        input,
        isRefused: true,
        leaks: false,
      })
    }
  expect(repo.snapshot()).toEqual(before)
})

test('an ignored file is served where a person allowed it', async () => {
  using repo = repoOf({ '.gitignore': 'secret.txt\n' })
  repo.write('secret.txt', 'secret\n')
  await using hub = await hubHere()
  await using _ = await hostHere(repo, hub.url, { allowsIgnored: true })
  expect((await hub.call({ action: 'read', path: 'secret.txt' })).text).toContain('1 | secret')
})

describe('reads', () => {
  test('of one agent count for no other, and a file that moved is read again', async () => {
    using repo = repoOf(byRule)
    await using hub = await hubHere()
    await using _ = await hostHere(repo, hub.url)
    const edit = { action: 'patch', path: 'a.txt', edits: [{ from: 1, to: 1, content: 'ONE\n' }] }
    expect((await hub.call(edit, 'ada')).text).toBe(
      'error patching a.txt: read file before patching - line numbers unknown',
    )
    await hub.call({ action: 'read', path: 'a.txt' }, 'ada')
    expect((await hub.call(edit, 'bob')).text).toContain('read file before patching')
    repo.write('a.txt', 'zero\none\ntwo\nthree\n')
    expect((await hub.call(edit, 'ada')).text).toContain('file changed since last read')
    expect(repo.read('a.txt')).toBe('zero\none\ntwo\nthree\n')
  })
})

describe('two hosts', () => {
  test('a chat is served by its own; writes go where writes are allowed; without a host the tool is hidden', async () => {
    using left = repoOf({ ...byRule, 'name.txt': 'left\n' })
    using right = repoOf({ ...byRule, 'name.txt': 'right\n' })
    await using hub = await hubHere()
    expect(hub.hasHosts()).toBe(false)
    expect((await hub.call({ action: 'read', path: 'name.txt' })).text).toContain('no CLI client connected')
    {
      await using _l = await hostHere(left, hub.url, { context: 'L' })
      await using _r = await hostHere(right, hub.url, { context: 'R', writes: false })
      expect(hub.hasHosts()).toBe(true)
      expect((await hub.call({ action: 'read', path: 'name.txt' }, 'a', 'R')).text).toContain('right')
      expect((await hub.call({ action: 'read', path: 'name.txt' }, 'a', 'L')).text).toContain('left')
      expect(
        (await hub.call({ action: 'write', path: 'name.txt', content: 'x\n' }, 'a', 'R')).text,
      ).toContain('Press F3')
      expect((await hub.call({ action: 'write', path: 'name.txt', content: 'x\n' })).isRefused).toBe(false)
      expect([left.read('name.txt'), right.read('name.txt')]).toEqual(['x\n', 'right\n'])
    }
    await expect.poll(hub.hasHosts).toBe(false)
  })
})

describe('the hub', () => {
  const raw = (
    url: string,
    options: { readonly cookie?: string; readonly origin?: string; readonly handlers?: unknown },
  ) =>
    io(`${url}/ws`, {
      auth: { handlers: options.handlers ?? ['plugins/_a0_connector/ws_connector'] },
      extraHeaders: {
        Origin: options.origin ?? url,
        ...(options.cookie === undefined ? {} : { Cookie: options.cookie }),
      },
      reconnection: false,
      forceNew: true,
    })
  const firstOf = (socket: ReturnType<typeof raw>) =>
    new Promise<string>((resolve) => {
      socket.once('connect', () => resolve('connected'))
      socket.once('connect_error', () => resolve('refused'))
    })
  const cookieOf = async (url: string) => {
    const server = openServer(url)
    await server.logIn('x', hubToken)
    return server.cookie()
  }

  test('takes no page of another origin', async () => {
    await using hub = await hubHere()
    for (const origin of ['http://evil.example', 'http://127.0.0.1:1', 'null']) {
      const socket = raw(hub.url, { cookie: await cookieOf(hub.url), origin })
      expect(await firstOf(socket)).toBe('refused')
    }
  })

  test('answers nothing without a login, nor to other handlers', async () => {
    await using hub = await hubHere()
    const code = async (options: Parameters<typeof raw>[1]) => {
      const socket = raw(hub.url, options)
      await firstOf(socket)
      const answer = await socket
        .timeout(5_000)
        .emitWithAck('connector_hello', { protocol: 'a0-connector.v1' })
      socket.disconnect()
      return answer.results[0].error.code
    }
    expect(await code({})).toBe('AUTH_REQUIRED')
    expect(await code({ cookie: 'session_galley_hub=0123456789abcdef0123456789abcdef' })).toBe(
      'AUTH_REQUIRED',
    )
    expect(await code({ cookie: await cookieOf(hub.url), handlers: [] })).toBe('NO_HANDLERS')
    expect(await openServer(hub.url).logIn('galley', 'wrong')).toBe(false)
  })

  test('answers whatever a host sends with a code, and lives', async () => {
    await using hub = await hubHere()
    const socket = raw(hub.url, { cookie: await cookieOf(hub.url) })
    await firstOf(socket)
    const codeOf = async (event: string, data?: unknown) => {
      const answer = await socket.timeout(5_000).emitWithAck(event, data)
      const [result] = answer.results
      return result.ok ? 'ok' : result.error.code
    }
    expect(await codeOf('connector_nonsense', 1)).toBe('UNKNOWN_EVENT')
    expect(await codeOf('constructor')).toBe('UNKNOWN_EVENT')
    expect(await codeOf('connector_hello', 'x')).toBe('UNSUPPORTED_PROTOCOL')
    expect(await codeOf('connector_subscribe_context', { context_id: 7 })).toBe('MISSING_CONTEXT_ID')
    expect(await codeOf('connector_remote_tree_update', { tree: '', root_path: 1 })).toBe(
      'INVALID_TREE_PAYLOAD',
    )
    expect(await codeOf('connector_file_op_result', {})).toBe('MISSING_OP_ID')
    expect(await codeOf('connector_file_op_result', { op_id: 'never-asked', ok: true })).toBe('UNKNOWN_OP_ID')
    expect(
      await codeOf('connector_hello', { protocol: 'a0-connector.v1', remote_files: { enabled: true } }),
    ).toBe('ok')
    socket.disconnect()
  })

  test('takes an answer only from the host that it asked', async () => {
    await using hub = await hubHere()
    const cookie = await cookieOf(hub.url)
    const [asked, other] = [raw(hub.url, { cookie }), raw(hub.url, { cookie })]
    await Promise.all([firstOf(asked), firstOf(other)])
    const hello = { protocol: 'a0-connector.v1', remote_files: { enabled: true, write_enabled: true } }
    await asked.emitWithAck('connector_hello', hello)
    await other.emitWithAck('connector_hello', { ...hello, remote_files: { enabled: false } })
    const operation = new Promise<{ op_id: string }>((resolve) =>
      asked.once('connector_file_op', (envelope: { data: { op_id: string } }) => resolve(envelope.data)),
    )
    const answer = hub.call({ action: 'read', path: 'a' })
    const { op_id } = await operation
    const forged = await other.emitWithAck('connector_file_op_result', {
      op_id,
      ok: true,
      result: { content: 'forged' },
    })
    expect(forged.results[0].error.code).toBe('UNKNOWN_OP_ID')
    await asked.emitWithAck('connector_file_op_result', { op_id, ok: false, error: 'nothing there' })
    expect((await answer).text).toBe("Error (read 'a'): nothing there")
    asked.disconnect()
    other.disconnect()
  })

  test('serves this machine alone, and nothing but its protocol', async () => {
    await using hub = await hubHere()
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${hub.url}${path}`, { method: 'POST', body: '{}', ...init })
    expect((await ask('/api/plugins/_a0_connector/v1/capabilities')).status).toBe(200)
    expect((await ask('/api/plugins/_a0_connector/v1/chats_list')).status).toBe(401)
    expect((await ask('/etc/passwd')).status).toBe(404)
    expect((await ask('/login', { method: 'GET', body: null })).status).toBe(405)
    expect((await ask('/login', { body: 'x'.repeat(70_000) })).status).toBe(413)
  })
})

describe('a host', () => {
  test.each<[string, string]>([
    ['http://127.0.0.1:1', 'unreachable'],
    ['http://host.invalid', 'unreachable'],
  ])('that finds nobody at %s says so', async (url, code) => {
    expect((await refusal(() => openServer(url).discover())).code).toBe(code)
  })

  test('without the login is refused, and stays away', async () => {
    using repo = repoOf()
    await using hub = await hubHere()
    const { code } = await refusal(() => hostHere(repo, hub.url, { login: null }))
    expect(code).toBe('login-failed')
  })

  test('comes back to a server that restarts', async () => {
    using repo = repoOf()
    const first = await hubHere()
    await using here = await hostHere(repo, first.url)
    const port = Number(new URL(first.url).port)
    await first.close()
    await here.seen(({ kind }) => kind === 'lost')
    await using second = await hubHere({ port })
    await expect
      .poll(() => here.events.filter(({ kind }) => kind === 'connected').length, { timeout: 20_000 })
      .toBe(2)
    expect((await second.call({ action: 'read', path: 'a.txt' })).isRefused).toBe(false)
  })
})
