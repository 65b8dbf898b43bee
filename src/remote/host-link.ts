import { io, type Socket } from 'socket.io-client'
import { GalleyError } from '../model/error.ts'
import { version } from '../model/version.ts'
import type { ServerHttp } from './host-http.ts'
import { receiveTransfers } from './receive-transfer.ts'
import { outgoing } from './send-transfer.ts'
import {
  acknowledged,
  HANDLER,
  idOf,
  innerData,
  type Json,
  NAMESPACE,
  ownCapabilities,
  type PayloadLimits,
  PROTOCOL,
  peerLimits,
} from './wire.ts'

const CONNECT_MS = 15_000
const REQUEST_MS = 20_000
const EXPIRE_MS = 5_000
/** Operations answered, remembered so that one that comes twice is done once. */
const REMEMBERED_MAX = 1_000

export interface HostLinkOptions {
  readonly server: ServerHttp
  readonly elapsedMs: () => number
  readonly randomId: () => string
  /** What the hello says of this host each time: one that leaves a part out would clear it. */
  readonly remoteFiles: () => Json
  /** The chat that this host belongs to; null = any. */
  readonly context: string | null
  /** @returns The answer's fields, beside `op_id`. */
  readonly operate: (operation: { readonly opId: string; readonly data: Json }) => Promise<Json>
  readonly onClosed: (reason: string) => void
}

/** One connection to a server, from its hello to its end. */
export interface HostLink {
  /** Says again what this host allows. */
  readonly sayHello: () => Promise<void>
  /** @returns Whether the server took it. */
  readonly sendTree: (tree: Json) => Promise<boolean>
  readonly isOpen: () => boolean
  readonly close: () => void
}

/**
 * Connects to the server's socket, says hello, and answers file operations until either end closes. A connection that is lost is final.
 *
 * @throws GalleyError `unreachable`, `wrong-server`, `login-failed`.
 */
export async function openHostLink(options: HostLinkOptions): Promise<HostLink> {
  const { server, context } = options
  const cookie = server.cookie()
  const { origin, pathname } = new URL(server.base)
  const socket = io(`${origin}${NAMESPACE}`, {
    path: `${pathname === '/' ? '' : pathname}/socket.io`,
    auth: { handlers: [HANDLER] },
    extraHeaders: {
      Origin: origin,
      Referer: `${server.base}/`,
      ...(cookie === '' ? {} : { Cookie: cookie }),
    },
    reconnection: false,
    forceNew: true,
    timeout: CONNECT_MS,
  })
  await connected(socket, server.base)
  let peer: PayloadLimits = peerLimits(null)
  const request = async (event: string, data: Json): Promise<Json> => {
    const ack: unknown = await socket.timeout(REQUEST_MS).emitWithAck(event, data).catch(noAnswer(event))
    const answer = acknowledged(ack)
    if (answer.ok) return answer.data
    const isLogin = answer.code === 'AUTH_REQUIRED'
    throw new GalleyError({
      code: isLogin ? 'login-failed' : 'wrong-server',
      message: `${event} was refused: ${answer.code}: ${answer.error}`,
      data: { code: answer.code },
    })
  }
  const sayHello = async (): Promise<void> => {
    const said = await request('connector_hello', {
      protocol: PROTOCOL,
      client: 'a0',
      client_version: version,
      remote_files: options.remoteFiles(),
      remote_exec: { enabled: false },
      computer_use: { enabled: false },
      capabilities: ownCapabilities,
      ...(context === null ? {} : { context_id: context }),
    })
    peer = peerLimits(said['capabilities'])
  }
  const closed = answerOperations(socket, options, () => peer)
  try {
    await sayHello()
    if (context !== null) await request('connector_subscribe_context', { context_id: context, from: 0 })
  } catch (error) {
    closed()
    socket.disconnect()
    throw error
  }
  return {
    sayHello,
    sendTree: async (tree) => (await request('connector_remote_tree_update', tree))['accepted'] === true,
    isOpen: () => socket.connected,
    close: () => {
      closed()
      socket.disconnect()
    },
  }
}

const noAnswer =
  (event: string) =>
  (error: unknown): never => {
    throw new GalleyError(
      { code: 'unreachable', message: `the server did not answer ${event}`, data: { event } },
      { cause: error },
    )
  }

function connected(socket: Socket, base: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.off('connect_error')
      resolve()
    })
    socket.once('connect_error', (error: Error & { readonly description?: unknown }) => {
      socket.disconnect()
      const why =
        error.message === '' ? `the ${NAMESPACE} namespace was refused without a reason` : error.message
      const message = `${base}: no socket connection: ${why.slice(0, 300)}`
      reject(new GalleyError({ code: 'unreachable', message, data: { server: base } }, { cause: error }))
    })
  })
}

/** @returns What ends it, without a word to `onClosed`. */
function answerOperations(socket: Socket, options: HostLinkOptions, peer: () => PayloadLimits): () => void {
  const { elapsedMs, randomId, onClosed } = options
  const transfers = receiveTransfers(['connector_file_op'], elapsedMs)
  const known = new Set<string>()
  const send = (answer: Json): void => {
    for (const { event, data } of outgoing('connector_file_op_result', answer, peer(), randomId())) {
      if (!socket.connected) return
      socket.emit(event, data)
    }
  }
  const operate = (data: Json): void => {
    const opId = idOf(data['op_id'])
    // Without an id there is nobody to answer; one that comes again has its answer, or gets it.
    if (opId === null || known.has(opId)) return
    known.add(opId)
    for (const old of known) {
      if (known.size <= REMEMBERED_MAX) break
      known.delete(old)
    }
    const failed = (error: unknown): Json => ({ ok: false, error: messageOf(error) })
    options
      .operate({ opId, data })
      .catch(failed)
      .then((answer) => send({ op_id: opId, ...answer }))
  }
  socket.on('connector_file_op', (payload: unknown) => operate(innerData(payload)))
  for (const step of ['start', 'chunk', 'end'] as const)
    socket.on(`connector_transfer_${step}`, (payload: unknown, ack?: unknown) => {
      const taken = transfers[step](innerData(payload))
      const transfer_id = taken.transferId
      const accepted = taken.kind === 'refused' ? { accepted: false, error: taken.error } : { accepted: true }
      if (typeof ack === 'function') ack({ transfer_id, ...accepted })
      if (taken.kind === 'complete') operate(taken.payload)
      if (taken.kind !== 'refused') return
      socket.emit('connector_transfer_abort', {
        transfer_id,
        op_id: taken.opId,
        kind: taken.event,
        reason: taken.error.slice(0, 512),
      })
      if (taken.opId !== null)
        send({ op_id: taken.opId, ok: false, code: 'TRANSFER_ABORTED', error: taken.error })
    })
  socket.on('connector_transfer_abort', (payload: unknown) => transfers.abort(innerData(payload)))
  const expiring = setInterval(() => transfers.expire(), EXPIRE_MS)
  expiring.unref()
  let isOver = false
  const over = () => {
    isOver = true
    clearInterval(expiring)
  }
  socket.once('disconnect', (reason) => {
    if (!isOver) onClosed(reason)
    over()
  })
  return over
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 2_000)
