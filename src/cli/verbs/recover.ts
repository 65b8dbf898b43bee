import { finishInterrupted } from '../../flow/recover.ts'
import type { Verb } from '../verb.ts'

export const recover: Verb = {
  usage: 'recover',
  summary: 'Finish or roll back a landing that was killed. Every verb that writes does this first.',
  examples: [['galley recover', 'after a crash']],
  options: (yargs) => yargs,
  run: async (context) => {
    const report = await finishInterrupted(await context.world())
    return {
      value: { recovery: report },
      text: report === null ? 'Nothing to recover.\n' : `${JSON.stringify(report, null, 2)}\n`,
    }
  },
}
