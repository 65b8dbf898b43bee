import type { Readable, Writable } from 'node:stream'
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import { LineScanner } from '../intake/line-scanner.ts'
import { MESSAGE_MAX_BYTES, MESSAGE_MAX_DEPTH } from '../intake/message-limits.ts'

export interface Streams {
  readonly input: Readable
  readonly output: Writable
}

/**
 * The protocol over two streams, a message a line. Whatever comes in, the connection stays: what is too large, nested too deeply, no JSON,
 * or no message is answered with an error.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #streams: Streams
  readonly #scanner = new LineScanner({ lineMaxBytes: MESSAGE_MAX_BYTES, maxDepth: MESSAGE_MAX_DEPTH })
  #isClosed = false

  constructor(streams: Streams) {
    this.#streams = streams
  }

  async start(): Promise<void> {
    const { input, output } = this.#streams
    const end = () => void this.close()
    input.on('data', (chunk: Buffer) => this.#take(chunk))
    input.on('end', end)
    input.on('close', end)
    input.on('error', end)
    // A client that has gone away reads nothing any more: what runs goes on to its end, and says nothing.
    output.on('error', end)
  }

  #take(chunk: Buffer): void {
    for (const line of this.#scanner.feed(chunk)) {
      if (this.#isClosed) return
      if (line.kind === 'refused') {
        const what =
          line.reason === 'too-large'
            ? `too-large: the message has more than ${MESSAGE_MAX_BYTES} bytes`
            : `invalid-json: the message is nested more than ${MESSAGE_MAX_DEPTH} levels deep`
        this.#complain(INVALID_REQUEST, what, line.id)
        continue
      }
      this.#read(line.text)
    }
  }

  #read(text: string): void {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      this.#complain(PARSE_ERROR, 'invalid-json: the line is not JSON', null)
      return
    }
    let message: JSONRPCMessage
    try {
      message = parseJSONRPCMessage(value)
    } catch {
      this.#complain(INVALID_REQUEST, 'the line is no JSON-RPC message', idOf(value))
      return
    }
    this.onmessage?.(message)
  }

  #complain(code: number, message: string, id: string | number | null): void {
    this.#write({ jsonrpc: '2.0', id, error: { code, message } })
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#write(message)
    return Promise.resolve()
  }

  #write(message: object): void {
    if (!this.#isClosed) this.#streams.output.write(`${JSON.stringify(message)}\n`)
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      this.#streams.input.pause()
      this.onclose?.()
    }
    return Promise.resolve()
  }
}

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

function idOf(value: unknown): string | number | null {
  const id = (value as { readonly id?: unknown } | null)?.id
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
