import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'

/** One tool call that the model makes. */
export interface ModelCall {
  readonly name: string
  readonly input: object
}

/** One answer of the model, made of all that the conversation holds by then. No calls = the session ends. */
export type Turn = (conversation: string) => readonly ModelCall[]

// biome-ignore lint/suspicious/noExplicitAny: requests of four protocols, as they come
type Json = any

/**
 * A model on loopback that says what a script tells it to, in the protocols of Claude Code, Codex, Gemini CLI and opencode: so that a real
 * client runs offline. Requests that offer few tools (titles, summaries) use up no turn.
 */
export async function startModel(script: readonly Turn[]) {
  let next = 0
  const conversations: string[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    const source = await readText(request)
    const body: Json = source === '' ? {} : JSON.parse(source)
    const wire = wires.find(({ pattern }) => pattern.test(path))
    if (request.method !== 'POST' || wire === undefined)
      return json(response, { object: 'list', data: [], models: [] })
    if (/count_?tokens/i.test(path)) return json(response, { input_tokens: 1, totalTokens: 1 })
    const isSide = wire.countTools(body) <= 2
    const conversation = strings(body).join('\n')
    if (!isSide) conversations.push(conversation)
    const turn = isSide ? undefined : script[next++]
    const calls = (turn?.(conversation) ?? []).map((call, index) => ({
      ...call,
      id: `call_${next}_${index}`,
    }))
    wire.answer(response, calls, { path, body })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What the client told the model, request by request, whole conversations. */
    conversations,
    left: () => script.length - next,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Said extends ModelCall {
  readonly id: string
}

interface Wire {
  readonly pattern: RegExp
  readonly countTools: (body: Json) => number
  readonly answer: (
    response: ServerResponse,
    calls: readonly Said[],
    asked: { path: string; body: Json },
  ) => void
}

const DONE = 'done'

const anthropic: Wire = {
  pattern: /\/v1\/messages(\/count_tokens)?$/,
  countTools: ({ tools = [] }) => tools.length,
  answer(response, calls, { body }) {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const stop = { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model, usage }
    const content = calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))
    const blocks = content.length > 0 ? content : [{ type: 'text', text: DONE }]
    if (body.stream !== true) return json(response, { ...message, content: blocks, ...stop })
    const event = events(response)
    event('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null } })
    for (const [index, block] of blocks.entries()) {
      const isCall = 'input' in block
      event('content_block_start', {
        index,
        content_block: isCall ? { ...block, input: {} } : { ...block, text: '' },
      })
      const delta = isCall
        ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
        : { type: 'text_delta', text: DONE }
      event('content_block_delta', { index, delta })
      event('content_block_stop', { index })
    }
    event('message_delta', { delta: stop, usage: { output_tokens: 1 } })
    event('message_stop', {})
    response.end()
  },
}

const responses: Wire = {
  pattern: /\/responses$/,
  countTools: ({ tools = [] }) => tools.length,
  answer(response, calls) {
    const items = calls.map(({ id, name, input }) => {
      const [tool, namespace] = name.split('.').reverse()
      const head = { type: 'function_call', id: `i_${id}`, call_id: id, status: 'completed' }
      return { ...head, name: tool, namespace, arguments: JSON.stringify(input) }
    })
    const said = {
      type: 'message',
      id: 'm_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: DONE }],
    }
    const output = items.length > 0 ? items : [said]
    const usage = {
      input_tokens: 1,
      input_tokens_details: null,
      output_tokens: 1,
      output_tokens_details: null,
      total_tokens: 2,
    }
    const event = events(response)
    event('response.created', { response: { id: 'resp_1' } })
    for (const [output_index, item] of output.entries())
      event('response.output_item.done', { output_index, item })
    event('response.completed', {
      response: { id: 'resp_1', object: 'response', status: 'completed', output, usage },
    })
    response.end()
  },
}

const gemini: Wire = {
  pattern: /:(generateContent|streamGenerateContent|countTokens)$/,
  countTools: ({ tools = [] }) => tools.flatMap((tool: Json) => tool.functionDeclarations ?? []).length,
  answer(response, calls, { path }) {
    const made = calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }))
    const parts = made.length > 0 ? made : [{ text: DONE }]
    const said = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }
    if (!path.endsWith(':streamGenerateContent')) return json(response, said)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify(said)}\n\n`)
  },
}

const chat: Wire = {
  pattern: /\/chat\/completions$/,
  countTools: ({ tools = [] }) => tools.length,
  answer(response, calls, { body }) {
    const tool_calls = calls.map(({ id, name, input }, index) => {
      return { index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
    })
    const message = {
      role: 'assistant',
      ...(calls.length > 0 ? { content: null, tool_calls } : { content: DONE }),
    }
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
    const head = { id: 'chat_1', created: 1, model: body.model }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    if (body.stream !== true)
      return json(response, {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = (choice: object, more = {}) =>
      response.write(
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}\n\n`,
      )
    chunk({ delta: message, finish_reason: null })
    chunk({ delta: {}, finish_reason }, { usage })
    response.end('data: [DONE]\n\n')
  },
}

const wires = [anthropic, responses, gemini, chat]

/** A named event whose data repeats the name: Anthropic's and OpenAI's streams alike. */
function events(response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}
