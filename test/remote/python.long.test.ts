import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { status } from '../../src/flow/status.ts'
import {
  contextPatchOthers,
  editsOthers,
  exactReplaceOthers,
  type Others,
  writeOthers,
} from '../dialects/agent-zero-others.ts'
import { fixture } from '../dialects/in-memory.ts'
import { hostHere, hubHere, hubToken } from '../helpers/agent-zero.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { missingPeers, type News, startPeer, startServer } from './python-peer.ts'

if (missingPeers !== null) console.log(`not tried against other implementations: ${missingPeers}`)
const described = missingPeers === null ? describe : () => undefined

type Text = string | { readonly hex: string } | null
interface Row {
  readonly name: string
  readonly error?: string
}
const table = JSON.parse(fixture('agent-zero.json')) as {
  readonly contextPatch: readonly (Row & { content: string; patchText: string; expect?: string })[]
  readonly exactReplace: readonly (Row & {
    content: string
    oldText: string
    newText: string
    expect?: string
  })[]
  readonly edits: readonly (Row & { initial: Text; args: Record<string, unknown>; after: Text })[]
  readonly write: readonly (Row & { initial: Text; request: Record<string, unknown>; after: Text })[]
  readonly read: readonly (Row & {
    initial: Text
    request: Record<string, unknown>
    content?: string
    totalLines?: number
    lineFrom?: number
    lineTo?: number
  })[]
}

const bytesOf = (text: Exclude<Text, null>) =>
  typeof text === 'string' ? text : Buffer.from(text.hex, 'hex')
const byRule = { '.galley.json': '{"autoApprove":{"paths":["**"]}}' }

/** One row as it goes over the wire: its file in a folder of its own, and what must come of it. */
interface WireRow {
  readonly name: string
  readonly initial: Text
  readonly data: Readonly<Record<string, unknown>>
  /** The file afterwards; undefined = the call is refused, and the file stays. */
  readonly after: Text | undefined
}

function wireRows(): readonly WireRow[] {
  const rows: WireRow[] = []
  const add = (
    section: string,
    row: Row & { readonly initial: Text },
    data: Record<string, unknown>,
    others: Others,
    after: Text | undefined,
  ) => {
    const other = others[row.name]
    if (other !== undefined && 'skipped' in other) return
    const expected =
      other === undefined
        ? row.error === undefined
          ? after
          : undefined
        : 'text' in other
          ? other.text
          : undefined
    rows.push({ name: `${section}: ${row.name}`, initial: row.initial, data, after: expected })
  }
  for (const row of table.contextPatch) {
    const patch_text = row.patchText.split('*** Update File: f\n').join('*** Update File: f.txt\n')
    add(
      'context patch',
      { ...row, initial: row.content },
      { op: 'patch', patch_text },
      contextPatchOthers,
      row.expect,
    )
  }
  for (const row of table.exactReplace)
    add(
      'exact replace',
      { ...row, initial: row.content },
      { op: 'patch', old_text: row.oldText, new_text: row.newText },
      exactReplaceOthers,
      row.expect,
    )
  for (const row of table.edits) add('edits', row, { op: 'patch', ...row.args }, editsOthers, row.after)
  for (const row of table.write) add('write', row, row.request, writeOthers, row.after)
  return rows
}

described('every row of the conformance table goes over the wire of another implementation', () => {
  test('edits and writes', async () => {
    const rows = wireRows()
    using repo = makeRepo({ files: byRule })
    rows.forEach(({ initial }, n) => {
      if (initial !== null) repo.write(`r${n}/f.txt`, bytesOf(initial))
      else repo.write(`r${n}/keep`, '')
    })
    repo.commit('the rows')
    await using server = await startServer()
    // No rule approves what was matched but for its blanks: the person at the host does.
    await using here = await hostHere(repo, server.url, {
      login: null,
      ask: ({ id, digest }) => void approve(here.world, { id, digest, via: 'terminal' }),
    })
    const faults: unknown[] = []
    for (const [n, { name, initial, data, after }] of rows.entries()) {
      const path = `r${n}/f.txt`
      const text =
        typeof data['patch_text'] === 'string'
          ? {
              patch_text: data['patch_text'].split('*** Update File: f.txt').join(`*** Update File: ${path}`),
            }
          : {}
      // The server of that system lets nobody edit by numbers what was not read.
      if (Array.isArray(data['edits']) && initial !== null) await server.op({ op: 'read', path })
      const given = String(data['path'] ?? 'f.txt')
      const answer = await server.op({ ...data, ...text, path: given === 'f.txt' ? path : given })
      const file = fileOf(repo, path)
      const wanted =
        after === undefined
          ? initial === null
            ? null
            : Buffer.from(bytesOf(initial))
          : after === null
            ? null
            : Buffer.from(bytesOf(after))
      const isRight =
        answer.ok === (after !== undefined) &&
        (file === null ? wanted === null : wanted !== null && file.equals(wanted))
      const isWorded =
        answer.ok !== true ||
        (answer.result.message === `${path} ${data['op'] === 'write' ? 'written' : 'patched'} successfully` &&
          Number.isFinite(answer.result.file.mtime))
      if (!isRight || !isWorded)
        faults.push({ name, answer, file: file?.toString(), wanted: wanted?.toString() })
    }
    expect(faults).toEqual([])
    expect(rows.length).toBeGreaterThan(180)
  }, 300_000)

  /** What the newest host does otherwise than the one that the table was made with, and galley with it. */
  const otherReads: Readonly<Record<string, string>> = {
    'line_to < line_from': 'refused by the newest host',
    'line_from negative': 'refused by the newest host',
    'line_to negative': 'refused by the newest host',
    'string numbers': 'a number in quotes is meant as one',
    crlf: 'line endings are shown as they stand',
    'lone cr': 'only a line feed ends a line',
    'invalid utf8': 'binary, by the newest host',
    nul: 'binary, by the newest host',
    'dotdot escape allowed': 'outside the repository',
  }

  test('reads', async () => {
    using repo = makeRepo({ files: byRule })
    table.read.forEach(({ initial }, n) => {
      if (initial !== null) repo.write(`r${n}/f.txt`, bytesOf(initial))
    })
    repo.commit('the rows')
    await using server = await startServer()
    await using _ = await hostHere(repo, server.url, { login: null, writes: false })
    const faults: unknown[] = []
    for (const [n, row] of table.read.entries()) {
      const given = String(row.request['path'])
      const path = given.includes('f.txt') ? given.replace('f.txt', () => `r${n}/f.txt`) : given
      const answer = await server.op({ ...row.request, path, op: row.request['op'] })
      const { content, total_lines, line_from, line_to } = answer.result ?? {}
      const isSame =
        row.error === undefined
          ? answer.ok &&
            content === row.content &&
            total_lines === row.totalLines &&
            line_from === row.lineFrom &&
            line_to === row.lineTo
          : answer.ok === false && answer.error === row.error.replace('f.txt', () => `r${n}/f.txt`)
      if (isSame === row.name in otherReads)
        faults.push({
          name: row.name,
          answer: JSON.stringify(answer).slice(0, 300),
          row: JSON.stringify(row).slice(0, 300),
        })
    }
    expect(faults).toEqual([])
  })
})

function fileOf(repo: TestRepo, path: string): Buffer | null {
  try {
    return repo.bytes(path)
  } catch {
    return null
  }
}

described('a host and a server of another implementation', () => {
  test('meet by login, hello and tree', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'src/b.ts': 'b\n' } })
    await using server = await startServer({ login: true })
    await using _ = await hostHere(repo, server.url, { login: ['ada', 'correct horse'], context: 'chat-7' })
    const { data } = await server.told((one) => one.event === 'hello')
    expect(data).toMatchObject({
      protocol: 'a0-connector.v1',
      remote_files: { enabled: true, write_enabled: true, mode: 'read_write' },
      context_id: 'chat-7',
    })
    const { data: tree } = await server.told((one) => one.event === 'tree')
    expect(tree.tree).toBe(`${repo.dir}/\n├── src/\n│   └── b.ts\n└── a.txt`)
    expect(tree.tree_hash).toBe(createHash('sha256').update(tree.tree).digest('hex'))
    const connect = await server.told((one) => one.event === 'connect')
    expect(connect).toMatchObject({
      origin: server.url,
      referer: `${server.url}/`,
      auth: { handlers: ['plugins/_a0_connector/ws_connector'] },
    })
  })

  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['with the wrong password', { login: true }, 'login-failed'],
    ['that refuses the socket', { refuse_connect: true }, 'unreachable'],
    ['that speaks another protocol', { capabilities: { protocol: 'x' } }, 'wrong-server'],
    ['that wants another namespace', { capabilities: { websocket_namespace: '/admin' } }, 'wrong-server'],
  ])('do not, %s', async (_name, settings, code) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using server = await startServer(settings)
    const before = repo.snapshot()
    expect((await refusal(() => hostHere(repo, server.url, { login: ['ada', 'wrong'] }))).code).toBe(code)
    expect(repo.snapshot()).toEqual(before)
  })

  test('part at any step, and meet again', async () => {
    using repo = makeRepo({ files: { ...byRule, 'a.txt': 'one\n' } })
    await using server = await startServer()
    await using here = await hostHere(repo, server.url, { login: null })
    // While an edit is on its way: it is staged and lands, or waits; never half of it.
    const cut = server.op({ op: 'write', path: 'a.txt', content: 'two\n' })
    await here.seen(({ kind }) => kind === 'asked')
    await server.say({ do: 'drop' })
    expect(await cut).toEqual({ disconnected: true })
    await server.told((one) => one.event === 'disconnect')
    const gone = server.news.findIndex((one) => one.event === 'disconnect')
    await server.told((one) => one.event === 'hello', gone)
    const landed = repo.read('a.txt') === 'two\n'
    const { pending } = await status(here.world)
    expect(landed || pending.length === 1).toBe(true)
    expect((await server.op({ op: 'write', path: 'a.txt', content: 'two\n' })).ok).toBe(!landed)
    expect(repo.read('a.txt')).toBe('two\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('in transfer protocol 1, in both directions', async () => {
    using repo = makeRepo({ files: { ...byRule, 'a.txt': 'one\n' } })
    await using server = await startServer()
    await using _ = await hostHere(repo, server.url, { login: null })
    await server.told((one) => one.event === 'tree')
    const payload = Buffer.from(
      JSON.stringify({ op_id: 'big', op: 'write', path: 'a.txt', content: `${'x'.repeat(200_000)}\n` }),
    )
    const start = {
      transfer_id: 't',
      op_id: 'big',
      kind: 'connector_file_op',
      total_bytes: payload.length,
      sha256: createHash('sha256').update(payload).digest('hex'),
    }
    const send = (event: string, data: object) => server.say({ do: 'send', event, data, ack: true })
    expect(await send('connector_transfer_start', start)).toEqual([{ transfer_id: 't', accepted: true }])
    for (let index = 0; index * 65_536 < payload.length; index++)
      expect(
        await send('connector_transfer_chunk', {
          transfer_id: 't',
          index,
          data: payload.subarray(index * 65_536, (index + 1) * 65_536).toString('base64'),
        }),
      ).toEqual([{ transfer_id: 't', accepted: true }])
    await send('connector_transfer_end', { transfer_id: 't' })
    await server.told(
      (one) => one.event === 'unknown-result' && one.data.op_id === 'big' && one.data.ok === true,
    )
    expect(repo.read('a.txt').length).toBe(200_001)
    const refusals = await send('connector_transfer_chunk', { transfer_id: 't', index: 0, data: 'AAAA' })
    expect(refusals).toEqual([{ transfer_id: 't', accepted: false, error: 'transfer is not active' }])
  })

  test('stay together whatever the server sends: junk, repeated operations, 6 MiB and 60 MiB', async () => {
    using repo = makeRepo({ files: { ...byRule, 'a.txt': 'one\n' } })
    await using server = await startServer()
    await using here = await hostHere(repo, server.url, { login: null })
    const before = repo.snapshot()
    const junk: readonly (readonly [string, unknown])[] = [
      ['connector_file_op', null],
      ['connector_file_op', 7],
      ['connector_file_op', { op: 'write', path: 'a.txt', content: 'no id\n' }],
      ['connector_file_op', { op_id: 'x'.repeat(300), op: 'write', path: 'a.txt', content: 'long id\n' }],
      ['connector_file_op', { op_id: ['a'], op: 'write', path: 'a.txt' }],
      ['connector_context_event', { text: '\u001b[2J' }],
      ['connector_nonsense', []],
      ['connector_transfer_start', 'x'],
      ['connector_transfer_chunk', {}],
      ['connector_transfer_abort', null],
    ]
    for (const [event, data] of junk) await server.say({ do: 'send', event, data })
    for (const data of [
      { op: {}, path: 'a.txt' },
      { op: 'write', path: { a: 1 }, content: 'x' },
      { op: 'write', path: 'a.txt', content: ['x'] },
      { op: 'patch', path: 'a.txt', edits: '[]' },
    ])
      expect((await server.op(data)).ok).toBe(false)
    const large = await server.op({ op: 'write', path: 'a.txt', content: 'x'.repeat(6 * 1024 * 1024) })
    expect(large.error).toContain('limits write and patch content to 262144 bytes')
    expect(repo.snapshot()).toEqual(before)
    const first = await server.op(
      { op: 'patch', path: 'a.txt', patch_text: '@@ one\n+two' },
      { op_id: 'twice' },
    )
    expect(first.ok).toBe(true)
    const again = await server.op(
      { op: 'patch', path: 'a.txt', patch_text: '@@ one\n+two' },
      { op_id: 'twice', timeout: 2 },
    )
    expect(again).toEqual({ timeout: true })
    expect(repo.read('a.txt')).toBe('one\ntwo\n')
    // 60 MiB is more than either end bears: the connection may go, and comes back.
    await server.say({
      do: 'send',
      event: 'connector_file_op',
      data: { op_id: 'huge', op: 'write', path: 'a.txt' },
      fill: 60 * 1024 * 1024,
    })
    await expect
      .poll(async () => (await server.op({ op: 'read', path: 'a.txt' }, { timeout: 5 })).ok, {
        timeout: 30_000,
      })
      .toBe(true)
    expect(repo.read('a.txt')).toBe('one\ntwo\n')
    expect(here.host.writes()).toBe(true)
  }, 120_000)
})

described('a hub and a host of another implementation', () => {
  const host = (url: string, settings: Readonly<Record<string, unknown>>) =>
    startPeer('client.py', [url, hubToken, JSON.stringify(settings)])
  const file = { realpath: '/f', mtime: 5.5, total_lines: 3 }
  const read = { ok: true, result: { content: '   1 | a\n', total_lines: 3, line_from: 1, line_to: 1, file } }
  const hello = (one: News) => one.event === 'hello'

  test('meet by login, probe and hello; a line edit is preceded by a stat', async () => {
    await using hub = await hubHere()
    const answers = {
      read,
      stat: { ok: true, result: { file } },
      patch: { ok: true, result: { path: 'f', message: 'f patched successfully', file } },
    }
    await using peer = host(hub.url, { answers })
    const { ack } = await peer.told(hello)
    expect(ack.results[0]).toMatchObject({
      ok: true,
      data: { protocol: 'a0-connector.v1', capabilities: { transfer_protocol: 1 } },
    })
    const edit = { action: 'patch', path: 'f', edits: [{ from: 2, to: 2, content: 'X\n' }] }
    expect((await hub.call(edit)).text).toContain('read file before patching')
    expect((await hub.call({ action: 'read', path: 'f' })).text).toBe('f 3 lines\n>>>\n   1 | a\n\n<<<')
    expect((await hub.call(edit)).text).toBe('f patched successfully')
    expect((await hub.call({ action: 'patch', path: 'f', patch_text: '@@ a\n+b' })).isRefused).toBe(false)
    // A patch by text leaves the numbers unknown.
    expect((await hub.call(edit)).text).toContain('file changed since last read')
    const ops = peer.news.filter((one) => one.event === 'op')
    expect(ops.map((one) => one.data.op)).toEqual(['stat', 'read', 'stat', 'patch', 'patch', 'stat'])
    expect(ops.every((one) => one.enveloped)).toBe(true)
  })

  test('an old host without stat, a binary file, a failing host: the words of the system', async () => {
    await using hub = await hubHere()
    const binary = {
      ok: false,
      error: 'Remote text read rejected a binary-looking file.',
      code: 'BINARY_FILE',
      details: { type: 'binary_file' },
    }
    await using peer = host(hub.url, { answers: { read: binary, write: { ok: true } } })
    await peer.told(hello)
    expect(
      (await hub.call({ action: 'patch', path: 'f', edits: [{ from: 1, to: 1, content: '' }] })).text,
    ).toContain('too old for freshness-aware patching')
    expect(await hub.call({ action: 'read', path: 'f' })).toMatchObject({
      isRefused: true,
      value: { code: 'BINARY_FILE' },
    })
    expect((await hub.call({ action: 'write', path: 'f', content: 'x' })).text).toBe(
      "Error (write 'f'): Invalid file_op handler result",
    )
  })

  test('a result of 6 MiB comes in chunks; one that lacks a chunk fails alone', async () => {
    await using hub = await hubHere()
    {
      await using peer = host(hub.url, { answers: { read: { ok: true, size: 6 * 1024 * 1024 } } })
      await peer.told(hello)
      expect((await hub.call({ action: 'read', path: 'f' })).text.length).toBe(
        6 * 1024 * 1024 + 'f 1 lines\n>>>\n\n<<<'.length,
      )
    }
    await using broken = host(hub.url, {
      answers: { read: { ok: true, size: 100_000 }, stat: { ok: true, result: { file } } },
      fault: 'skip',
    })
    await broken.told(hello)
    expect((await hub.call({ action: 'read', path: 'f' })).text).toBe(
      "Error (read 'f'): chunk index 1 arrived; expected 0",
    )
    expect((await broken.told((one) => one.event === 'connector_transfer_abort')).data.reason).toContain(
      'expected 0',
    )
    expect((await hub.call({ action: 'write', path: 'f', content: 'x' })).text).toContain('Unknown op: write')
  })

  test('an answer after 30 seconds is discarded, and a host that leaves fails what waits', async () => {
    await using hub = await hubHere()
    await using peer = host(hub.url, {
      answers: { read: { ...read, delay: 31 }, write: { ok: true, delay: 60 } },
    })
    await peer.told(hello)
    expect((await hub.call({ action: 'read', path: "it's" })).text).toBe(
      `Error (read 'it's'): text_editor_remote: timed out waiting for CLI to respond to read on "it's"`,
    )
    const waiting = hub.call({ action: 'write', path: 'f', content: 'x' })
    await peer.told((one) => one.event === 'op' && one.data.op === 'write')
    await peer.say({ do: 'leave' })
    expect((await waiting).text).toContain('CLI disconnected before completing the requested file operation')
    expect(hub.hasHosts()).toBe(false)
  }, 60_000)
})
