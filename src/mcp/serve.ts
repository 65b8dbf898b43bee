import { createRequestStateCodec } from '@modelcontextprotocol/server'
import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio'
import { openPlaces } from '../flow/places.ts'
import type { World } from '../flow/world.ts'
import type { DialectName } from '../model/batch.ts'
import { makeServer } from './server.ts'
import { StdioTransport, type Streams } from './stdio-transport.ts'
import type { McpHost, RoundState } from './tool.ts'

export interface McpOptions {
  /** Absolute paths: the repositories of these, and those below them. */
  readonly directories: readonly string[]
  readonly open: (directory: string) => Promise<World>
  readonly clock: World['clock']
  readonly adapter: DialectName | null
  /** The conversation that this process serves, where its client says so to the programs that it starts. */
  readonly conversation?: string | undefined
}

/** How long a repository that nobody uses stays open. */
const IDLE_MS = 5_000

/** What one server process holds for all its clients. */
export function makeHost({ directories, open, clock, adapter, conversation }: McpOptions): McpHost {
  return {
    places: openPlaces({ directories, open, idleMs: IDLE_MS }),
    clock,
    adapter,
    processName: conversation ?? Buffer.from(clock.random(6)).toString('hex'),
    // The key lives as long as the process: a question of an earlier one is no question any more.
    states: createRequestStateCodec<RoundState>({
      key: clock.random(32),
      bind: ({ mcpReq }) => mcpReq.method,
    }),
  }
}

/** Serves one client over two streams until it closes them; what runs by then is run to its end. */
export async function serveStdio(options: McpOptions & Streams): Promise<void> {
  const host = makeHost(options)
  const transport = new StdioTransport(options)
  await new Promise<void>((resolve) => {
    options.input.once('end', resolve)
    options.input.once('close', resolve)
    options.output.once('error', () => resolve())
    serveConnection(() => makeServer(host, host.processName), { transport })
  })
  await host.places.close()
}

export interface ServedHttp {
  readonly url: string
  readonly close: () => Promise<void>
}

/**
 * Serves many clients over HTTP, on the loopback interface. One process, many conversations: an agent's session is known there only where
 * its client names the conversation, or has a session of the protocol before 2026.
 */
export async function serveOverHttp(
  options: McpOptions & { readonly port: number; readonly token: string },
): Promise<ServedHttp> {
  const { httpHandler } = await import('./http-handler.ts')
  const { serveHttp } = await import('./serve-http.ts')
  const host = makeHost(options)
  const { port, token, clock } = options
  const handler = httpHandler({
    perRequest: () => makeServer(host, null),
    sessions: {
      make: (name) => makeServer(host, name),
      random: () => Buffer.from(clock.random(18)).toString('hex'),
    },
  })
  const serving = await serveHttp({ port, token, handler })
  return {
    url: serving.url,
    close: async () => {
      await serving.close()
      await host.places.close()
    },
  }
}
