import { readPairs } from '../../flow/show.ts'
import { encodeDiff } from '../../review/unified-diff.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { diffText } from '../text.ts'
import type { Verb } from '../verb.ts'

export const diff: Verb = {
  usage: 'diff <id> [options]',
  summary: 'Print the diff of a change, from its blobs, with every invisible character written out.',
  examples: [
    ['galley diff g7k2m9', 'the current revision'],
    ['galley diff g7k2m9 --revision 1', 'an earlier one'],
    ['galley diff g7k2m9 --raw | git apply --check', 'bytes as they are, for a program'],
  ],
  isPlain: true,
  options: (yargs) =>
    changeOptions(yargs)
      .option('revision', { type: 'number', describe: 'Which revision; default the newest' })
      .option('raw', { type: 'boolean', default: false, describe: 'Do not write out invisible characters' }),
  run: async (context, args) => {
    const world = await context.world()
    const id = await namedChange(world, args)
    const pairs = await readPairs(
      world,
      id,
      args['revision'] === undefined ? undefined : Number(args['revision']),
    )
    const raw = encodeDiff(pairs, { contextLines: 3 })
    if (context.json) return { value: { id, diff: raw.toString('utf8') }, text: '' }
    if (args['raw'] === true) return { value: {}, text: '', bytes: raw }
    return { value: {}, text: diffText(pairs, context.terminal), paged: true }
  },
}
