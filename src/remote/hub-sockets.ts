import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { Server } from 'socket.io'
import {
  type Connected,
  failure,
  listen,
  type Outcome,
  type RequestOptions,
  success,
  wrapped,
} from './hub-requests.ts'
import { outgoing } from './send-transfer.ts'
import { idOf, type Json, NAMESPACE, OPERATION_MS, PAYLOAD_MAX_BYTES, peerLimits } from './wire.ts'

const HOSTS_MAX = 64

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

export interface HubSocketOptions extends RequestOptions {
  readonly http: HttpServer
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
  if (headers.host === undefined || !isLoopback(headers.host)) return 'missing_host'
  const [origin, own] = [new URL(given), new URL(`${new URL(given).protocol}//${headers.host}`)]
  if (origin.hostname !== own.hostname) return 'origin_host_mismatch'
  return origin.port === own.port ? null : 'origin_port_mismatch'
}

/** A name of this machine itself: another one that leads here is a page's that was given it. */
export const isLoopback = (host: string): boolean =>
  /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host)
