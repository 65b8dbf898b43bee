import { version } from '../../model/version.ts'
import { oneLine } from '../../review/comment-text.ts'
import { portOf, tokenOf, untilEnded } from '../serving.ts'
import type { Verb } from '../verb.ts'

export const hub: Verb = {
  usage: 'hub [options]',
  summary:
    "Be the server's end of Agent Zero's protocol: hosts connect, and any agent gets text_editor_remote.",
  details:
    "Serves two ports on the loopback interface. Hosts (`galley connect`, or Agent Zero's own) connect to the first; agents reach the second\nover the Model Context Protocol, and find one tool there, text_editor_remote, while a host is connected. Files stay on the host's machine.\nBoth want the token: GALLEY_HUB_TOKEN, or one that is made and printed. It is the password of a host's login. Ctrl-C ends it.",
  examples: [
    ['galley hub', 'any free ports; they are printed'],
    ['galley hub --port 5080 --mcp-port 5081', 'these'],
  ],
  options: (yargs) =>
    yargs
      .option('port', { type: 'number', describe: 'For hosts; default: any that is free' })
      .option('mcp-port', { type: 'number', describe: 'For agents; default: any that is free' }),
  run: async (context, args) => {
    const { terminal, clock, env } = context
    const ports = [portOf(args['port'], '--port'), portOf(args['mcp-port'], '--mcp-port')] as const
    const { token, shown } = tokenOf('GALLEY_HUB_TOKEN', { env, clock })
    const [{ serveHub }, { serveHubTool }] = await Promise.all([
      import('../../remote/hub.ts'),
      import('../../mcp/serve-hub.ts'),
    ])
    const onHosts = (text: string) => terminal.note(`galley: ${oneLine(text)}\n`)
    const hosts = await serveHub({ port: ports[0], token, clock, version, onHosts })
    try {
      const agents = await serveHubTool(
        { isThere: hosts.hasHosts, call: (input, agent) => hosts.call(input, { agent, context: null }) },
        { port: ports[1], token },
      )
      terminal.note(
        `galley: hosts: GALLEY_CONNECT_USER=galley galley connect ${hosts.url} --write   (password: ${shown})\ngalley: agents: ${agents.url}   Authorization: Bearer ${shown}\n`,
      )
      await untilEnded()
      await agents.close()
    } finally {
      await hosts.close()
    }
    return { value: {}, text: '' }
  },
}
