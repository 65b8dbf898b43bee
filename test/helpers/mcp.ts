import { PassThrough } from 'node:stream'
import { Client, type ElicitResult, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { openWorld } from '../../src/flow/world.ts'
import { serveStdio } from '../../src/mcp/serve.ts'
import type { DialectName } from '../../src/model/batch.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { builtProgram } from './galley.ts'
import type { TestRepo } from './repo.ts'

/** The two wires that the protocol has had: with a handshake, and with everything in each request. */
export const eras = ['2025', '2026'] as const
export type Era = (typeof eras)[number]

export interface ClientOptions {
  readonly era?: Era
  /** What the person before the client says; left out: this client cannot ask. */
  readonly person?: (message: string) => ElicitResult | Promise<ElicitResult>
  readonly adapter?: DialectName
  /** Default: that of the repository. */
  readonly directories?: readonly string[]
  readonly name?: string
}

/** What a call gave: the text that one half of the clients shows, and the value that the other half does. */
export interface Given {
  readonly isError: boolean
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly value: any
  readonly links: readonly string[]
}

/** A server in this process, and its two ends as a client sees them. */
export function serveHere(repo: TestRepo, options: Pick<ClientOptions, 'adapter' | 'directories'> = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const served = serveStdio({
    directories: options.directories ?? [repo.dir],
    open: (directory) => openWorld(directory, { env: repo.env, clock: systemClock }),
    clock: systemClock,
    adapter: options.adapter ?? null,
    input,
    output,
  })
  return { input, output, served }
}

/** The official client on a server in this process; both end with the scope. */
export async function connectHere(repo: TestRepo, options: ClientOptions = {}) {
  const { input, output, served } = serveHere(repo, options)
  const client = await connect(new StreamTransport(input, output), options)
  return asTool(client, async () => {
    await client.close()
    await served
  })
}

/** The official client on the command as it was built. */
export async function connectBuilt(
  repo: TestRepo,
  options: ClientOptions & { readonly args?: readonly string[] } = {},
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [builtProgram, '-C', repo.dir, 'mcp', ...(options.args ?? [])],
    env: { ...repo.env },
    stderr: 'pipe',
  })
  const client = await connect(transport, options)
  return asTool(client, () => client.close())
}

async function connect(transport: Transport, { era = '2026', person, name = 'test-client' }: ClientOptions) {
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: person === undefined ? {} : { elicitation: { form: {} } },
      ...(era === '2026' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  )
  if (person !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => person(String(params.message)))
  await client.connect(transport)
  return client
}

function asTool(client: Client, end: () => Promise<void>) {
  const call = async (name: string, input: object = {}): Promise<Given> => {
    const given = await client.callTool({ name, arguments: input as Record<string, unknown> })
    return givenOf(given)
  }
  return { client, call, [Symbol.asyncDispose]: end }
}

/** A result of any of the clients. */
export function givenOf(given: {
  readonly isError?: unknown
  readonly content?: unknown
  readonly structuredContent?: unknown
}): Given {
  const content = given.content as readonly {
    readonly type: string
    readonly text?: string
    readonly uri?: string
  }[]
  return {
    isError: given.isError === true,
    text: content
      .flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
      .join('\n'),
    value: given.structuredContent,
    links: content.flatMap(({ type, uri }) => (type === 'resource_link' && uri !== undefined ? [uri] : [])),
  }
}

export const yes = (): ElicitResult => ({ action: 'accept', content: { decision: 'approve' } })

/** A client's end of two streams in this process. */
class StreamTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #toServer: PassThrough
  readonly #fromServer: PassThrough
  #rest = ''

  constructor(toServer: PassThrough, fromServer: PassThrough) {
    this.#toServer = toServer
    this.#fromServer = fromServer
  }

  async start(): Promise<void> {
    this.#fromServer.setEncoding('utf8')
    this.#fromServer.on('data', (text: string) => {
      const lines = `${this.#rest}${text}`.split('\n')
      this.#rest = lines.pop() ?? ''
      for (const line of lines) this.onmessage?.(JSON.parse(line) as JSONRPCMessage)
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#toServer.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#toServer.end()
    this.onclose?.()
  }
}
