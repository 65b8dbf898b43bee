import { purge as purgeFlow } from '../../flow/gc/purge.ts'
import { visible } from '../../review/visible.ts'
import type { Verb } from '../verb.ts'

export const purge: Verb = {
  usage: 'purge [options]',
  summary: 'Remove galley from the repository: its folder and its scratch trees. Landed commits stay.',
  examples: [
    ['galley purge --dry-run', 'see what would go'],
    ['galley purge', 'remove it'],
  ],
  options: (yargs) =>
    yargs
      .option('dry-run', {
        alias: 'n',
        type: 'boolean',
        default: false,
        describe: 'Only say what would be removed',
      })
      .option('force', {
        type: 'boolean',
        default: false,
        describe: 'Also while changes are pending; they are lost',
      }),
  run: async (context, args) => {
    const result = await purgeFlow(await context.world(), {
      force: args['force'] === true,
      dryRun: args['dry-run'] === true,
    })
    const word = result.dryRun ? 'would remove' : 'removed'
    const text = result.removed.map((path) => `${word} ${visible(path)}\n`).join('')
    const lost =
      result.pending.length === 0
        ? ''
        : `with ${result.pending.length} that waited for a decision: ${result.pending.slice(0, 20).join(', ')}\n`
    const past = result.remarks.map((remark) => `went past: ${visible(remark)}\n`).join('')
    return { value: { ...result }, text: `${text === '' ? 'Nothing to remove.\n' : text}${lost}${past}` }
  },
}
