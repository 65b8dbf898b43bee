import { run as runFlow } from '../../flow/run/run.ts'
import type { RunOutcome } from '../../flow/run/run-work.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import { messageOf, messageOption } from '../message.ts'
import { permissionModeOf, permissionModeOption } from '../permission-mode.ts'
import { changeLine, noticesOf } from '../text.ts'
import type { CliContext, Verb } from '../verb.ts'

export const run: Verb = {
  usage: 'run [options] -- <command> [args…]',
  summary: 'Run an agent in a full scratch tree, and capture what it does.',
  details:
    "Runs a command, such as a coding agent, in a full scratch tree at HEAD. Its commits and its uncommitted files become one change; what\nit left running is ended. Your files, refs, stash and configuration stay as they are. `.worktreeinclude` (in the syntax of .gitignore)\nnames ignored files to copy in, and the policy's `setup` command runs first, once for each state of its lock files; what they bring is\nnever part of the change. Ends with the command's own exit code.",
  examples: [
    ['galley run -- claude -p "fix the tests"', 'an agent, and its work as one change'],
    ['galley run -m "Fix the tests" -- ./agent.sh', 'with a title of your own'],
    ['galley run --keep-commits -- ./agent.sh', 'one change for each of its commits, stacked'],
    [
      'galley run --json -- make format',
      'the answer as JSON; what the command prints goes to standard error',
    ],
  ],
  options: (yargs) =>
    yargs
      .option('keep-commits', {
        type: 'boolean',
        default: false,
        describe: 'One change for each commit, each on the one before',
      })
      .option('message', messageOption)
      .option('permission-mode', permissionModeOption)
      .option('with-uncommitted', {
        type: 'boolean',
        default: false,
        describe: 'Bring your uncommitted work into the tree; the change holds only what the command did',
      })
      .option('setup', {
        type: 'boolean',
        default: true,
        describe: "The policy's setup command; --no-setup does without",
      }),
  run: async (context, args) => {
    const command = (args['_'] as readonly unknown[]).map(String)
    if (command.length === 0) throw usageError('which command? galley run -- <command> [args…]')
    if (args['keep-commits'] === true && args['message'] !== undefined)
      throw usageError(
        '-m names one change, and --keep-commits makes one of each commit, with its own message',
      )
    const message = messageOf(args)
    const world = await context.world()
    const outcome = await runFlow(world, {
      command,
      ...message,
      keepsCommits: args['keep-commits'] === true,
      usesSetup: args['setup'] !== false,
      withUncommitted: args['with-uncommitted'] === true,
      ...permissionModeOf(args),
      directory: world.repository.prefix,
      // Standard output is the command's own, unless it is for one JSON value.
      stdio: context.json ? 'stderr' : 'inherit',
      forwardsSignals: true,
    })
    if (!context.json) context.terminal.note(outcomeText(outcome, context))
    const change = outcome.changes.at(-1) ?? null
    return { value: { change, ...outcome }, text: '', exitCode: outcome.exitCode }
  },
}

function outcomeText(outcome: RunOutcome, { terminal }: CliContext): string {
  const changes = outcome.changes.map((c) => `${changeLine(c, terminal)}${noticesOf(c, terminal)}`)
  const notes = outcome.remarks.map((remark) => `note: ${visible(remark)}\n`)
  // Refs stand in the store; what no ref can hold is a folder, named by its whole path.
  const left = outcome.left.map((name) => {
    const place = name.startsWith('refs/') ? ' in .git/galley/store.git' : ''
    return `note: kept for 30 days${place}: ${visible(name)}\n`
  })
  const none = changes.length === 0 ? ['galley: nothing changed\n'] : []
  return [...none, ...changes, ...notes, ...left].join('')
}
