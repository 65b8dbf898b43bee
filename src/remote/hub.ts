import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { GalleyError } from '../model/error.ts'
import { type HubCaller, type HubResult, hubTool } from './hub-call.ts'
import { isLoopback, serveHubSockets } from './hub-sockets.ts'
import { API, HANDLER, type Json, NAMESPACE, ownCapabilities, PROTOCOL } from './wire.ts'

const BODY_MAX_BYTES = 64 * 1024
const SESSIONS_MAX = 1_000
const WRONG_LOGIN_MS = 500
const COOKIE = 'session_galley_hub'

export interface HubOptions {
  /** 0 = any that is free. */
  readonly port: number
  /** The password of a host's login. */
  readonly token: string
  readonly clock: {
    readonly now: () => number
    readonly elapsedMs: () => number
    readonly random: (count: number) => Uint8Array
    readonly sleep: (ms: number) => Promise<void>
  }
  readonly version: string
  /** Hosts that come and go, for a log. */
  readonly onHosts: (text: string) => void
}

export interface Hub {
  readonly url: string
  /** The tool is hidden while no host is there. */
  readonly hasHosts: () => boolean
  readonly call: (input: Json, caller: HubCaller) => Promise<HubResult>
  readonly close: () => Promise<void>
}

/**
 * Serves the server's end of Agent Zero's connector protocol on the loopback interface: hosts log in and connect, and are asked through
 * `call`.
 *
 * @throws GalleyError `io-error`, where the port cannot be had.
 */
export async function serveHub(options: HubOptions): Promise<Hub> {
  const { clock, token } = options
  const randomId = () => Buffer.from(clock.random(16)).toString('hex')
  const sessions = new Set<string>()
  const isLoggedIn = (request: IncomingMessage): boolean => {
    const given = new RegExp(`(?:^|;\\s*)${COOKIE}=([0-9a-f]{32})`).exec(request.headers.cookie ?? '')?.[1]
    return given !== undefined && sessions.has(given)
  }
  const logIn = (): string => {
    const session = randomId()
    sessions.add(session)
    for (const oldest of sessions) {
      if (sessions.size <= SESSIONS_MAX) break
      sessions.delete(oldest)
    }
    return session
  }
  const http = createServer((request, response) => {
    answer(request, response, {
      isLoggedIn,
      logIn,
      token,
      sleep: clock.sleep,
      version: options.version,
    }).catch(() => response.writeHead(500).end())
  })
  const sockets = serveHubSockets({
    http,
    elapsedMs: clock.elapsedMs,
    now: clock.now,
    randomId,
    isLoggedIn,
    onHosts: options.onHosts,
  })
  const port = await new Promise<number>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new GalleyError({
          code: 'io-error',
          message: `cannot serve on port ${options.port}: ${error.code}`,
          data: { port: options.port },
        }),
      ),
    )
    http.listen(options.port, '127.0.0.1', () => resolve((http.address() as { readonly port: number }).port))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    hasHosts: () => sockets.hosts().some(({ enabled }) => enabled),
    call: hubTool(sockets),
    close: () => sockets.close(),
  }
}

interface Desk {
  readonly isLoggedIn: (request: IncomingMessage) => boolean
  readonly logIn: () => string
  readonly token: string
  readonly sleep: (ms: number) => Promise<void>
  readonly version: string
}

async function answer(request: IncomingMessage, response: ServerResponse, desk: Desk): Promise<void> {
  const send = (status: number, value: Json, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  }
  if (!isLoopback(request.headers.host ?? ''))
    return send(403, { error: 'this hub is for this machine alone' })
  const path = (request.url ?? '').split('?')[0] ?? ''
  if (request.method !== 'POST')
    return send(path.startsWith(API) || path === '/login' ? 405 : 404, { error: 'POST' })
  const body = await bodyOf(request)
  if (body === null) return send(413, { error: 'too large' }, { connection: 'close' })
  switch (path) {
    case `${API}capabilities`:
      return send(200, capabilities(desk.version))
    case `${API}chats_list`:
      return desk.isLoggedIn(request) ? send(200, { chats: [] }) : send(401, { error: 'log in first' })
    case '/login': {
      if (!isSame(new URLSearchParams(body).get('password') ?? '', desk.token)) {
        await desk.sleep(WRONG_LOGIN_MS)
        return send(401, { error: 'wrong name or password' })
      }
      const cookie = `${COOKIE}=${desk.logIn()}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400`
      return send(302, {}, { location: '/', 'set-cookie': cookie })
    }
    default:
      return send(404, { error: 'there is nothing here' })
  }
}

const capabilities = (version: string): Json => ({
  protocol: PROTOCOL,
  version,
  websocket_namespace: NAMESPACE,
  websocket_handlers: [HANDLER],
  transports: ['http', 'websocket'],
  auth: ['session'],
  auth_required: true,
  features: ['remote_files'],
  capabilities: ownCapabilities,
})

/** Compared by their hashes: in the same time, whatever their lengths. */
function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(expected))
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > BODY_MAX_BYTES) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
