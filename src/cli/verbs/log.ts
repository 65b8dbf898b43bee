import { listLog } from '../../flow/status.ts'
import { usageError } from '../errors.ts'
import { readSince } from '../since.ts'
import { summaryLine } from '../text.ts'
import type { Arguments, Verb } from '../verb.ts'

const states = ['staged', 'approved', 'rejected', 'landed', 'undone', 'stale'] as const

export const log: Verb = {
  usage: 'log [options]',
  summary: 'List changes, newest first, one line each.',
  details:
    'Lists changes, newest first, one line each. A landed commit names its change in its trailers: `git log` shows "Galley-Change: <id>", and\n`galley show <id>` the rest.',
  examples: [
    ['galley log', 'all of them'],
    ['galley log --state landed -n 10', 'the last ten that landed'],
    ['galley log --session s-42', 'what one agent session proposed'],
    ['galley log --path src --since "2 weeks"', 'what touched a folder lately'],
  ],
  options: (yargs) =>
    yargs
      .option('session', { type: 'string', describe: 'Only of this agent session' })
      .option('agent', { type: 'string', describe: 'Only of this agent' })
      .option('path', { type: 'string', describe: 'Only what touches this path, folder or glob' })
      .option('state', { choices: states, describe: 'Only in this state' })
      .option('since', { type: 'string', describe: 'Only since a date, or for so long: 3 days, 2 weeks' })
      .option('number', { alias: 'n', type: 'number', describe: 'At most so many' }),
  run: async (context, args) => {
    const text = (name: string) => (args[name] === undefined ? {} : { [name]: String(args[name]) })
    const world = await context.world()
    const since =
      args['since'] === undefined ? {} : { since: readSince(String(args['since']), world.clock.now()) }
    const changes = await listLog(world, {
      ...text('session'),
      ...text('agent'),
      ...text('path'),
      ...text('state'),
      ...since,
      ...limitOf(args),
    })
    const lines = changes.map((c) => summaryLine(c, context.terminal)).join('')
    return { value: { changes }, text: lines === '' ? 'No change.\n' : lines, paged: true }
  },
}

function limitOf(args: Arguments): { readonly limit?: number } {
  if (args['number'] === undefined) return {}
  const limit = Number(args['number'])
  if (!Number.isSafeInteger(limit) || limit < 1) throw usageError('-n is how many changes to list, from 1')
  return { limit }
}
