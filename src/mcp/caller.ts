import type { ClientCapabilities, Implementation, ServerContext } from '@modelcontextprotocol/server'
import type { Caller } from './tool.ts'

/** What a client said of itself: in the handshake of the older protocol, with each request in the newer one. */
export interface SaidByClient {
  readonly info: Pick<Implementation, 'name'> | undefined
  readonly capabilities: ClientCapabilities | undefined
}

/** Of the newer protocol's envelope, under these names. */
const INFO = 'io.modelcontextprotocol/clientInfo'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/**
 * Finds out who calls. The conversation's own id, where the client sends one, names the session; else this server's process does, which
 * belongs to one client where it talks over standard streams.
 *
 * @param processName - null where one process serves many clients, so that it names no session.
 */
export function callerOf(context: ServerContext, said: SaidByClient, processName: string | null): Caller {
  const envelope = (context.mcpReq.envelope ?? {}) as Readonly<Record<string, unknown>>
  const info = (envelope[INFO] as SaidByClient['info']) ?? said.info
  const capabilities = (envelope[CAPABILITIES] as ClientCapabilities | undefined) ?? said.capabilities
  const name = plainName(info?.name) ?? 'mcp-client'
  const conversation =
    plainName(conversationOf(context.mcpReq._meta)) ?? plainName(context.sessionId) ?? processName
  const elicitation = capabilities?.elicitation as Readonly<Record<string, unknown>> | undefined
  return {
    name,
    session: conversation === null ? null : `${name} ${conversation}`,
    // Before there were modes, the bare capability meant forms.
    canAskByForm: elicitation !== undefined && ('form' in elicitation || !('url' in elicitation)),
  }
}

/** Ids of a conversation as clients send them: Codex in its turn's metadata; others under these plain names. */
function conversationOf(meta: Readonly<Record<string, unknown>> | undefined): unknown {
  if (meta === undefined) return undefined
  const turn = recordOf(meta['x-codex-turn-metadata'])
  return (
    turn?.['thread_id'] ?? turn?.['session_id'] ?? meta['sessionId'] ?? meta['session_id'] ?? meta['threadId']
  )
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
  if (typeof value !== 'string' || value.length > 10_000) return null
  try {
    return recordOf(JSON.parse(value) as object)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const NAME_MAX_CHARACTERS = 120

/** Text from outside as a name in commits and journals: one line of plain characters. */
function plainName(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const plain = value.replace(/[^\w.:@/-]+/g, '-').slice(0, NAME_MAX_CHARACTERS)
  return /\w/.test(plain) ? plain : null
}
