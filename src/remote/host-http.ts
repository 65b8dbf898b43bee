import { GalleyError, refuse } from '../model/error.ts'
import { API, HANDLER, isRecord, type Json, NAMESPACE, PROTOCOL } from './wire.ts'

const HTTP_MS = 10_000
const BODY_MAX_BYTES = 1024 * 1024

/** An Agent Zero server, by HTTP: what it can do, and the session that its sockets need. */
export interface ServerHttp {
  /** `https://host:port`, without a slash at its end. */
  readonly base: string
  /** `name=value` pairs for a Cookie header; empty = none yet. */
  readonly cookie: () => string
  /** Asks what the server is, and whether it wants a login. @throws GalleyError as {@link openServer}. */
  readonly discover: () => Promise<{ readonly needsLogin: boolean }>
  readonly isLoggedIn: () => Promise<boolean>
  readonly logIn: (username: string, password: string) => Promise<boolean>
}

/**
 * @param address - `http://` or `https://`, a host, perhaps a port and a path.
 * @throws GalleyError `usage`, for an address that is none; `unreachable`, where nobody answers; `wrong-server`, where what answers is
 * no server of this protocol.
 */
export function openServer(address: string): ServerHttp {
  const base = baseOf(address)
  const cookies = new Map<string, string>()
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

  const post = async (path: string, body: string, type: string) => {
    const headers = {
      'content-type': type,
      origin: base,
      referer: `${base}/`,
      ...(cookies.size > 0 ? { cookie: cookie() } : {}),
    }
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(HTTP_MS),
    }).catch((error: unknown) => unreachable(base, error))
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? []
      if (name !== undefined && cookies.size < 20) cookies.set(name, value ?? '')
    }
    const text = await bodyOf(response).catch((error: unknown) => unreachable(base, error))
    return { status: response.status, location: response.headers.get('location') ?? '', text }
  }
  const api = (name: string) => post(`${API}${name}`, '{}', 'application/json')

  const isLoggedIn = async (): Promise<boolean> => {
    const { status, location } = await api('chats_list')
    if (status === 200) return true
    const toLogin = status >= 300 && status < 400 && new URL(location, base).pathname.endsWith('/login')
    if (status === 401 || status === 403 || toLogin) return false
    refuse('wrong-server', `${base}: the list of chats answers with HTTP ${status}`, { status })
  }
  return {
    base,
    cookie,
    isLoggedIn,
    discover: async () => {
      const { status, text } = await api('capabilities')
      if (status === 404) refuse('wrong-server', `${base} has no connector: HTTP 404`, { status }, NO_PLUGIN)
      if (status !== 200)
        refuse('wrong-server', `${base}: the capabilities answer with HTTP ${status}`, { status })
      const fault = capabilitiesFault(jsonOf(text))
      if (fault !== null) refuse('wrong-server', `${base}: ${fault}`, {})
      return { needsLogin: jsonOf(text)?.['auth_required'] === true }
    },
    logIn: async (username, password) => {
      const form = new URLSearchParams({ username, password }).toString()
      await post('/login', form, 'application/x-www-form-urlencoded')
      return isLoggedIn()
    },
  }
}

const NO_PLUGIN = 'Check the address; on the server, the connector plugin must be installed and switched on.'

function baseOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    refuse(
      'usage',
      `${JSON.stringify(address.slice(0, 200))} is no address of a server`,
      {},
      'Give http://host:port, without a name or password in it.',
    )
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function unreachable(base: string, error: unknown): never {
  const { cause } = error as { readonly cause?: unknown }
  const { code, message } = (isRecord(cause) || cause instanceof Error ? cause : error) as {
    code?: unknown
    message?: unknown
  }
  const isCertificate = /CERT|SELF_SIGNED|TLS|SSL|ALTNAME/.test(String(code))
  throw new GalleyError(
    {
      code: 'unreachable',
      message: `${base}: ${isCertificate ? 'its certificate does not fit: ' : ''}${String(message)}${code === undefined ? '' : ` (${String(code)})`}`,
      data: { server: base },
      hint: isCertificate
        ? 'Name the authority that signed it in NODE_EXTRA_CA_CERTS, or the host by the name in its certificate. galley checks certificates always.'
        : 'Check that the server runs, and its address.',
    },
    { cause: error },
  )
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > BODY_MAX_BYTES) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonOf(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** What keeps this host from that server, in the words of Agent Zero's own client; null = nothing. */
export function capabilitiesFault(said: Json | null): string | null {
  if (said === null) return 'the capabilities are no JSON object'
  const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 120) ?? 'nothing'
  if (said['protocol'] !== PROTOCOL)
    return `Unsupported connector protocol: expected ${PROTOCOL}, got ${shown(said['protocol'])}`
  if (said['websocket_namespace'] !== NAMESPACE)
    return `Unsupported WebSocket namespace: ${shown(said['websocket_namespace'])}`
  const handlers = said['websocket_handlers']
  if (!Array.isArray(handlers) || !handlers.includes(HANDLER))
    return `Connector handler activation is missing '${HANDLER}' in capabilities`
  const auth = said['auth']
  if (!Array.isArray(auth) || auth.length !== 1 || auth[0] !== 'session')
    return `Unsupported connector auth contract: expected ['session'], got ${shown(auth)}`
  if (typeof said['auth_required'] !== 'boolean')
    return 'Connector capabilities must include boolean auth_required'
  const features = said['features']
  if (!Array.isArray(features)) return 'Connector capabilities features payload is invalid'
  if (features.includes('connector_login'))
    return 'The server wants connector_login, which this protocol has no more'
  return null
}
