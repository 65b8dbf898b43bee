import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool as ToolListing,
} from '@modelcontextprotocol/server'
import { version } from '../model/version.ts'
import { adapterForms } from './adapter-forms.ts'
import { callerOf } from './caller.ts'
import { httpHandler } from './http-handler.ts'
import { resultOf } from './result.ts'
import type { ServedHttp } from './serve.ts'
import { serveHttp } from './serve-http.ts'

/** The one tool of a hub, as the part that speaks with hosts offers it. */
export interface HubTool {
  /** The tool is listed only while a host is there to answer it. */
  readonly isThere: () => boolean
  readonly call: (
    input: Readonly<Record<string, unknown>>,
    agent: string,
  ) => Promise<{
    readonly isRefused: boolean
    readonly text: string
    readonly value: Readonly<Record<string, unknown>>
  }>
}

const TOOL = 'text_editor_remote'

/** Offers a hub's tool to agents over HTTP, on the loopback interface. @throws GalleyError `io-error`, where the port cannot be had. */
export async function serveHubTool(
  tool: HubTool,
  { port, token }: { readonly port: number; readonly token: string },
): Promise<ServedHttp> {
  return serveHttp({
    port,
    token,
    handler: httpHandler({ perRequest: () => hubServer(tool), sessions: null }),
  })
}

function hubServer({ isThere, call }: HubTool): Server {
  const server = new Server(
    { name: 'galley-hub', title: 'galley hub', version },
    {
      capabilities: { tools: {} },
      instructions: `${TOOL} reads and edits files on the machine of a connected host.`,
    },
  )
  const form = adapterForms['agent-zero']?.find(({ name }) => name === TOOL)
  server.setRequestHandler('tools/list', () => ({
    tools:
      form === undefined || !isThere()
        ? []
        : [
            {
              name: TOOL,
              title: TOOL,
              description: form.description,
              inputSchema: {
                type: 'object',
                properties: form.properties,
                required: form.required,
              } as ToolListing['inputSchema'],
              annotations: { title: TOOL, readOnlyHint: false, destructiveHint: false, openWorldHint: false },
            },
          ],
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    if (params.name !== TOOL)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 128)}`)
    const said = { info: server.getClientVersion(), capabilities: server.getClientCapabilities() }
    const caller = callerOf(context, said, null)
    const { isRefused, text, value } = await call(params.arguments ?? {}, caller.session ?? caller.name)
    return resultOf({ isRefused, message: text, next: '', value })
  })
  return server
}
