import { enqueue as enqueueFlow } from '../../flow/queue/queue.ts'
import { visible } from '../../review/visible.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { shortRef } from '../text.ts'
import type { Verb } from '../verb.ts'

export const enqueue: Verb = {
  usage: 'enqueue <id> [options]',
  summary: "Put an approved change into a remote's landing queue.",
  details:
    'Gives the change, its approvals and its log to the remote, and puts it at the end of the line for its branch there. Whoever runs\n`galley queue run`, on any machine, lands it in its turn. The queue is one ref of the remote, refs/galley/queue/<branch>.',
  examples: [
    ['galley enqueue g7k2m9', 'to the remote that git would push to'],
    ['galley enqueue --last --remote upstream', 'another one'],
  ],
  options: (yargs) =>
    changeOptions(yargs).option('remote', {
      type: 'string',
      describe: 'Default: the one that git would push to',
    }),
  run: async (context, args) => {
    const world = await context.world()
    const id = await namedChange(world, args, 'pending')
    const remote = args['remote'] as string | undefined
    const queued = await enqueueFlow(world, { id, ...(remote === undefined ? {} : { remote }) })
    const text = `${queued.id} waits to land on ${shortRef(queued.branch)} of ${visible(queued.remote)}: place ${queued.place} of ${queued.entries.length}\n`
    return { value: { ...queued }, text }
  },
}
