import { finishInterrupted } from '../../flow/recover.ts'
import { recoveredLines } from '../recovered-text.ts'
import type { Verb } from '../verb.ts'

export const recover: Verb = {
  usage: 'recover',
  summary: 'Finish or roll back a landing that was killed. Every verb does this first.',
  examples: [['galley recover', 'after a crash']],
  options: (yargs) => yargs,
  run: async (context) => {
    const report = await finishInterrupted(await context.world())
    const lines = recoveredLines(report)
    const text = lines.length === 0 ? 'Nothing to recover.\n' : lines.map((line) => `${line}\n`).join('')
    return { value: { recovery: report }, text }
  },
}
