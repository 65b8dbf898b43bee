import { dequeue as dequeueFlow } from '../../flow/queue/queue.ts'
import { queueOptions, queueRequest } from '../queue-options.ts'
import type { Verb } from '../verb.ts'

export const dequeue: Verb = {
  usage: 'dequeue <id> [options]',
  summary: "Take a change out of a remote's landing queue.",
  details: 'Takes a change out of the line. Its approval stays: `galley enqueue` puts it at the end again.',
  examples: [['galley dequeue g7k2m9 -m "waits for the release"', 'with the reason, which the queue keeps']],
  options: (yargs) =>
    queueOptions(yargs).option('message', {
      alias: 'm',
      type: 'string',
      default: 'taken out',
      describe: 'Why',
    }),
  run: async (context, args) => {
    const [id] = args['_'] as readonly string[]
    const view = await dequeueFlow(await context.world(), {
      ...queueRequest(args),
      id: String(id),
      reason: String(args['message']),
    })
    return { value: { ...view }, text: `taken out; ${view.entries.length} waiting\n` }
  },
}
