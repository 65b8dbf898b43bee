import { approve } from '../../flow/approve.ts'
import { land as landFlow } from '../../flow/land.ts'
import { visible } from '../../review/visible.ts'
import { landedText } from '../landed-text.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import type { Verb } from '../verb.ts'

export const land: Verb = {
  usage: 'land <id> [options]',
  summary: 'Re-check an approved change, then fast-forward branch, index and working tree to it.',
  details:
    'Re-checks an approved change and lands it: the branch is fast-forwarded, touched files and index entries follow, everything else\nof yours stays as it is. Refuses, with nothing changed, when anything it relies on has moved.',
  examples: [
    ['galley land g7k2m9', 'land it'],
    ['galley land --last --approve', 'approve as it stands, then land'],
  ],
  isPlain: true,
  options: (yargs) =>
    changeOptions(yargs).option('approve', {
      type: 'boolean',
      default: false,
      describe: 'Approve it first, as `galley approve` does',
    }),
  run: async (context, args) => {
    const world = await context.world()
    const id = await namedChange(world, args, 'pending')
    if (args['approve'] === true)
      await approve(world, { id, via: context.terminal.isInteractive ? 'terminal' : 'cli' })
    const result = await landFlow(world, { id })
    const remarks = result.remarks.map((r) => `note: ${visible(r)}\n`).join('')
    return { value: { ...result }, text: `${landedText(result, context.terminal)}${remarks}` }
  },
}
