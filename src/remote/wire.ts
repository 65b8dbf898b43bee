/**
 * The names and forms of Agent Zero's connector protocol, `a0-connector.v1`, that both of its ends share. Where its public client and
 * server differ by version, the newest form is sent and every form is taken.
 */

export const PROTOCOL = 'a0-connector.v1'
export const NAMESPACE = '/ws'
export const HANDLER = 'plugins/_a0_connector/ws_connector'
export const API = '/api/plugins/_a0_connector/v1/'

/** Bytes of JSON that one event may have, which both ends tell each other. */
export const PAYLOAD_MAX_BYTES = 50 * 1024 * 1024
/** What an end is taken to bear that does not say. */
export const PAYLOAD_UNKNOWN_BYTES = 4 * 1024 * 1024
/** Larger events go in chunks. */
export const EVENT_MAX_BYTES = 1024 * 1024
export const TRANSFER_PROTOCOL = 1
/** The server gives up on a file operation after so long. */
export const OPERATION_MS = 30_000
export const OP_ID_MAX_CHARACTERS = 256

export type Json = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What an event carries: servers wrap it in an envelope, clients do not. */
export function innerData(payload: unknown): Json {
  if (!isRecord(payload)) return {}
  return isRecord(payload['data']) ? payload['data'] : payload
}

/** Text of an id, or null where it is none: hostile, so of bounded length and on one line. */
export function idOf(value: unknown, maxCharacters = OP_ID_MAX_CHARACTERS): string | null {
  if (typeof value !== 'string' || value === '' || value.length > maxCharacters) return null
  return /\p{Cc}/u.test(value) ? null : value
}

/** What one end says of itself about payloads. */
export interface PayloadLimits {
  readonly maxBytes: number
  /** Whether it takes chunks. */
  readonly transfers: boolean
}

export const ownCapabilities: Json = {
  ws_max_payload_bytes: PAYLOAD_MAX_BYTES,
  transfer_protocol: TRANSFER_PROTOCOL,
}

/** Reads the other end's `capabilities`; the smaller of both limits counts. */
export function peerLimits(capabilities: unknown): PayloadLimits {
  const said = isRecord(capabilities) ? capabilities : {}
  const bytes = said['ws_max_payload_bytes']
  const maxBytes =
    Number.isSafeInteger(bytes) && (bytes as number) > 0 ? (bytes as number) : PAYLOAD_UNKNOWN_BYTES
  return {
    maxBytes: Math.min(maxBytes, PAYLOAD_MAX_BYTES),
    transfers: said['transfer_protocol'] === TRANSFER_PROTOCOL,
  }
}

/** Answers of the server to a request: the first handler that did it, or the first error. */
export type Acknowledged =
  | { readonly ok: true; readonly data: Json }
  | { readonly ok: false; readonly code: string; readonly error: string }

export function acknowledged(ack: unknown): Acknowledged {
  const results = isRecord(ack) && Array.isArray(ack['results']) ? ack['results'].filter(isRecord) : []
  for (const result of results) {
    if (result['ok'] === true) return { ok: true, data: isRecord(result['data']) ? result['data'] : {} }
    const error = result['error']
    if (isRecord(error))
      return {
        ok: false,
        code: String(error['code'] ?? 'ERROR').slice(0, 100),
        error: String(error['error'] ?? '').slice(0, 500),
      }
  }
  return { ok: true, data: {} }
}
