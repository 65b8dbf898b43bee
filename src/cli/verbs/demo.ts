import { runDemo } from '../demo.ts'
import type { Verb } from '../verb.ts'

export const demo: Verb = {
  usage: 'demo [options]',
  summary:
    'Show the whole job in a throw-away repository: propose, look, approve, land, undo. Takes a few seconds.',
  examples: [
    ['galley demo', 'watch it'],
    ['galley demo --keep', 'and keep the repository to play with'],
  ],
  options: (yargs) =>
    yargs.option('keep', {
      type: 'boolean',
      default: false,
      describe: 'Keep the repository and print its path',
    }),
  run: async (context, args) => {
    const { steps, directory } = await runDemo(
      context.program,
      args['keep'] === true,
      context.json ? () => undefined : context.terminal.write,
    )
    const text = directory === null ? '' : `The repository is kept: ${directory}\n`
    return { value: { steps, directory }, text }
  },
}
