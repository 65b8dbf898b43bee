import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { MESSAGE_MAX_BYTES, MESSAGE_MAX_DEPTH } from '../intake/message-limits.ts'
import { GalleyError } from '../model/error.ts'
import type { HttpHandler } from './http-handler.ts'
import { jsonDepth } from './json-depth.ts'

const PATH = '/mcp'
const CONNECTIONS_MAX = 256
const METHODS = ['GET', 'POST', 'DELETE']

export interface HttpOptions {
  /** 0 = any that is free. */
  readonly port: number
  /** Every request must bring it. */
  readonly token: string
  readonly handler: HttpHandler
}

export interface HttpServing {
  readonly url: string
  readonly close: () => Promise<void>
}

/**
 * Serves the protocol over HTTP on the loopback interface. The handler of the SDK checks neither who asks nor by which name: here a request
 * needs the token, a Host of this machine, and no Origin but one of this machine.
 */
export async function serveHttp({ port, token, handler }: HttpOptions): Promise<HttpServing> {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    answer(request, { token, handler, signal: gone.signal }).then(
      (answered) => send(answered, response),
      () => response.writeHead(500).end(),
    )
  })
  server.maxConnections = CONNECTIONS_MAX
  await listening(server, port)
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound}${PATH}`,
    close: async () => {
      await handler.close()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new GalleyError({
          code: 'io-error',
          message: `cannot serve on port ${port}: ${error.code}`,
          data: { port },
        }),
      ),
    )
    server.listen(port, '127.0.0.1', () => {
      resolve()
    })
  })

interface Asked {
  readonly token: string
  readonly handler: HttpHandler
  /** The client has gone, or has its answer. */
  readonly signal: AbortSignal
}

async function answer(incoming: IncomingMessage, { token, handler, signal }: Asked): Promise<Response> {
  const { method = 'GET', url = '/' } = incoming
  const request = new Request(new URL(url.startsWith('/') ? url : '/', 'http://127.0.0.1'), {
    method: METHODS.includes(method) ? method : 'GET',
    headers: headersOf(incoming),
    signal,
  })
  const strange =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  if (strange !== undefined) return strange
  if (new URL(request.url).pathname !== PATH) return refusal(404, `there is nothing but ${PATH} here`)
  if (!METHODS.includes(method)) return refusal(405, `${PATH} takes POST`)
  if (!isToken(incoming.headers.authorization, token)) return refusal(401, 'the token is missing or wrong')
  return method === 'POST' ? answerPost(incoming, request, handler) : handler.fetch(request)
}

async function answerPost(
  incoming: IncomingMessage,
  request: Request,
  handler: HttpHandler,
): Promise<Response> {
  const bytes = await bodyOf(incoming)
  if (bytes === null) return refusal(413, `too-large: the message has more than ${MESSAGE_MAX_BYTES} bytes`)
  if (jsonDepth(bytes) > MESSAGE_MAX_DEPTH)
    return refusal(400, `invalid-json: the message is nested more than ${MESSAGE_MAX_DEPTH} levels deep`)
  return handler.fetch(new Request(request, { body: new Uint8Array(bytes), signal: request.signal }))
}

/** null = it is larger than a message may be; the rest of it is not read. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length
    if (size > MESSAGE_MAX_BYTES) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  return headers
}

/** Compared by their hashes: in the same time, whatever their lengths. */
function isToken(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? ''
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(token))
}

function refusal(status: number, message: string): Response {
  const headers = {
    'content-type': 'application/json',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 413 ? { connection: 'close' } : {}),
  }
  const body = { jsonrpc: '2.0', id: null, error: { code: -32600, message } }
  return new Response(JSON.stringify(body), { status, headers })
}

async function send(answered: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  const reader = answered.body?.getReader()
  response.once('close', () => void reader?.cancel().catch(() => undefined))
  for (;;) {
    const part = await reader?.read().catch(() => undefined)
    if (part === undefined || part.done) break
    response.write(part.value)
  }
  response.end()
}
