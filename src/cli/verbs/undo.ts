import { refuseAgents } from '../../flow/approve.ts'
import { readPairs } from '../../flow/show.ts'
import { undo as undoFlow } from '../../flow/undo.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { changeLine, diffText, noticesOf } from '../text.ts'
import type { Verb } from '../verb.ts'
import { approveAndLand } from './apply.ts'

export const undo: Verb = {
  usage: 'undo <change|commit> [options]',
  summary:
    'Stage the inverse of a landed change or any commit as a new change; with --yes approve and land it.',
  details:
    'Stages the inverse of a landed change, or of any commit in the branch, as a new change: later edits elsewhere in the same files stay,\nand no branch moves backwards. At a terminal it is shown and asked for; with --yes it is approved in your name and landed.',
  examples: [
    ['galley undo g7k2m9', 'take a landed change back'],
    ['galley undo g7k2m9 --yes', 'approve and land the revert at once'],
    ['galley undo HEAD~3', 'revert a commit that galley did not make'],
  ],
  isPlain: true,
  options: (yargs) =>
    changeOptions(yargs)
      .option('yes', {
        alias: 'y',
        type: 'boolean',
        default: false,
        describe: 'Approve in your name and land',
      })
      .option('mainline', {
        type: 'number',
        describe: 'Of a merge commit: the parent to go back to, from 1',
      }),
  run: async (context, args) => {
    const world = await context.world()
    if (args['yes'] === true) refuseAgents(world)
    const mainline = args['mainline'] === undefined ? {} : { mainline: Number(args['mainline']) }
    const { change } = await undoFlow(world, {
      target: await namedChange(world, args, 'landed'),
      ...mainline,
    })
    if (args['yes'] === true || context.terminal.isInteractive)
      return approveAndLand(world, context, change, args['yes'] === true)
    if (context.json) return { value: { change }, text: '' }
    const diff = diffText(await readPairs(world, change.id), context.terminal)
    return {
      value: { change },
      text: `${changeLine(change, context.terminal)}${noticesOf(change, context.terminal)}\n${diff}`,
    }
  },
}
