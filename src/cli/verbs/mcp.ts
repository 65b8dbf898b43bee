import { resolve } from 'node:path'
import { serveStdio } from '../../mcp/serve.ts'
import type { Verb } from '../verb.ts'

export const mcp: Verb = {
  usage: 'mcp [directory…] [options]',
  summary: 'Serve agents over the Model Context Protocol, on standard input and output.',
  details:
    'Serves agents over the Model Context Protocol (MCP): they read, propose, wait and land through the gate. Clients start this by\nthemselves; see the README for the block that each one takes. It works in the repositories of the directories named (default: the\ncurrent one) and below them, and nowhere else.',
  examples: [
    ['galley mcp', 'what a client runs'],
    ['galley mcp ~/a ~/b', 'two repositories in one server; each call names its own'],
  ],
  options: (yargs) => yargs,
  run: async (context, args) => {
    const named = args['_'] as readonly string[]
    const directories = (named.length === 0 ? ['.'] : named).map((word) => resolve(context.cwd, word))
    await serveStdio({
      directories,
      open: context.open,
      clock: context.clock,
      adapter: null,
      input: context.stdin,
      output: context.ownStdout(),
    })
    return { value: {}, text: '' }
  },
}
