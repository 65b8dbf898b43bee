import { refuseAgents } from '../../flow/approve.ts'
import type { World } from '../../flow/world.ts'
import { refuse } from '../../model/error.ts'
import { usageError } from '../errors.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import type { Answer, CliContext, Verb } from '../verb.ts'
import { waiting } from '../waiting.ts'

export const review: Verb = {
  usage: 'review [id] [options]',
  summary: 'Decide on a change hunk by hunk, then approve and land it, or send it back.',
  details:
    'Shows the hunks on the full screen: y accepts, n rejects with a reason, e edits in your $EDITOR, s splits, c comments, u takes the last\ndecision back, f finishes, ? shows all keys, q leaves. What you decide and write is kept as you go, also when you leave or the terminal\ncloses; nothing is sent before you finish. What is accepted lands as a new revision; rejected hunks and their reasons go to the agent.\nWithout an id: all that waits, oldest first.',
  examples: [
    ['galley review', 'what waits, one change after another'],
    ['galley review g7k2m9', 'this one'],
    ['galley review --watch', 'and what agents propose next'],
    ['galley review --web', 'in the browser: open the address that it prints'],
    ['galley review --plain', 'line by line, as `git add -p` asks: for screen readers'],
  ],
  isPlain: true,
  plainFlags: ['plain', 'watch'],
  options: (yargs) =>
    changeOptions(yargs)
      .option('plain', {
        type: 'boolean',
        default: false,
        describe: 'Line by line, without a full screen; decisions are recorded at the end',
      })
      .option('web', {
        type: 'boolean',
        default: false,
        describe: 'In the browser: prints an address, good for one',
      })
      .option('port', { type: 'number', describe: 'Of --web; default: any that is free' })
      .option('watch', {
        type: 'boolean',
        default: false,
        describe: 'Wait for the next proposal when nothing is left',
      }),
  run: async (context, args) => {
    const isByLines = args['plain'] === true || context.env['TERM'] === 'dumb'
    const view = isByLines || args['web'] === true ? null : import('../review-screen.ts')
    const world = await context.world()
    refuseAgents(world)
    if (args['web'] === true)
      return (await import('../review-web.ts')).reviewInBrowser(context, world, args['port'])
    if (args['port'] !== undefined) throw usageError('--port goes with --web')
    // It starts a git, and is asked for anyway: beside what comes before that.
    void world.identity().catch(() => undefined)
    if (!context.terminal.isInteractive || context.json) refuseWithoutTerminal()
    const isNamed = (args['_'] as readonly unknown[]).length > 0 || args['last'] === true
    const named = isNamed ? [await namedChange(world, args, 'pending')] : null
    if (view === null) return byLines(world, context, named)
    const { reviewOnFullScreen } = await view
    return reviewOnFullScreen(world, context, { named, isWatching: args['watch'] === true })
  },
}

async function byLines(world: World, context: CliContext, named: readonly string[] | null): Promise<Answer> {
  const ids = named ?? (await waiting(world))
  if (ids.length === 0) return { value: {}, text: 'Nothing waits for a decision.\n' }
  const { reviewByLines } = await import('../review-lines.ts')
  await reviewByLines(world, context, ids)
  return { value: {}, text: '' }
}

function refuseWithoutTerminal(): never {
  const hint =
    'Look with `galley show <id>`; then `galley approve <id> --digest <digest>`, `galley comment <id> --hunk <n> -m <text>` or `galley reject <id> -m <why>`.'
  refuse('usage', 'a review asks at a terminal, and there is none', {}, hint)
}
