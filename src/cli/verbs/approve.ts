import { approve as approveFlow } from '../../flow/approve.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { changeLine, noticesOf } from '../text.ts'
import type { Verb } from '../verb.ts'

export const approve: Verb = {
  usage: 'approve <id> [options]',
  summary: 'Approve the current revision: exactly its bytes, message and author.',
  details:
    'Approves the current revision of a change: exactly its bytes, message and author. This is the yes; nothing else is asked.\nWith --digest the approval is refused unless that is the digest you saw.',
  examples: [
    ['galley approve g7k2m9', 'approve it'],
    ['galley approve g7k --digest <64 hex digits>', 'only if the bytes are the ones seen'],
    ['galley approve --last', 'the newest change'],
  ],
  isPlain: true,
  options: (yargs) =>
    changeOptions(yargs).option('digest', { type: 'string', describe: 'The digest that was shown' }),
  run: async (context, args) => {
    const world = await context.world()
    const via = context.terminal.isInteractive ? 'terminal' : 'cli'
    const digest = args['digest'] === undefined ? {} : { digest: String(args['digest']) }
    const { change } = await approveFlow(world, {
      id: await namedChange(world, args, 'pending'),
      via,
      ...digest,
    })
    return {
      value: { change },
      text: `${changeLine(change, context.terminal)}${noticesOf(change, context.terminal)}`,
    }
  },
}
