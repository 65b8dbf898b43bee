import { propose as proposeFlow } from '../../flow/propose.ts'
import { readPairs } from '../../flow/show.ts'
import { type DialectName, dialectNames } from '../../model/batch.ts'
import { permissionModeOf, permissionModeOption } from '../permission-mode.ts'
import { changeLine, diffText, noticesOf } from '../text.ts'
import type { Arguments, Verb } from '../verb.ts'

/** The options that `propose` and `apply` share. */
export const proposeRequest = (args: Arguments, batch: Uint8Array) => ({
  batch,
  ...(args['revise'] === undefined ? {} : { revise: String(args['revise']) }),
  ...(args['dialect'] === undefined ? {} : { dialect: args['dialect'] as DialectName }),
  ...(args['include-uncommitted'] === true ? { includeUncommitted: true } : {}),
  ...(args['carry'] === true ? { carry: true } : {}),
  ...permissionModeOf(args),
})

export const propose: Verb = {
  usage: 'propose [batch.json] [options]',
  summary:
    'Stage a batch of edits as a change. Nothing of yours changes: the commit is in the private store under .git/galley/.',
  details:
    'Stages a batch of edits (JSON, see the README) as a change. The batch comes from a file or from standard input (`-`, the default).\nNothing of yours changes: the commit and its scratch tree belong to the private store under .git/galley/.',
  examples: [
    ['galley propose batch.json', 'stage a batch'],
    ['my-agent | galley propose --json', 'from a pipe, with the answer as JSON'],
    ['galley propose --revise g7k2m9 batch.json', 'a new revision of a pending change'],
  ],
  isPlain: true,
  options: (yargs) =>
    yargs
      .option('revise', { type: 'string', describe: 'Stage a new revision of this pending change' })
      .option('dialect', { choices: dialectNames, describe: 'Read tool calls as this system means them' })
      .option('include-uncommitted', {
        type: 'boolean',
        describe:
          'Take uncommitted work in the edited files into the change, which a person must approve then',
      })
      .option('carry', { type: 'boolean', describe: 'Apply a stale line edit where its lines have moved to' })
      .option('permission-mode', permissionModeOption),
  run: async (context, args) => {
    const words = args['_'] as readonly string[]
    const batch = await context.readInput(String(words[0] ?? '-'))
    const world = await context.world()
    const { change, repeated, results } = await proposeFlow(world, proposeRequest(args, batch))
    if (context.json) return { value: { change, repeated, results }, text: '' }
    const again = repeated ? 'The same batch was proposed before:\n' : ''
    const diff = diffText(await readPairs(world, change.id), context.terminal)
    return {
      value: {},
      text: `${again}${changeLine(change, context.terminal)}${noticesOf(change, context.terminal)}\n${diff}`,
    }
  },
}
