import { createHash } from 'node:crypto'
import { EVENT_MAX_BYTES, type Json, type PayloadLimits } from './wire.ts'

/** Raw bytes of every chunk but the last. */
export const CHUNK_BYTES = 65_536

export interface OutgoingEvent {
  readonly event: string
  readonly data: Json
}

/**
 * How an answer leaves: as one event where it is small; in chunks where it is not and the other end takes them; else an answer that says
 * that it was too large.
 *
 * @param kind - The event that the answer is.
 */
export function outgoing(
  kind: string,
  payload: Json,
  peer: PayloadLimits,
  transferId: string,
): Iterable<OutgoingEvent> {
  const bytes = Buffer.from(JSON.stringify(payload), 'utf8')
  if (bytes.length <= Math.min(EVENT_MAX_BYTES, peer.maxBytes)) return [{ event: kind, data: payload }]
  if (peer.transfers && bytes.length <= peer.maxBytes) return chunksOf(kind, payload, bytes, transferId)
  const message = `The answer has ${bytes.length} bytes; the server takes up to ${peer.maxBytes}${peer.transfers ? '' : ' and no transfers'}.`
  return [
    {
      event: kind,
      data: {
        op_id: payload['op_id'],
        ok: false,
        code: 'PAYLOAD_TOO_LARGE',
        error: message,
        details: {
          type: 'payload_too_large',
          event: kind,
          actual_bytes: bytes.length,
          limit_bytes: peer.maxBytes,
          alternative: 'http_bulk_transfer',
        },
      },
    },
  ]
}

function* chunksOf(kind: string, payload: Json, bytes: Buffer, transferId: string): Generator<OutgoingEvent> {
  const id = { transfer_id: transferId }
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  yield {
    event: 'connector_transfer_start',
    data: { ...id, op_id: payload['op_id'], kind, total_bytes: bytes.length, sha256 },
  }
  for (let index = 0; index * CHUNK_BYTES < bytes.length; index++) {
    const data = bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES).toString('base64')
    yield { event: 'connector_transfer_chunk', data: { ...id, index, data } }
  }
  yield { event: 'connector_transfer_end', data: id }
}
