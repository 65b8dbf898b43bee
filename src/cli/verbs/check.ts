import { recheck } from '../../flow/recheck.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { changeLine, noticesOf } from '../text.ts'
import type { Verb } from '../verb.ts'

export const check: Verb = {
  usage: 'check <id> [options]',
  summary: 'Run the checks of a pending change again, in its scratch tree.',
  examples: [['galley check g7k2m9', 'after a check was made to work']],
  options: changeOptions,
  run: async (context, args) => {
    const world = await context.world()
    const { change } = await recheck(world, await namedChange(world, args, 'pending'))
    return {
      value: { change },
      text: `${changeLine(change, context.terminal)}${noticesOf(change, context.terminal)}`,
    }
  },
}
