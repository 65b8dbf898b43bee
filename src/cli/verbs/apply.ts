import { approve, refuseAgents } from '../../flow/approve.ts'
import type { ChangeView } from '../../flow/change-view.ts'
import { approveUnseen, landWithYes } from '../../flow/land/apply.ts'
import { propose } from '../../flow/propose.ts'
import { readPairs } from '../../flow/show.ts'
import type { World } from '../../flow/world.ts'
import { refuse } from '../../model/error.ts'
import { landedNotes, landedText } from '../landed-text.ts'
import { changeLine, diffText, noticesOf } from '../text.ts'
import type { Answer, CliContext, Verb } from '../verb.ts'
import { proposeRequest, propose as proposeVerb } from './propose.ts'

export const apply: Verb = {
  usage: 'apply [batch.json] [options]',
  summary: 'Propose a batch, show it, ask, and land it. The default answer is no.',
  details:
    'Proposes a batch, shows it, asks at the prompt (the default answer is no, and without a terminal nobody can answer), and lands it.\nWith --yes it is approved in your name without asking.',
  examples: [
    ['galley apply batch.json', 'look, answer, land'],
    ['galley apply --yes --json < batch.json', 'approve as yourself and land'],
  ],
  options: (yargs) =>
    proposeVerb.options(yargs).option('yes', {
      alias: 'y',
      type: 'boolean',
      default: false,
      describe: 'Approve in your name without asking',
    }),
  run: async (context, args) => {
    const world = await context.world()
    if (args['yes'] === true) refuseAgents(world)
    const [word] = args['_'] as readonly string[]
    const batch = await context.readInput(String(word ?? '-'))
    const { change } = await propose(world, proposeRequest(args, batch))
    return approveAndLand(world, context, change, args['yes'] === true)
  },
}

/** Shows a staged change, gets the yes, and lands it: the second half of `apply`, `undo` and `redo`. */
export async function approveAndLand(
  world: World,
  context: CliContext,
  change: ChangeView,
  yes: boolean,
): Promise<Answer> {
  if (change.state === 'staged') {
    if (yes) await approveUnseen(world, change, 'cli')
    else await approveAsShown(world, context, change)
  }
  const result = await landWithYes(world, change.id)
  return { value: { ...result }, text: `${landedText(result, context.terminal)}${landedNotes(result)}` }
}

async function approveAsShown(world: World, { terminal }: CliContext, change: ChangeView): Promise<void> {
  const { id, digest } = change
  const diff = diffText(await readPairs(world, id), terminal)
  terminal.write(`${changeLine(change, terminal)}${noticesOf(change, terminal)}\n${diff}`)
  if (await terminal.confirm('Approve and land?')) {
    await approve(world, { id, digest, via: 'terminal' })
    return
  }
  const hint = `Land it later: galley approve ${id} && galley land ${id}`
  refuse('not-approved', `${id} stays staged; nobody approved it`, { change }, hint)
}
