import { errorCode } from '../model/errno.ts'
import { type Conversation, converse } from '../sys/conversation.ts'

export interface ServerToProbe {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
}

export type Probed =
  | { readonly kind: 'answers'; readonly tools: readonly string[] }
  | { readonly kind: 'silent'; readonly why: string }

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'galley-doctor', version: '1' },
  },
}

/** Starts a client's server as the client would, greets it, and asks what it offers. */
export async function probeServer({ command, args, cwd, env, timeoutMs }: ServerToProbe): Promise<Probed> {
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const server = converse({ file: command, args, cwd, env: Object.fromEntries(given) })
  const late = new Promise<Probed>((resolve) => {
    setTimeout(
      () => resolve({ kind: 'silent', why: `no answer within ${timeoutMs / 1000} seconds` }),
      timeoutMs,
    ).unref()
  })
  try {
    return await Promise.race([greet(server), late])
  } catch (error) {
    const why = errorCode(error) === 'ENOENT' ? `there is no program ${command}` : messageOf(error)
    return { kind: 'silent', why }
  } finally {
    server.kill()
  }
}

async function greet(server: Conversation): Promise<Probed> {
  server.write(`${JSON.stringify(initialize)}\n`)
  await answerTo(server, 1)
  server.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  server.write('{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n')
  const { tools = [] } = (await answerTo(server, 2)) as {
    readonly tools?: readonly { readonly name: string }[]
  }
  return { kind: 'answers', tools: tools.map(({ name }) => name) }
}

async function answerTo(server: Conversation, id: number): Promise<unknown> {
  for (;;) {
    const said = JSON.parse(await server.readLine()) as { readonly id?: unknown; readonly result?: unknown }
    if (said.id === id) return said.result ?? {}
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message.slice(0, 300) : String(error)
