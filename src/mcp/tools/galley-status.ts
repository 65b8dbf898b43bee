import * as z from 'zod'
import { status } from '../../flow/status.ts'
import { visible } from '../../review/visible.ts'
import { summaryLine, summaryValue } from '../change-words.ts'
import { repository } from '../form.ts'
import { tool } from '../tool.ts'

const SHOWN_MAX = 50

export const galleyStatus = tool({
  name: 'galley_status',
  title: 'Status',
  description: 'Says which repository this is, and which changes wait for a decision or for landing.',
  input: z.strictObject({ repository }),
  output: {
    repository: { type: 'string' },
    allowed: { type: 'array', items: { type: 'string' }, description: 'Where this server may work.' },
    pending: { type: 'array' },
    landed: { type: 'integer' },
    rejected: { type: 'integer' },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: ({ host, use }) =>
    use(async (world) => {
      const { pending, landed, rejected } = await status(world)
      const root = world.repository.workTree ?? world.repository.gitDir
      const shown = pending.slice(0, SHOWN_MAX)
      return {
        message: `${visible(root)}: ${pending.length} waiting, ${landed} landed, ${rejected} rejected.`,
        next: '',
        detail: shown.map(summaryLine).join('\n'),
        value: {
          repository: root,
          allowed: host.places.directories,
          pending: shown.map(summaryValue),
          landed,
          rejected,
        },
      }
    }),
})
