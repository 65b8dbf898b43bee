import { type ChangeSummary, status as statusFlow } from '../../flow/status.ts'
import { summaryLine } from '../text.ts'
import type { Verb } from '../verb.ts'

export const status: Verb = {
  usage: 'status [options]',
  summary: 'List the changes that wait for a decision or for landing.',
  examples: [
    ['galley status', 'what is pending'],
    ['galley status --json', 'for a program'],
    ['galley status --porcelain', 'one line for a prompt: staged=2 approved=1 failing=0'],
  ],
  isPlain: true,
  plainFlags: ['porcelain'],
  options: (yargs) =>
    yargs.option('porcelain', {
      type: 'boolean',
      default: false,
      describe: 'One line that stays as it is: staged, approved, and how many of them fail a check',
    }),
  run: async (context, args) => {
    const found = await statusFlow(await context.world())
    if (args['porcelain'] === true) return { value: { ...found }, text: porcelain(found.pending) }
    const lines = found.pending.map((c) => summaryLine(c, context.terminal)).join('')
    const text = lines === '' ? 'Nothing is pending.\n' : lines
    return { value: { ...found }, text }
  },
}

function porcelain(pending: readonly ChangeSummary[]): string {
  const count = (fits: (change: ChangeSummary) => boolean) => pending.filter(fits).length
  return `staged=${count((c) => c.state === 'staged')} approved=${count((c) => c.state === 'approved')} failing=${count((c) => (c.failing ?? 0) > 0)}\n`
}
