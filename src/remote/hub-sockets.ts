import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { Server, type Socket } from 'socket.io'
import { receiveTransfers } from './receive-transfer.ts'
import { outgoing } from './send-transfer.ts'
import {
  HANDLER,
  idOf,
  innerData,
  isRecord,
  type Json,
  NAMESPACE,
  OPERATION_MS,
  ownCapabilities,
  PAYLOAD_MAX_BYTES,
  type PayloadLimits,
  PROTOCOL,
  peerLimits,
} from './wire.ts'

const HOSTS_MAX = 64
const TREE_MAX_CHARACTERS = 100_000

/** One connected host, as it described itself. */
export interface HubHost {
  readonly sid: string
  readonly enabled: boolean
  readonly writeEnabled: boolean
  readonly contexts: ReadonlySet<string>
  readonly root: string | null
}

/** What a host answered, or why there is no answer. */
export type HubAnswer =
  | { readonly kind: 'answered'; readonly data: Json }
  | { readonly kind: 'failed'; readonly error: string }

export interface HubSockets {
  /** Hosts that have said hello, in a fixed order. */
  readonly hosts: () => readonly HubHost[]
  readonly operate: (
    sid: string,
    operation: {
      readonly op: string
      readonly path: string
      readonly args: Json
      readonly context: string | null
    },
  ) => Promise<HubAnswer>
  readonly close: () => Promise<void>
}

export interface HubSocketOptions {
  readonly http: HttpServer
  readonly elapsedMs: () => number
  readonly now: () => number
  readonly randomId: () => string
  /** Whether a request brings the session of a login. */
  readonly isLoggedIn: (request: IncomingMessage) => boolean
  readonly onHosts: (text: string) => void
}

interface Connected {
  readonly socket: Socket
  said: { readonly enabled: boolean; readonly writeEnabled: boolean } | null
  limits: PayloadLimits
  readonly contexts: Set<string>
  root: string | null
}

interface Pending {
  readonly sid: string
  readonly settle: (answer: HubAnswer) => void
}

/** The socket's end of a hub: hosts come, say hello, and are asked. */
export function serveHubSockets(options: HubSocketOptions): HubSockets {
  const { http, randomId } = options
  const connected = new Map<string, Connected>()
  const pending = new Map<string, Pending>()
  const io = new Server(http, {
    path: '/socket.io',
    // Agent Zero's own client probes without one.
    addTrailingSlash: false,
    serveClient: false,
    maxHttpBufferSize: PAYLOAD_MAX_BYTES,
    pingInterval: 25_000,
    pingTimeout: 20_000,
  })
  const space = io.of(NAMESPACE)
  space.use((socket, next) => {
    const isWelcome = originFault(socket.request) === null && connected.size < HOSTS_MAX
    next(isWelcome ? undefined : new Error(''))
  })
  space.on('connection', (socket) => {
    const host: Connected = { socket, said: null, limits: peerLimits(null), contexts: new Set(), root: null }
    connected.set(socket.id, host)
    listen(options, host, (data) => settle(pending, socket.id, data))
    socket.once('disconnect', () => {
      connected.delete(socket.id)
      for (const { sid, settle: end } of pending.values())
        if (sid === socket.id)
          end({ kind: 'failed', error: 'CLI disconnected before completing the requested file operation' })
      options.onHosts('a host has gone')
    })
  })
  return {
    hosts: () =>
      [...connected.values()]
        .flatMap(({ socket, said, contexts, root }) =>
          said === null ? [] : [{ sid: socket.id, ...said, contexts, root }],
        )
        .sort((a, b) => (a.sid < b.sid ? -1 : 1)),
    operate: (sid, { op, path, args, context }) =>
      new Promise((resolve) => {
        const host = connected.get(sid)
        if (host === undefined)
          return resolve({
            kind: 'failed',
            error:
              'text_editor_remote: the selected CLI client disconnected before the file operation could be delivered',
          })
        const opId = randomId()
        const settleOnce = (answer: HubAnswer): void => {
          clearTimeout(timer)
          pending.delete(opId)
          resolve(answer)
        }
        const late = `text_editor_remote: timed out waiting for CLI to respond to ${op} on ${pythonRepr(path)}`
        const timer = setTimeout(() => settleOnce({ kind: 'failed', error: late }), OPERATION_MS)
        pending.set(opId, { sid, settle: settleOnce })
        const data = { ...args, op_id: opId, op, path, context_id: context }
        for (const { event, data: part } of outgoing('connector_file_op', data, host.limits, randomId())) {
          if (event === 'connector_file_op' && part['ok'] === false)
            settleOnce({ kind: 'failed', error: String(part['error']) })
          else host.socket.emit(event, wrapped(options, part))
        }
      }),
    close: () => io.close(),
  }
}

/** Text as Python writes it in its messages. */
const pythonRepr = (text: string): string =>
  text.includes("'") && !text.includes('"')
    ? `"${text}"`
    : `'${text.replaceAll('\\', () => '\\\\').replaceAll("'", () => "\\'")}'`

const wrapped = ({ randomId, now }: HubSocketOptions, data: Json) => ({
  handlerId: HANDLER,
  eventId: randomId(),
  correlationId: randomId(),
  ts: new Date(now()).toISOString(),
  data,
})

type Acknowledge = (data: Json) => void

/** Requests of one host, each with its answer in the form of that server's. */
function listen(options: HubSocketOptions, host: Connected, settleOperation: (data: Json) => Outcome): void {
  const { socket } = host
  const handlers = (socket.handshake.auth as Json)['handlers']
  const barred =
    !Array.isArray(handlers) || !handlers.includes(HANDLER)
      ? failure('NO_HANDLERS', 'No handler is active on this connection')
      : options.isLoggedIn(socket.request)
        ? null
        : failure('AUTH_REQUIRED', 'Log in first')
  const transfers = receiveTransfers(['connector_file_op_result'], options.elapsedMs)
  const requests: Readonly<Record<string, (data: Json) => Outcome>> = {
    connector_hello: (data) => hello(options, host, data),
    connector_subscribe_context: (data) => subscribe(host, data, true),
    connector_unsubscribe_context: (data) => subscribe(host, data, false),
    connector_remote_tree_update: (data) => tree(options, host, data),
    connector_file_op_result: settleOperation,
    connector_transfer_abort: (data) => {
      transfers.abort(data)
      return settleOperation({
        op_id: data['op_id'],
        ok: false,
        error: String(data['reason'] ?? 'transfer aborted').slice(0, 512),
      })
    },
  }
  for (const step of ['start', 'chunk', 'end'] as const)
    (requests as Record<string, (data: Json) => Outcome>)[`connector_transfer_${step}`] = (data) => {
      const taken = transfers[step](data)
      const { transferId: transfer_id } = taken
      if (taken.kind === 'complete') settleOperation(taken.payload)
      if (taken.kind !== 'refused')
        return success({
          transfer_id,
          accepted: true,
          ...(taken.kind === 'complete' ? { kind: taken.event } : {}),
        })
      socket.emit(
        'connector_transfer_abort',
        wrapped(options, { transfer_id, op_id: taken.opId, kind: taken.event, reason: taken.error }),
      )
      if (taken.opId !== null) settleOperation({ op_id: taken.opId, ok: false, error: taken.error })
      return success({ transfer_id, accepted: false, error: taken.error })
    }
  const expiring = setInterval(() => {
    for (const step of transfers.expire())
      if (step.kind === 'refused' && step.opId !== null)
        settleOperation({ op_id: step.opId, ok: false, error: step.error })
  }, 5_000)
  expiring.unref()
  socket.once('disconnect', () => clearInterval(expiring))
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

type Outcome =
  | { readonly ok: true; readonly data: Json }
  | { readonly ok: false; readonly error: { readonly code: string; readonly error: string } }

const success = (data: Json): Outcome => ({ ok: true, data })
const failure = (code: string, error: string): Outcome => ({ ok: false, error: { code, error } })

function hello(options: HubSocketOptions, host: Connected, data: Json): Outcome {
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

function tree(options: HubSocketOptions, host: Connected, data: Json): Outcome {
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

/** A result counts where its operation waits, and comes from the host that was asked. */
function settle(pending: ReadonlyMap<string, Pending>, sid: string, data: Json): Outcome {
  const opId = idOf(data['op_id'])
  if (opId === null) return failure('MISSING_OP_ID', 'op_id is required')
  const found = pending.get(opId)
  if (found === undefined || found.sid !== sid)
    return failure('UNKNOWN_OP_ID', `No pending file operation for op_id '${opId}'`)
  found.settle(
    data['chunked'] === true
      ? {
          kind: 'failed',
          error:
            'Legacy chunked file results are not supported. Upgrade the CLI so it can negotiate transfer_protocol=1.',
        }
      : { kind: 'answered', data },
  )
  return success({})
}

/** Why a browser's page, or a client of no name, may not connect; null = it may. */
export function originFault({ headers }: IncomingMessage): string | null {
  const given = headers.origin ?? headers.referer
  if (given === undefined) return 'missing_origin'
  if (!URL.canParse(given)) return 'invalid_origin'
  if (headers.host === undefined) return 'missing_host'
  const [origin, own] = [new URL(given), new URL(`${new URL(given).protocol}//${headers.host}`)]
  if (origin.hostname !== own.hostname) return 'origin_host_mismatch'
  return origin.port === own.port ? null : 'origin_port_mismatch'
}
