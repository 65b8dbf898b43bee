import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpServerFactory,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { MESSAGE_MAX_BYTES } from '../intake/message-limits.ts'

/** Answers the requests of all clients, of either protocol. */
export interface HttpHandler {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

export interface HandlerOptions {
  /** A server for one request, which belongs to no session. */
  readonly perRequest: McpServerFactory
  /** Sessions for the protocol before 2026; null = a client of it is answered request by request, and cannot be asked. */
  readonly sessions: {
    /** A server for one session. */
    readonly make: (name: string) => Server
    /** A name like no other. */
    readonly random: () => string
  } | null
}

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: Server
}

/** One more ends the session that was quiet for longest: its client begins another. */
const SESSIONS_MAX = 128

const limit = { maxRequestBodySize: MESSAGE_MAX_BYTES }

/**
 * Makes a handler for both protocols. A client of 2026 brings everything with each request. One of before has a session, in which it can be
 * asked; without one, each of its requests is answered by itself.
 */
export function httpHandler({ perRequest, sessions: kept }: HandlerOptions): HttpHandler {
  const modern = createMcpHandler(perRequest, { ...limit, legacy: 'reject' })
  const single = legacyStatelessFallback(perRequest, undefined, limit)
  /** The quietest first. */
  const sessions = new Map<string, HttpSession>()

  const begin = async ({ make, random }: NonNullable<typeof kept>): Promise<HttpSession> => {
    const server = make(random())
    const transport = new WebStandardStreamableHTTPServerTransport({
      ...limit,
      sessionIdGenerator: random,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, server })
        const [quietest] = sessions
        if (sessions.size > SESSIONS_MAX && quietest !== undefined) void end(...quietest)
      },
      onsessionclosed: (id) => {
        sessions.delete(id)
      },
    })
    await server.connect(transport)
    return { transport, server }
  }

  const end = async (id: string, { server }: HttpSession): Promise<void> => {
    sessions.delete(id)
    await server.close()
  }

  const inSession = async (request: Request): Promise<Response> => {
    const id = request.headers.get('mcp-session-id')
    if (id === null) {
      if (kept === null || !(await beginsSession(request))) return single(request)
      const { transport } = await begin(kept)
      return transport.handleRequest(request)
    }
    const session = sessions.get(id)
    if (session === undefined) return noSession()
    sessions.delete(id)
    sessions.set(id, session)
    return session.transport.handleRequest(request)
  }

  return {
    fetch: async (request) =>
      (await isLegacyRequest(request, undefined, limit)) ? inSession(request) : modern.fetch(request),
    close: async () => {
      await Promise.all([...sessions].map(([id, session]) => end(id, session)))
      await modern.close()
    },
  }
}

/** The handshake is one message. */
async function beginsSession(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => null)
  return (body as { readonly method?: unknown } | null)?.method === 'initialize'
}

/** As the protocol has it: the client begins anew. */
function noSession(): Response {
  const error = { code: -32001, message: 'Session not found' }
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 })
}
