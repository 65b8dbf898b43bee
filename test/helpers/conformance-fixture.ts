import {
  type CreateMessageRequestParams,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'

/**
 * What the conformance runner calls by name: tools, prompts and resources that exist for it alone. They stand on the HTTP handler, the checks
 * of each request and the signed state that galley's own tools stand on.
 */

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const state = createRequestStateCodec<{ readonly round: number }>({
  key: new Uint8Array(32).fill(7),
  bind: ({ mcpReq }) => mcpReq.method,
})

const text = (said: string) => ({ type: 'text' as const, text: said })
const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, said: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: said },
})

const form = (
  message: string,
  properties: ElicitRequestFormParams['requestedSchema']['properties'],
  required: string[] = [],
) => inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } })
const question = (said: string, maxTokens = 100): CreateMessageRequestParams => ({
  messages: [{ role: 'user', content: text(said) }],
  maxTokens,
})

const answersOf = ({ mcpReq }: ServerContext) =>
  (mcpReq.inputResponses ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Asks until every question has its answer. */
async function asked(
  context: ServerContext,
  inputRequests: Readonly<Record<string, InputRequest>>,
  done: (answers: ReturnType<typeof answersOf>) => string,
  round?: number,
): Promise<object> {
  const answers = answersOf(context)
  if (Object.keys(inputRequests).every((key) => answers[key] !== undefined))
    return { content: [text(done(answers))] }
  return ask(context, inputRequests, round)
}

const ask = async (
  context: ServerContext,
  inputRequests: Readonly<Record<string, InputRequest>>,
  round?: number,
): Promise<InputRequiredResult> =>
  inputRequired({
    inputRequests,
    ...(round === undefined ? {} : { requestState: await state.mint({ round }, context) }),
  })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const confirm = { confirm: form('Please confirm', { ok: { type: 'boolean' } }, ['ok']) }
const name = { user_name: form('What is your name?', { name: { type: 'string' } }, ['name']) }

const titled = (word: string) =>
  ['First', 'Second', 'Third'].map((nth, i) => ({ const: `value${i + 1}`, title: `${nth} ${word}` }))
const options = ['option1', 'option2', 'option3']

const sentWith = ({ mcpReq }: ServerContext) =>
  ({ ...mcpReq._meta, ...mcpReq.envelope }) as Readonly<Record<string, object | undefined>>

type FixtureTool = (
  context: ServerContext,
  input: Readonly<Record<string, unknown>>,
) => Promise<object> | object

const tools: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: () => ({ content: [text('This is a simple text response for testing.')] }),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => ({
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  }),
  test_tool_with_logging: async ({ mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
      await pause(50)
    }
    return { content: [text('Tool with logging executed successfully')] }
  },
  test_tool_with_progress: async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken: progressToken ?? 0, progress, total: 100 }
      await mcpReq.notify({ method: 'notifications/progress', params })
      await pause(50)
    }
    return { content: [text(String(progressToken))] }
  },
  test_sampling: (context, { prompt }) =>
    asked(
      context,
      { answer: inputRequired.createMessage(question(String(prompt))) },
      ({ answer }) => `LLM response: ${JSON.stringify(answer?.['content'])}`,
    ),
  test_elicitation: (context, { message }) =>
    asked(
      context,
      { answer: form(String(message), { response: { type: 'string' } }, ['response']) },
      ({ answer }) =>
        `User response: action=${answer?.['action']}, content=${JSON.stringify(answer?.['content'] ?? {})}`,
    ),
  test_elicitation_sep1034_defaults: (context) =>
    asked(
      context,
      {
        answer: form('Please review', {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        }),
      },
      completed,
    ),
  test_elicitation_sep1330_enums: (context) =>
    asked(
      context,
      {
        answer: form('Please select', {
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled('Option') },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
        }),
      },
      completed,
    ),
  test_missing_capability: (context) =>
    ask(context, { answer: inputRequired.createMessage(question('Anything?')) }),
  test_streaming_elicitation: async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken
    if (progressToken !== undefined)
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 1 },
      })
    return asked(context, confirm, () => 'confirmed')
  },
  test_logging_tool: async (context) => {
    // Logs go to whoever asked for them with this very request.
    if (sentWith(context)['io.modelcontextprotocol/logLevel'] !== undefined)
      await context.mcpReq.notify({
        method: 'notifications/message',
        params: { level: 'info', data: 'logged' },
      })
    return { content: [text('done')] }
  },
  test_input_required_result_elicitation: (context) =>
    asked(context, name, ({ user_name }) => `Hello, ${JSON.stringify(user_name?.['content'])}`),
  test_input_required_result_sampling: (context) =>
    asked(
      context,
      { capital_question: inputRequired.createMessage(question('What is the capital of France?')) },
      ({ capital_question }) => JSON.stringify(capital_question),
    ),
  test_input_required_result_list_roots: (context) =>
    asked(context, { client_roots: inputRequired.listRoots() }, ({ client_roots }) =>
      JSON.stringify(client_roots),
    ),
  test_input_required_result_request_state: (context) => asked(context, confirm, () => 'state-ok', 1),
  test_input_required_result_tampered_state: (context) => asked(context, confirm, () => 'state-ok', 1),
  test_input_required_result_multiple_inputs: (context) =>
    asked(
      context,
      {
        ...name,
        greeting: inputRequired.createMessage(question('Generate a greeting', 50)),
        client_roots: inputRequired.listRoots(),
      },
      (answers) => JSON.stringify(answers),
      1,
    ),
  test_input_required_result_multi_round: (context) => {
    const round = context.mcpReq.requestState<{ readonly round: number }>()?.round ?? 0
    if (round === 0) return ask(context, { step1: form('Name?', { name: { type: 'string' } }, ['name']) }, 1)
    if (round === 1)
      return ask(context, { step2: form('Colour?', { color: { type: 'string' } }, ['color']) }, 2)
    return { content: [text('all rounds done')] }
  },
  test_input_required_result_capabilities: (context) => {
    const declared = sentWith(context)['io.modelcontextprotocol/clientCapabilities'] ?? {}
    const all = {
      ...('elicitation' in declared ? name : {}),
      ...('sampling' in declared ? { greeting: inputRequired.createMessage(question('Hi')) } : {}),
    }
    return asked(context, all, () => 'done')
  },
}

function completed({ answer }: ReturnType<typeof answersOf>): string {
  return `Elicitation completed: action=${answer?.['action']}, content=${JSON.stringify(answer?.['content'] ?? {})}`
}

const message = (content: object) => ({ role: 'user', content })

const prompts: Readonly<Record<string, FixtureTool>> = {
  test_simple_prompt: () => ({ messages: [message(text('This is a simple prompt for testing.'))] }),
  test_prompt_with_arguments: (_, { arg1, arg2 }) => ({
    messages: [message(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  }),
  test_prompt_with_embedded_resource: (_, { resourceUri }) => ({
    messages: [
      message(resource(String(resourceUri), 'text/plain', 'Embedded resource content for testing.')),
      message(text('Please process the embedded resource above.')),
    ],
  }),
  test_prompt_with_image: () => ({
    messages: [message(image), message(text('Please analyze the image above.'))],
  }),
  test_input_required_result_prompt: (context) => {
    const { user_context } = answersOf(context)
    return user_context === undefined
      ? ask(context, { user_context: form('Context?', { context: { type: 'string' } }, ['context']) })
      : { messages: [message(text(JSON.stringify(user_context['content'])))] }
  },
}

const promptArguments: Readonly<Record<string, readonly string[]>> = {
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
}

function contentsOf(uri: string): object {
  const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1]
  if (id !== undefined)
    return {
      uri,
      mimeType: 'application/json',
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }
  if (uri === 'test://static-text')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PIXEL }
  if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: 'watched' }
  throw new ResourceNotFoundError(uri)
}

/** A server with all of it. */
export function fixtureServer(): Server {
  const server = new Server(
    { name: 'conformance-fixture', version: '1' },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
      requestState: { verify: (given, context) => state.verify(given, context) },
    },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((tool) => ({
      name: tool,
      description: tool.replaceAll('_', ' '),
      inputSchema: { type: 'object' as const, properties: {} },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const called = tools[params.name]
    if (called === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
    return (await called(context, params.arguments ?? {})) as never
  })
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.keys(prompts).map((prompt) => ({
      name: prompt,
      description: prompt.replaceAll('_', ' '),
      arguments: (promptArguments[prompt] ?? []).map((argument) => ({
        name: argument,
        description: argument,
        required: true,
      })),
    })),
  }))
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    const got = prompts[params.name]
    if (got === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${params.name}`)
    return (await got(context, params.arguments ?? {})) as never
  })
  server.setRequestHandler('resources/list', () => ({
    resources: ['static-text', 'static-binary', 'watched-resource'].map((resourceName) => ({
      uri: `test://${resourceName}`,
      name: resourceName,
      description: resourceName,
      mimeType: resourceName === 'static-binary' ? 'image/png' : 'text/plain',
    })),
  }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
    ],
  }))
  server.setRequestHandler(
    'resources/read',
    ({ params }) => ({ contents: [contentsOf(params.uri)] }) as never,
  )
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }))
  return server
}
