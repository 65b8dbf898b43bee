import { openTree } from '../../flow/open-tree.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import type { Verb } from '../verb.ts'

export const open: Verb = {
  usage: 'open <id> [options]',
  summary: "Print the path of the change's full scratch tree, making it if need be.",
  examples: [
    ['cd "$(galley open g7k2m9)"', 'look around in the change'],
    ['code "$(galley open --last)"', 'in an editor'],
  ],
  isPlain: true,
  options: changeOptions,
  run: async (context, args) => {
    const world = await context.world()
    const tree = await openTree(world, await namedChange(world, args))
    return { value: { ...tree }, text: `${tree.path}\n` }
  },
}
