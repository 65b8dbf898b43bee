import * as z from 'zod'
import { listLog } from '../../flow/status.ts'
import { summaryLine, summaryValue } from '../change-words.ts'
import { repository } from '../form.ts'
import { tool } from '../tool.ts'

const DEFAULT_COUNT = 20

export const listChanges = tool({
  name: 'list_changes',
  title: 'List changes',
  description:
    'Lists changes, newest first: those that wait for a decision, and those that landed, were rejected or taken back.',
  input: z.strictObject({
    state: z.enum(['staged', 'approved', 'rejected', 'landed', 'undone', 'stale']).optional(),
    path: z
      .string()
      .max(4096)
      .optional()
      .describe(
        'Only changes that touch this path, something below it, or a path that it matches as a glob.',
      ),
    mine: z.boolean().optional().describe('Only those of this conversation.'),
    limit: z.int().min(1).max(200).optional().describe(`Default ${DEFAULT_COUNT}.`),
    repository,
  }),
  output: {
    changes: { type: 'array' },
    more: { type: 'boolean', description: 'There are more than were asked for.' },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: ({ input, caller, use }) =>
    use(async (world) => {
      const limit = input.limit ?? DEFAULT_COUNT
      const isMine = input.mine === true && caller.session !== null
      const found = await listLog(world, {
        ...(input.state === undefined ? {} : { state: input.state }),
        ...(input.path === undefined ? {} : { path: input.path }),
        ...(isMine && caller.session !== null ? { session: caller.session } : {}),
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      const more = found.length > limit
      return {
        message: shown.length === 0 ? 'No change.' : `${shown.length} changes${more ? ', and more' : ''}.`,
        next: '',
        detail: shown.map(summaryLine).join('\n'),
        value: { changes: shown.map(summaryValue), more },
      }
    }),
})
