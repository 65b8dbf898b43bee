import { reject as rejectFlow } from '../../flow/reject.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { changeLine } from '../text.ts'
import type { Verb } from '../verb.ts'

export const reject: Verb = {
  usage: 'reject <id> [options]',
  summary: 'Reject a pending change. The reason goes back to the agent.',
  examples: [['galley reject g7k2m9 -m "keep the old name"', 'reject with a reason']],
  options: (yargs) =>
    changeOptions(yargs).option('message', { alias: 'm', type: 'string', default: '', describe: 'Why' }),
  run: async (context, args) => {
    const world = await context.world()
    const { change } = await rejectFlow(world, {
      id: await namedChange(world, args, 'pending'),
      reason: String(args['message']),
    })
    return { value: { change }, text: changeLine(change, context.terminal) }
  },
}
