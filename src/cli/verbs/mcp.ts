import { resolve } from 'node:path'
import { adapterNames } from '../../mcp/adapter-forms.ts'
import { type McpOptions, serveOverHttp, serveStdio } from '../../mcp/serve.ts'
import type { DialectName } from '../../model/batch.ts'
import { usageError } from '../errors.ts'
import { portOf, tokenOf, untilEnded } from '../serving.ts'
import type { Answer, Arguments, CliContext, Verb } from '../verb.ts'

export const mcp: Verb = {
  usage: 'mcp [directory…] [options]',
  summary: 'Serve agents over the Model Context Protocol, on standard input and output.',
  details:
    'Serves agents over the Model Context Protocol (MCP): they read, propose, wait and land through the gate. Clients start this by\nthemselves; see the README for the block that each one takes. It works in the repositories of the directories named (default: the\ncurrent one) and below them, and nowhere else.\n\nWith --http it serves on the loopback interface, to whoever brings the token: GALLEY_MCP_TOKEN, or one that is made and printed.',
  examples: [
    ['galley mcp', 'what a client runs'],
    ['galley mcp ~/a ~/b', 'two repositories in one server; each call names its own'],
    ['galley mcp --tools codex', "Codex's apply_patch, through the gate"],
    ['galley mcp --http --port 4711', 'over HTTP; the token is printed'],
  ],
  options: (yargs) =>
    yargs
      .option('tools', {
        choices: adapterNames,
        describe: "Offer this system's own editing tools too, through the gate",
      })
      .option('http', { type: 'boolean', default: false, describe: 'Serve over HTTP, on 127.0.0.1' })
      .option('port', { type: 'number', describe: 'Of --http; default: any that is free' }),
  run: async (context, args) => {
    const named = args['_'] as readonly string[]
    const options: McpOptions = {
      directories: (named.length === 0 ? ['.'] : named).map((word) => resolve(context.cwd, word)),
      open: context.open,
      clock: context.clock,
      adapter: (args['tools'] as DialectName | undefined) ?? null,
      conversation: context.env['CLAUDE_CODE_SESSION_ID'],
    }
    if (options.adapter !== null && options.directories.length > 1)
      throw usageError('--tools goes with one directory: the tools of other systems name no repository')
    if (args['http'] === true) return serveHttp(context, args, options)
    if (args['port'] !== undefined) throw usageError('--port goes with --http')
    await serveStdio({ ...options, input: context.stdin, output: context.ownStdout() })
    return { value: {}, text: '' }
  },
}

async function serveHttp(context: CliContext, args: Arguments, options: McpOptions): Promise<Answer> {
  const port = portOf(args['port'], '--port')
  const { token, shown } = tokenOf('GALLEY_MCP_TOKEN', context)
  const serving = await serveOverHttp({ ...options, port, token })
  context.terminal.note(`galley: ${serving.url}\ngalley: Authorization: Bearer ${shown}\n`)
  await untilEnded()
  await serving.close()
  return { value: {}, text: '' }
}
