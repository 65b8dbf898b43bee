import { approve } from '../../flow/approve.ts'
import { land as landFlow } from '../../flow/land/land.ts'
import { landAll } from '../../flow/land/land-all.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import { landedNotes, landedText } from '../landed-text.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import type { Answer, Arguments, CliContext, Verb } from '../verb.ts'

export const land: Verb = {
  usage: 'land <id> [options]',
  summary: 'Re-check an approved change, then fast-forward branch, index and working tree to it.',
  details:
    'Re-checks an approved change and lands it: the branch is fast-forwarded, touched files and index entries follow, everything else\nof yours stays as it is. Refuses, with nothing changed, when anything it relies on has moved.',
  examples: [
    ['galley land g7k2m9', 'land it'],
    ['galley land --last --approve', 'approve as it stands, then land'],
    ['galley land --all', 'every approved change, oldest first, in one go'],
  ],
  isPlain: true,
  options: (yargs) =>
    changeOptions(yargs)
      .option('approve', {
        type: 'boolean',
        default: false,
        describe: 'Approve it first, as `galley approve` does',
      })
      .option('onto', {
        type: 'string',
        describe: 'The branch to land on, where the one it was made for is gone',
        requiresArg: true,
      })
      .option('all', { type: 'boolean', default: false, describe: 'Every approved change, oldest first' }),
  run: async (context, args) => {
    const world = await context.world()
    if (args['all'] === true) return landEvery(context, args)
    const id = await namedChange(world, args, 'pending')
    if (args['approve'] === true)
      await approve(world, { id, via: context.terminal.isInteractive ? 'terminal' : 'cli' })
    const onto = args['onto'] as string | undefined
    const result = await landFlow(world, { id, ...(onto === undefined ? {} : { onto }) })
    return { value: { ...result }, text: `${landedText(result, context.terminal)}${landedNotes(result)}` }
  },
}

/** The queue: what landed, and what stayed with the reason of each. */
async function landEvery(context: CliContext, args: Arguments): Promise<Answer> {
  if ((args['_'] as readonly unknown[]).length > 0 || args['last'] === true || args['approve'] === true) {
    throw usageError('--all takes no id, no --last and no --approve')
  }
  const { landed, refused } = await landAll(await context.world())
  const done = landed.map((each) => `${landedText(each, context.terminal)}${landedNotes(each)}`).join('')
  const stayed = refused
    .map((r) => `${r.id} stays: ${r.refusal.code}: ${visible(r.refusal.message)}\n`)
    .join('')
  const text = done + stayed === '' ? 'Nothing is approved.\n' : `${done}${stayed}`
  return { value: { landed, refused }, text, exitCode: refused.length > 0 ? 1 : 0 }
}
