import type { IncomingMessage } from 'node:http'
import type { Socket } from 'socket.io'
import { receiveTransfers } from './receive-transfer.ts'
import {
  HANDLER,
  idOf,
  innerData,
  isRecord,
  type Json,
  ownCapabilities,
  type PayloadLimits,
  PROTOCOL,
  peerLimits,
} from './wire.ts'

const TREE_MAX_CHARACTERS = 100_000

export interface RequestOptions {
  readonly elapsedMs: () => number
  readonly now: () => number
  readonly randomId: () => string
  /** Whether a request brings the session of a login. */
  readonly isLoggedIn: (request: IncomingMessage) => boolean
  readonly onHosts: (text: string) => void
}

/** A host's connection, and what it has said of itself. */
export interface Connected {
  readonly socket: Socket
  said: { readonly enabled: boolean; readonly writeEnabled: boolean } | null
  limits: PayloadLimits
  readonly contexts: Set<string>
  root: string | null
}

export const wrapped = ({ randomId, now }: Pick<RequestOptions, 'randomId' | 'now'>, data: Json) => ({
  handlerId: HANDLER,
  eventId: randomId(),
  correlationId: randomId(),
  ts: new Date(now()).toISOString(),
  data,
})

type Acknowledge = (data: Json) => void

/** Requests of one host, each with its answer in the form of that server's. */
export function listen(
  options: RequestOptions,
  host: Connected,
  settleOperation: (data: Json) => Outcome,
): void {
  const { socket } = host
  const handlers = (socket.handshake.auth as Json)['handlers']
  const barred =
    !Array.isArray(handlers) || !handlers.includes(HANDLER)
      ? failure('NO_HANDLERS', 'No handler is active on this connection')
      : options.isLoggedIn(socket.request)
        ? null
        : failure('AUTH_REQUIRED', 'Log in first')
  const requests = requestsOf(options, host, settleOperation)
  socket.onAny((event: string, payload: unknown, ack: unknown) => {
    const request = Object.hasOwn(requests, event) ? requests[event] : undefined
    const outcome =
      barred ??
      request?.(innerData(payload)) ??
      failure('UNKNOWN_EVENT', `Unknown connector event: ${event.slice(0, 100)}`)
    const answer = typeof payload === 'function' ? payload : ack
    if (typeof answer === 'function')
      (answer as Acknowledge)({
        correlationId: options.randomId(),
        results: [{ handlerId: HANDLER, ...outcome }],
      })
  })
}

/** What a host may ask, by the name of the event. */
function requestsOf(
  options: RequestOptions,
  host: Connected,
  settleOperation: (data: Json) => Outcome,
): Readonly<Record<string, (data: Json) => Outcome>> {
  return {
    connector_hello: (data) => hello(options, host, data),
    connector_subscribe_context: (data) => subscribe(host, data, true),
    connector_unsubscribe_context: (data) => subscribe(host, data, false),
    connector_remote_tree_update: (data) => tree(options, host, data),
    connector_file_op_result: settleOperation,
    ...transferRequests(options, host, settleOperation),
  }
}

const EXPIRE_MS = 5_000

function transferRequests(
  options: RequestOptions,
  { socket }: Connected,
  settleOperation: (data: Json) => Outcome,
): Readonly<Record<string, (data: Json) => Outcome>> {
  const transfers = receiveTransfers(['connector_file_op_result'], options.elapsedMs)
  const failOperation = (opId: unknown, error: string) => settleOperation({ op_id: opId, ok: false, error })
  const step = (name: 'start' | 'chunk' | 'end') => (data: Json) => {
    const taken = transfers[name](data)
    const { transferId: transfer_id } = taken
    if (taken.kind === 'accepted') return success({ transfer_id, accepted: true })
    if (taken.kind === 'complete') {
      settleOperation(taken.payload)
      return success({ transfer_id, accepted: true, kind: taken.event })
    }
    const { opId, event, error } = taken
    const aborted = { transfer_id, op_id: opId, kind: event, reason: error }
    socket.emit('connector_transfer_abort', wrapped(options, aborted))
    if (opId !== null) failOperation(opId, error)
    return success({ transfer_id, accepted: false, error })
  }
  const expiring = setInterval(() => {
    for (const taken of transfers.expire())
      if (taken.kind === 'refused' && taken.opId !== null) failOperation(taken.opId, taken.error)
  }, EXPIRE_MS)
  expiring.unref()
  socket.once('disconnect', () => clearInterval(expiring))
  return {
    connector_transfer_start: step('start'),
    connector_transfer_chunk: step('chunk'),
    connector_transfer_end: step('end'),
    connector_transfer_abort: (data) => {
      transfers.abort(data)
      return failOperation(data['op_id'], String(data['reason'] ?? 'transfer aborted').slice(0, 512))
    },
  }
}

export type Outcome =
  | { readonly ok: true; readonly data: Json }
  | { readonly ok: false; readonly error: { readonly code: string; readonly error: string } }

export const success = (data: Json): Outcome => ({ ok: true, data })
export const failure = (code: string, error: string): Outcome => ({ ok: false, error: { code, error } })

function hello(options: RequestOptions, host: Connected, data: Json): Outcome {
  if (data['protocol'] !== PROTOCOL) return failure('UNSUPPORTED_PROTOCOL', `expected ${PROTOCOL}`)
  const files = data['remote_files']
  // A part that is left out clears what was known.
  host.said = isRecord(files)
    ? { enabled: files['enabled'] !== false, writeEnabled: Boolean(files['write_enabled']) }
    : { enabled: false, writeEnabled: false }
  host.limits = peerLimits(data['capabilities'])
  const context = idOf(data['context_id'])
  if (context !== null) host.contexts.add(context)
  options.onHosts(
    `a host says hello: ${host.said.enabled ? (host.said.writeEnabled ? 'Read&Write' : 'Read only') : 'no files'}`,
  )
  return success({
    protocol: PROTOCOL,
    features: ['remote_files'],
    exec_config: { version: 1 },
    capabilities: ownCapabilities,
    remote_tools: {
      contexts: [...host.contexts],
      remote_files: host.said.enabled,
      remote_file_writes: host.said.writeEnabled,
      remote_exec: false,
      computer_use: false,
      host_browser: false,
    },
  })
}

const CONTEXTS_MAX = 100

function subscribe(host: Connected, data: Json, isOn: boolean): Outcome {
  const context = idOf(data['context_id'])
  if (context === null) return failure('MISSING_CONTEXT_ID', 'context_id is required')
  if (!isOn) host.contexts.delete(context)
  else if (host.contexts.size < CONTEXTS_MAX) host.contexts.add(context)
  return success(
    isOn
      ? { context_id: context, subscribed: true, last_sequence: 0 }
      : { context_id: context, unsubscribed: true },
  )
}

function tree(options: RequestOptions, host: Connected, data: Json): Outcome {
  const fields = ['tree', 'root_path', 'tree_hash'].map((name) => data[name])
  if (
    !fields.every(
      (field) => typeof field === 'string' && field.trim() !== '' && field.length <= TREE_MAX_CHARACTERS,
    )
  )
    return failure('INVALID_TREE_PAYLOAD', 'tree, root_path and tree_hash must be non-blank strings')
  host.root = String(data['root_path']).slice(0, 4096)
  return success({
    accepted: true,
    sid: host.socket.id,
    tree_hash: data['tree_hash'],
    updated_at: new Date(options.now()).toISOString(),
  })
}
