import { waitForDecision } from '../../flow/wait.ts'
import { usageError } from '../errors.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { changeLine } from '../text.ts'
import type { Verb } from '../verb.ts'

export const wait: Verb = {
  usage: 'wait <id> [options]',
  summary:
    'Wait until a change is approved or landed. Ends with code 1 when it is rejected or the time is up.',
  examples: [
    ['galley wait g7k2m9 --timeout 600 && galley land g7k2m9', 'land as soon as a person has approved'],
  ],
  options: (yargs) =>
    changeOptions(yargs).option('timeout', {
      type: 'number',
      describe: 'Longest wait in seconds; default 600',
    }),
  run: async (context, args) => {
    const world = await context.world()
    const seconds = args['timeout']
    if (seconds !== undefined && !(Number(seconds) >= 0)) throw usageError('--timeout is a number of seconds')
    const timeout = seconds === undefined ? {} : { timeoutMs: Number(seconds) * 1000 }
    const { change } = await waitForDecision(world, { id: await namedChange(world, args), ...timeout })
    return { value: { change }, text: changeLine(change, context.terminal) }
  },
}
