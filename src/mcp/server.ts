import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { GalleyError } from '../model/error.ts'
import { refusalOf } from '../model/refusal-of.ts'
import { version } from '../model/version.ts'
import { approvalForm, QUESTION } from './answered.ts'
import { callerOf } from './caller.ts'
import { inputFault, listedTool } from './listed-tool.ts'
import { listDiffs, readDiff, templates } from './resources.ts'
import { refusedAnswer, resultOf } from './result.ts'
import type { McpHost, Tool } from './tool.ts'
import { toolsOf } from './tools.ts'

const INSTRUCTIONS = `galley is the gate between you and this Git repository. read_file reads; propose_edits stages your edits as one change, and nothing of the user's moves; a person (or a rule of theirs) approves exactly those bytes; land_change lands what is approved; undo_change stages an inverse. Put edits that belong together into one call. Every answer says what to do next. A refusal carries the data that repairs the call.`

/** Makes a server for one connection, or for one request, of either protocol. */
export function makeServer(host: McpHost, processName: string | null): Server {
  const server = new Server(
    { name: 'galley', title: 'galley', version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      requestState: { verify: (text, context) => host.states.verify(text, context) },
    },
  )
  const tools = toolsOf(host.adapter)
  const byName = new Map(tools.map((each) => [each.name, each]))
  const callerIn = (context: ServerContext) =>
    callerOf(
      context,
      { info: server.getClientVersion(), capabilities: server.getClientCapabilities() },
      processName,
    )
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(listedTool) }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const called = byName.get(params.name)
    if (called === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 128)}`)
    return callTool(host, called, params.arguments ?? {}, { context, caller: callerIn(context) })
  })
  server.setRequestHandler('resources/list', async () => ({ resources: await listDiffs(host) }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: templates }))
  server.setRequestHandler('resources/read', async ({ params }) => ({
    contents: [await readDiff(host, params.uri)],
  }))
  return server
}

async function callTool(
  host: McpHost,
  called: Tool,
  given: unknown,
  who: { readonly context: ServerContext; readonly caller: ReturnType<typeof callerOf> },
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const parsed = called.input.safeParse(given)
    if (!parsed.success) throw new GalleyError(inputFault(called.name, parsed.error))
    const input = parsed.data as Readonly<Record<string, unknown>>
    const named = typeof input['repository'] === 'string' ? input['repository'] : undefined
    const outcome = await called.run({ ...who, input, host, use: (verb) => host.places.use(named, verb) })
    if (!('kind' in outcome)) return resultOf(outcome)
    return inputRequired({
      inputRequests: { [QUESTION]: approvalForm(outcome.message) },
      requestState: await host.states.mint(outcome.state, who.context),
    })
  } catch (error) {
    return resultOf(refusedAnswer(refusalOf(error)))
  }
}
