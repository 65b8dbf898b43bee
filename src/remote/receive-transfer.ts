import { createHash } from 'node:crypto'
import { CHUNK_BYTES } from './send-transfer.ts'
import { idOf, isRecord, type Json, PAYLOAD_MAX_BYTES } from './wire.ts'

const TRANSFER_ID_MAX_CHARACTERS = 128
const CONCURRENT_MAX = 4
/** Of base64 text: one chunk of 64 KiB. */
const CHUNK_MAX_CHARACTERS = 87_384
const IDLE_MS = 30_000

/** What one message of a transfer comes to. */
export type TransferStep =
  | { readonly kind: 'accepted'; readonly transferId: string }
  /** The payload is whole: it stands for the event named. */
  | { readonly kind: 'complete'; readonly transferId: string; readonly event: string; readonly payload: Json }
  /** The transfer is over; `opId` = the operation that it was for, which fails with the error. */
  | {
      readonly kind: 'refused'
      readonly transferId: string
      readonly error: string
      readonly opId: string | null
      readonly event: string | null
    }

interface Active {
  readonly opId: string
  readonly event: string
  readonly total: number
  readonly sha256: string
  readonly parts: Buffer[]
  received: number
  lastMs: number
}

export interface TransferReceiver {
  readonly start: (data: Json) => TransferStep
  readonly chunk: (data: Json) => TransferStep
  readonly end: (data: Json) => TransferStep
  /** The other end gave up. */
  readonly abort: (data: Json) => void
  /** Ends those that have been silent for 30 seconds. */
  readonly expire: () => readonly TransferStep[]
}

/**
 * Puts the chunks of one connection together, by the rules of transfer protocol 1: bounded in number, size and time, in order, held against
 * length and SHA-256. Any fault ends that transfer alone.
 *
 * @param kinds - Events that may come in chunks.
 */
export function receiveTransfers(
  kinds: readonly string[],
  elapsedMs: () => number,
  maxBytes = PAYLOAD_MAX_BYTES,
): TransferReceiver {
  const active = new Map<string, Active>()

  const refused = (transferId: string, error: string): TransferStep => {
    const found = active.get(transferId)
    active.delete(transferId)
    return { kind: 'refused', transferId, error, opId: found?.opId ?? null, event: found?.event ?? null }
  }

  const during = (data: Json, step: (transferId: string, found: Active) => TransferStep): TransferStep => {
    const transferId = idOf(data['transfer_id'], TRANSFER_ID_MAX_CHARACTERS) ?? ''
    const found = active.get(transferId)
    if (found === undefined) return refused(transferId, 'transfer is not active')
    found.lastMs = elapsedMs()
    return step(transferId, found)
  }

  return {
    start: (data) => {
      const transferId = idOf(data['transfer_id'], TRANSFER_ID_MAX_CHARACTERS)
      const fault = startFault(data, { transferId, active, kinds, maxBytes })
      if (transferId === null || fault !== null) {
        const opId = idOf(data['op_id'])
        const event = kinds.find((kind) => kind === data['kind']) ?? null
        return { kind: 'refused', transferId: transferId ?? '', error: fault ?? '', opId, event }
      }
      active.set(transferId, {
        opId: String(data['op_id']),
        event: String(data['kind']),
        total: data['total_bytes'] as number,
        sha256: String(data['sha256']).toLowerCase(),
        parts: [],
        received: 0,
        lastMs: elapsedMs(),
      })
      return { kind: 'accepted', transferId }
    },
    chunk: (data) =>
      during(data, (transferId, found) => {
        const part = chunkOf(data, found)
        if (typeof part === 'string') return refused(transferId, part)
        found.parts.push(part)
        found.received += part.length
        return { kind: 'accepted', transferId }
      }),
    end: (data) =>
      during(data, (transferId, found) => {
        const payload = payloadOf(found)
        if (typeof payload === 'string') return refused(transferId, payload)
        active.delete(transferId)
        return { kind: 'complete', transferId, event: found.event, payload }
      }),
    abort: (data) => {
      active.delete(idOf(data['transfer_id'], TRANSFER_ID_MAX_CHARACTERS) ?? '')
    },
    expire: () =>
      [...active]
        .filter(([, { lastMs }]) => elapsedMs() - lastMs >= IDLE_MS)
        .map(([transferId]) => refused(transferId, 'transfer idle timeout after 30 seconds')),
  }
}

interface Start {
  readonly transferId: string | null
  readonly active: ReadonlyMap<string, Active>
  readonly kinds: readonly string[]
  readonly maxBytes: number
}

function startFault(data: Json, { transferId, active, kinds, maxBytes }: Start): string | null {
  const { kind, total_bytes: total, sha256, context_id: context } = data
  if (transferId === null)
    return `transfer_id must be a non-empty string up to ${TRANSFER_ID_MAX_CHARACTERS} characters`
  if (active.has(transferId)) return 'transfer_id is already active'
  if (active.size >= CONCURRENT_MAX) return 'too many concurrent transfers'
  if (!kinds.some((known) => known === kind)) return `unsupported transfer kind: ${String(kind).slice(0, 80)}`
  if (idOf(data['op_id']) === null) return 'op_id must be a non-empty string up to 256 characters'
  if (context !== undefined && context !== null && (typeof context !== 'string' || context.length > 256))
    return 'context_id must be a string up to 256 characters'
  if (!Number.isSafeInteger(total) || (total as number) < 0)
    return 'total_bytes must be a non-negative integer'
  if ((total as number) > maxBytes)
    return `declared transfer size ${String(total)} exceeds the receiver limit ${maxBytes}`
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256))
    return 'sha256 must be a 64-character hexadecimal digest'
  return null
}

/** The chunk's bytes, or what is wrong with it. */
function chunkOf({ index, data }: Json, found: Active): Buffer | string {
  if (!Number.isSafeInteger(index)) return 'chunk index must be an integer'
  if (typeof data !== 'string') return 'chunk data is not valid base64'
  if (data.length > CHUNK_MAX_CHARACTERS) return 'chunk data exceeds the 64 KiB limit'
  const bytes = Buffer.from(data, 'base64')
  // The decoder skips what is no base64; a text that does not come back was none.
  if (bytes.toString('base64') !== data) return 'chunk data is not valid base64'
  if (index !== found.parts.length)
    return `chunk index ${String(index)} arrived; expected ${found.parts.length}`
  const expected = Math.min(CHUNK_BYTES, found.total - found.received)
  if (bytes.length !== expected)
    return `chunk ${String(index)} has ${bytes.length} bytes; expected ${expected}`
  return bytes
}

function payloadOf(found: Active): Json | string {
  if (found.received !== found.total) return `transfer ended at ${found.received} of ${found.total} bytes`
  const bytes = Buffer.concat(found.parts)
  if (createHash('sha256').update(bytes).digest('hex') !== found.sha256) return 'transfer SHA-256 mismatch'
  const payload = parsed(bytes)
  if (!isRecord(payload)) return 'invalid transferred payload: it must be a JSON object'
  const own = payload['op_id'] ?? payload['request_id']
  return own === found.opId ? payload : 'invalid transferred payload: its op_id is not that of the start'
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
