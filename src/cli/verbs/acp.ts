import { execPath } from 'node:process'
import { serveAcp } from '../../acp/serve.ts'
import type { RunOutcome } from '../../flow/run/run-work.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import { permissionModeOf, permissionModeOption } from '../permission-mode.ts'
import { changeLine } from '../text.ts'
import type { CliContext, Verb } from '../verb.ts'

export const acp: Verb = {
  usage: 'acp [options] -- <agent command> [args…]',
  summary: 'Stand between an editor and an agent that speak the Agent Client Protocol.',
  details:
    "An editor starts this in place of the agent, which then works in a tree of galley's; the paths in all messages are changed on the way.\nAt the end of each turn what the agent did is one change: the editor shows its diff in its own prompt, and a yes lands it. Standard input\nand output are the protocol's. It serves the repository of the current directory (or of -C) and no other.",
  examples: [
    ['galley acp -- gemini --acp', 'what an editor runs for Gemini CLI'],
    ['galley acp -- opencode acp', 'and for opencode'],
    ['galley acp --with-uncommitted -- gemini --acp', 'the agent sees your uncommitted work'],
  ],
  options: (yargs) =>
    yargs
      .option('permission-mode', permissionModeOption)
      .option('with-uncommitted', {
        type: 'boolean',
        default: false,
        describe: 'Bring your uncommitted work into the tree; the change holds only what the agent did',
      })
      .option('setup', {
        type: 'boolean',
        default: true,
        describe: "The policy's setup command; --no-setup does without",
      }),
  run: async (context, args) => {
    const command = (args['_'] as readonly unknown[]).map(String)
    if (command.length === 0) throw usageError('which agent? galley acp -- <command> [args…]')
    if (context.json) throw usageError("standard output is the protocol's: there is no --json")
    const world = await context.world()
    const { workTree, prefix } = world.repository
    const { exitCode, runs } = await serveAcp(world, {
      request: {
        command,
        withUncommitted: args['with-uncommitted'] === true,
        usesSetup: args['setup'] !== false,
        ...permissionModeOf(args),
        directory: prefix,
      },
      mcp: { command: execPath, args: [context.program, 'mcp', workTree ?? context.cwd] },
      input: context.stdin,
      output: context.ownStdout(),
      note: (text) => context.terminal.note(`${visible(text)}\n`),
    })
    context.terminal.note(runs.map((run) => outcomeText(run, context)).join(''))
    return { value: {}, text: '', exitCode }
  },
}

function outcomeText({ changes, remarks, left }: RunOutcome, { terminal }: CliContext): string {
  const lines = changes.map((change) => changeLine(change, terminal))
  const notes = remarks.map((remark) => `note: ${visible(remark)}\n`)
  return [...lines, ...notes, ...left.map((name) => `note: kept for 30 days: ${visible(name)}\n`)].join('')
}
