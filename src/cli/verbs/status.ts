import { status as statusFlow } from '../../flow/status.ts'
import { summaryLine } from '../text.ts'
import type { Verb } from '../verb.ts'

export const status: Verb = {
  usage: 'status',
  summary: 'List the changes that wait for a decision or for landing.',
  examples: [
    ['galley status', 'what is pending'],
    ['galley status --json', 'for a program'],
  ],
  isPlain: true,
  options: (yargs) => yargs,
  run: async (context) => {
    const found = await statusFlow(await context.world())
    const lines = found.pending.map((c) => summaryLine(c, context.terminal)).join('')
    const text = lines === '' ? 'Nothing is pending.\n' : lines
    return { value: { ...found }, text }
  },
}
