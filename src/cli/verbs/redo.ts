import { refuseAgents, yesBeforehand } from '../../flow/approve.ts'
import { previewRedo, redo as redoFlow } from '../../flow/undo/redo.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import type { Verb } from '../verb.ts'
import { previewAnswer, stagedAnswer, undoOptions } from './undo.ts'

export const redo: Verb = {
  usage: 'redo <change|commit> [options]',
  summary: 'Bring back what was undone, as a new change; with --yes approve and land it.',
  details:
    'Undoes an undo, as a new change through the same gate. Name the change that was undone, or the undo. Of an undo that took several\nchanges back, the named one alone is applied again; naming the undo brings back all of them.',
  examples: [
    ['galley redo g7k2m9', 'bring an undone change back'],
    ['galley redo g7k2m9 --yes', 'and land it at once'],
    ['galley redo --last --dry-run', 'what bringing back the change undone last would be'],
  ],
  isPlain: true,
  options: (yargs) => undoOptions(changeOptions(yargs)),
  run: async (context, args) => {
    const world = await context.world()
    const target = await namedChange(world, args, 'undone')
    const request = { target, withLater: args['with-later'] === true }
    if (args['dry-run'] === true) return previewAnswer(context, await previewRedo(world, request))
    if (args['yes'] === true) refuseAgents(world, yesBeforehand)
    return stagedAnswer(world, context, args, await redoFlow(world, request))
  },
}
