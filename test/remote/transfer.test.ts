import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { receiveTransfers, type TransferReceiver } from '../../src/remote/receive-transfer.ts'
import { outgoing } from '../../src/remote/send-transfer.ts'
import { type Json, PAYLOAD_MAX_BYTES, peerLimits } from '../../src/remote/wire.ts'

const KIND = 'connector_file_op_result'
const takes = peerLimits({ ws_max_payload_bytes: PAYLOAD_MAX_BYTES, transfer_protocol: 1 })

const receiver = (elapsedMs: () => number = () => 0, maxBytes?: number): TransferReceiver =>
  receiveTransfers([KIND], elapsedMs, maxBytes)

const play = (to: TransferReceiver, events: Iterable<{ readonly event: string; readonly data: Json }>) => {
  const steps = []
  for (const { event, data } of events)
    steps.push(to[event.replace('connector_transfer_', '') as 'start' | 'chunk' | 'end'](data))
  return steps
}

describe('an answer of any size', () => {
  test.each([
    ['small', 1_000, 1],
    ['just above an event', 1024 * 1024 + 1, 19],
    ['of 32 MiB', 32 * 1024 * 1024, 515],
  ])('%s arrives as it was', (_name, size, events) => {
    const payload = { op_id: 'o', ok: true, result: { content: 'ü'.repeat(size / 2) } }
    const sent = [...outgoing(KIND, payload, takes, 't')]
    expect(sent.length).toBe(events)
    if (events === 1) expect(sent).toEqual([{ event: KIND, data: payload }])
    else
      expect(play(receiver(), sent).at(-1)).toEqual({
        kind: 'complete',
        transferId: 't',
        event: KIND,
        payload,
      })
  })

  test.each([
    ['takes no transfers', peerLimits({ ws_max_payload_bytes: PAYLOAD_MAX_BYTES })],
    ['says nothing of itself', peerLimits(undefined)],
    ['has a smaller limit', peerLimits({ ws_max_payload_bytes: 1_500_000, transfer_protocol: 1 })],
    [
      'speaks another transfer protocol',
      peerLimits({ ws_max_payload_bytes: PAYLOAD_MAX_BYTES, transfer_protocol: 2 }),
    ],
  ])('that is too large for a peer which %s is an error of the same operation', (_name, peer) => {
    const sent = [...outgoing(KIND, { op_id: 'o', ok: true, text: 'x'.repeat(2_000_000) }, peer, 't')]
    expect(sent).toMatchObject([{ event: KIND, data: { op_id: 'o', ok: false, code: 'PAYLOAD_TOO_LARGE' } }])
  })
})

const bytes = Buffer.from(JSON.stringify({ op_id: 'o', ok: true, text: 'x'.repeat(100_000) }))
const start = (more: Json = {}): Json => ({
  transfer_id: 't',
  op_id: 'o',
  kind: KIND,
  total_bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  ...more,
})
const chunk = (index: number, more: Json = {}): Json => ({
  transfer_id: 't',
  index,
  data: bytes.subarray(index * 65_536, (index + 1) * 65_536).toString('base64'),
  ...more,
})

describe('a start is refused', () => {
  test.each<[string, Json, string]>([
    ['without an id', { transfer_id: '' }, 'transfer_id must be a non-empty string up to 128 characters'],
    [
      'with a long id',
      { transfer_id: 'x'.repeat(129) },
      'transfer_id must be a non-empty string up to 128 characters',
    ],
    [
      'with an id that is no text',
      { transfer_id: {} },
      'transfer_id must be a non-empty string up to 128 characters',
    ],
    ['of another kind', { kind: 'connector_hello' }, 'unsupported transfer kind: connector_hello'],
    ['without an operation', { op_id: undefined }, 'op_id must be a non-empty string up to 256 characters'],
    [
      'with a long context',
      { context_id: 'c'.repeat(257) },
      'context_id must be a string up to 256 characters',
    ],
    ['of negative size', { total_bytes: -1 }, 'total_bytes must be a non-negative integer'],
    ['of broken size', { total_bytes: '9' }, 'total_bytes must be a non-negative integer'],
    [
      'of 60 MiB',
      { total_bytes: 60 * 1024 * 1024 },
      `declared transfer size 62914560 exceeds the receiver limit ${PAYLOAD_MAX_BYTES}`,
    ],
    ['without a digest', { sha256: 'abc' }, 'sha256 must be a 64-character hexadecimal digest'],
  ])('%s', (_name, more, error) => {
    expect(receiver().start(start(more))).toMatchObject({ kind: 'refused', error })
  })

  test('while four others run, or the same one', () => {
    const to = receiver()
    to.start(start())
    expect(to.start(start())).toMatchObject({ error: 'transfer_id is already active' })
    for (const id of ['b', 'c', 'd']) to.start(start({ transfer_id: id }))
    expect(to.start(start({ transfer_id: 'e' }))).toMatchObject({ error: 'too many concurrent transfers' })
  })
})

describe('a transfer ends, with its operation named,', () => {
  const fault = (events: readonly (readonly ['chunk' | 'end', Json])[], first: Json = start()) => {
    const to = receiver()
    to.start(first)
    const steps = events.map(([step, data]) => to[step](data))
    return { last: steps.at(-1), again: to.chunk(chunk(0)) }
  }
  const end = ['end', { transfer_id: 't' }] as const
  test.each<[string, readonly (readonly ['chunk' | 'end', Json])[], Json, string]>([
    [
      'at a repeated chunk',
      [
        ['chunk', chunk(0)],
        ['chunk', chunk(0)],
      ],
      start(),
      'chunk index 0 arrived; expected 1',
    ],
    ['at a chunk too early', [['chunk', chunk(1)]], start(), 'chunk index 1 arrived; expected 0'],
    [
      'at an index that is no number',
      [['chunk', chunk(0, { index: '0' })]],
      start(),
      'chunk index must be an integer',
    ],
    [
      'at a chunk that is no base64',
      [['chunk', chunk(0, { data: '@@@@' })]],
      start(),
      'chunk data is not valid base64',
    ],
    [
      'at a chunk that is no text',
      [['chunk', chunk(0, { data: [1] })]],
      start(),
      'chunk data is not valid base64',
    ],
    [
      'at an endless chunk',
      [['chunk', chunk(0, { data: 'A'.repeat(87_388) })]],
      start(),
      'chunk data exceeds the 64 KiB limit',
    ],
    [
      'at a short chunk',
      [['chunk', chunk(0, { data: 'AAAA' })]],
      start(),
      'chunk 0 has 3 bytes; expected 65536',
    ],
    [
      'when one is missing',
      [['chunk', chunk(0)], end],
      start(),
      `transfer ended at 65536 of ${bytes.length} bytes`,
    ],
    [
      'at a wrong digest',
      [['chunk', chunk(0)], ['chunk', chunk(1)], end],
      start({ sha256: '0'.repeat(64) }),
      'transfer SHA-256 mismatch',
    ],
    [
      'for another operation',
      [['chunk', chunk(0)], ['chunk', chunk(1)], end],
      start({ op_id: 'p' }),
      'invalid transferred payload: its op_id is not that of the start',
    ],
  ])('%s', (_name, events, first, error) => {
    const { last, again } = fault(events, first)
    expect(last).toMatchObject({ kind: 'refused', error, opId: first['op_id'], event: KIND })
    expect(again).toMatchObject({ kind: 'refused', error: 'transfer is not active', opId: null })
  })

  test('after 30 seconds without a word', () => {
    let now = 0
    const to = receiver(() => now)
    to.start(start())
    now = 29_999
    expect(to.expire()).toEqual([])
    now = 30_000
    expect(to.expire()).toMatchObject([{ opId: 'o', error: 'transfer idle timeout after 30 seconds' }])
  })

  test('when the other end gives up', () => {
    const to = receiver()
    to.start(start())
    to.abort({ transfer_id: 't' })
    expect(to.end({ transfer_id: 't' })).toMatchObject({ error: 'transfer is not active' })
  })
})
