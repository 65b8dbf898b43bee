import { approve, refuseAgents, yesBeforehand } from '../../flow/approve.ts'
import type { ChangeView } from '../../flow/change-view.ts'
import { type Applied, approveUnseen, landedBefore, landWithYes } from '../../flow/land/apply.ts'
import { type Asked, propose } from '../../flow/propose.ts'
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
    if (args['yes'] === true) refuseAgents(world, yesBeforehand)
    const [word] = args['_'] as readonly string[]
    const batch = await context.readInput(String(word ?? '-'))
    const proposed = await propose(world, proposeRequest(args, batch))
    const before = landedBefore(proposed)
    if (before !== null) return repeatedAnswer(context, before)
    const answer = await approveAndLand(world, context, proposed, args['yes'] === true)
    return { ...answer, value: { ...answer.value, repeated: false } }
  },
}

function repeatedAnswer({ terminal }: CliContext, landed: Applied): Answer {
  return { value: { ...landed }, text: `The same batch landed before:\n${landedText(landed, terminal)}` }
}

/** Gets the yes for a staged change, or shows what a rule has approved, and lands it: the second half of `apply`, `undo` and `redo`. */
export async function approveAndLand(
  world: World,
  context: CliContext,
  staged: Asked,
  yes: boolean,
): Promise<Answer> {
  const { change } = staged
  if (!yes) await showChange(world, context, change)
  if (change.state === 'staged') {
    if (yes) await approveUnseen(world, staged, 'cli')
    else await approveAsShown(world, context, change)
  }
  const result = await landWithYes(world, change.id)
  return { value: { ...result }, text: `${landedText(result, context.terminal)}${landedNotes(result)}` }
}

/** Whoever runs this sees what lands, also where a rule has approved it and nobody is asked. */
async function showChange(world: World, { terminal }: CliContext, change: ChangeView): Promise<void> {
  const diff = diffText(await readPairs(world, change.id), terminal)
  terminal.write(`${changeLine(change, terminal)}${noticesOf(change, terminal)}\n${diff}`)
}

async function approveAsShown(world: World, { terminal }: CliContext, change: ChangeView): Promise<void> {
  const { id, digest } = change
  if (await terminal.confirm('Approve and land?')) {
    await approve(world, { id, digest, via: 'terminal' })
    return
  }
  const hint = `Land it later: galley approve ${id} && galley land ${id}`
  refuse('not-approved', `${id} stays staged; nobody approved it`, { change }, hint)
}
