import type { Argv } from 'yargs'
import { refuseAgents, yesBeforehand } from '../../flow/approve.ts'
import { readPairs } from '../../flow/show.ts'
import {
  previewUndo,
  type Undone,
  type UndoPreview,
  type UndoRequest,
  undo as undoFlow,
} from '../../flow/undo/undo.ts'
import type { World } from '../../flow/world.ts'
import { hunkNumbers } from '../hunk-numbers.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { laterText } from '../overlap-text.ts'
import { changeLine, diffText, noticesOf, shortRef } from '../text.ts'
import { previewText, previewValue } from '../undo-text.ts'
import type { Answer, Arguments, CliContext, Verb } from '../verb.ts'
import { approveAndLand } from './apply.ts'

export const undo: Verb = {
  usage: 'undo <change|commit> [options]',
  summary:
    'Stage the inverse of a landed change or any commit as a new change; with --yes approve and land it.',
  details:
    'Stages the inverse of a landed change, of any commit in the branch, or of all that an agent session landed, as a new change: later edits\nelsewhere in the same files stay, and no branch moves backwards. Where later changes touch the same lines it is refused with their list.\nAt a terminal it is shown and asked for; with --yes it is approved in your name and landed. --path and --hunk add up: what either names\nis taken back, and the change then counts as landed still.',
  examples: [
    ['galley undo g7k2m9', 'take a landed change back'],
    ['galley undo g7k2m9 --yes', 'approve and land the revert at once'],
    [
      'galley undo g7k2m9 --path src/a.ts --hunk 3',
      'all of one file, and one hunk by its number in `galley diff g7k2m9`',
    ],
    ['galley undo g7k2m9 --with-later', 'and whatever was built on the same lines'],
    ['galley undo --session s-42 --dry-run', 'what it would be to take back all of a session'],
    ['galley undo HEAD~3', 'revert a commit that galley did not make'],
  ],
  isPlain: true,
  repeatable: ['path', 'hunk'],
  options: (yargs) =>
    undoOptions(changeOptions(yargs))
      .option('session', { type: 'string', describe: 'All that this agent session landed and that stands' })
      .option('path', {
        type: 'string',
        array: true,
        describe: 'Only this file or directory (repeat for more)',
      })
      .option('hunk', {
        type: 'string',
        array: true,
        describe: 'Only this hunk, by its number (repeat for more)',
      })
      .option('mainline', {
        alias: 'm',
        type: 'number',
        describe: 'Of a merge commit: the parent to go back to, from 1',
      }),
  run: async (context, args) => {
    const world = await context.world()
    const request = await requestOf(world, args)
    if (args['dry-run'] === true) return previewAnswer(context, await previewUndo(world, request))
    if (args['yes'] === true) refuseAgents(world, yesBeforehand)
    return stagedAnswer(world, context, args, await undoFlow(world, request))
  },
}

/** Options that `undo` and `redo` share. */
export const undoOptions = (yargs: Argv): Argv =>
  yargs
    .option('yes', { alias: 'y', type: 'boolean', default: false, describe: 'Approve in your name and land' })
    .option('with-later', {
      type: 'boolean',
      default: false,
      describe: 'Take back later changes that stand in the way too, as one change',
    })
    .option('dry-run', { type: 'boolean', default: false, describe: 'Show it and leave nothing' })

async function requestOf(world: World, args: Arguments): Promise<UndoRequest> {
  const list = (name: string): readonly string[] =>
    args[name] === undefined ? [] : (args[name] as readonly string[])
  const isNamed =
    args['session'] === undefined || (args['_'] as readonly string[]).length > 0 || args['last'] === true
  return {
    ...(isNamed ? { target: await namedChange(world, args, 'landed') } : {}),
    ...(args['session'] === undefined ? {} : { session: String(args['session']) }),
    ...(args['mainline'] === undefined ? {} : { mainline: Number(args['mainline']) }),
    paths: list('path').map(String),
    hunks: list('hunk').flatMap(hunkNumbers),
    withLater: args['with-later'] === true,
  }
}

/** A preview for people, and for programs. */
export function previewAnswer(context: CliContext, preview: UndoPreview): Answer {
  if (context.json) return { value: previewValue(preview), text: '' }
  return { value: {}, text: previewText(preview, context.terminal), paged: true }
}

/** A staged undo or redo: shown, or at once approved and landed. */
export async function stagedAnswer(
  world: World,
  context: CliContext,
  args: Arguments,
  { change, later }: Undone,
): Promise<Answer> {
  const isYes = args['yes'] === true
  const { ref } = await world.head()
  if (ref !== change.onto)
    context.terminal.note(
      `note: this takes it back on ${shortRef(change.onto)}, which is not checked out here\n`,
    )
  if (isYes || context.terminal.isInteractive) {
    const answer = await approveAndLand(world, context, { change, asked: 1 }, isYes)
    return { ...answer, value: { ...answer.value, later } }
  }
  if (context.json) return { value: { change, later }, text: '' }
  const { terminal } = context
  const diff = diffText(await readPairs(world, change.id), terminal)
  return {
    value: {},
    text: `${changeLine(change, terminal)}${laterText(later)}${noticesOf(change, terminal)}\n${diff}`,
  }
}
