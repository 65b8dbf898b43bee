import { listLog } from '../../flow/status.ts'
import { summaryLine } from '../text.ts'
import type { Verb } from '../verb.ts'

const states = ['staged', 'approved', 'rejected', 'landed', 'undone', 'stale'] as const

export const log: Verb = {
  usage: 'log [options]',
  summary: 'List changes, newest first, one line each.',
  examples: [
    ['galley log', 'all of them'],
    ['galley log --state landed -n 10', 'the last ten that landed'],
    ['galley log --session s-42', 'what one agent session proposed'],
  ],
  options: (yargs) =>
    yargs
      .option('session', { type: 'string', describe: 'Only of this agent session' })
      .option('agent', { type: 'string', describe: 'Only of this agent' })
      .option('state', { choices: states, describe: 'Only in this state' })
      .option('number', { alias: 'n', type: 'number', describe: 'At most so many' }),
  run: async (context, args) => {
    const text = (name: string) => (args[name] === undefined ? {} : { [name]: String(args[name]) })
    const limit = args['number'] === undefined ? {} : { limit: Number(args['number']) }
    const changes = await listLog(await context.world(), {
      ...text('session'),
      ...text('agent'),
      ...text('state'),
      ...limit,
    })
    const lines = changes.map((c) => summaryLine(c, context.terminal)).join('')
    return { value: { changes }, text: lines === '' ? 'No change.\n' : lines, paged: true }
  },
}
