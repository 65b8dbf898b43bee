import { type CaptureListing, capture as captureFlow, listCapture } from '../../flow/capture/capture.ts'
import { readPairs } from '../../flow/show.ts'
import { fromRoot } from '../from-root.ts'
import { hunkNumbers } from '../hunk-numbers.ts'
import { messageOf, messageOption } from '../message.ts'
import { changeLine, diffText, noticesOf } from '../text.ts'
import type { Arguments, CliContext, Verb } from '../verb.ts'

export const capture: Verb = {
  usage: 'capture [paths…] [options]',
  summary: 'Turn uncommitted work into a change.',
  details:
    'Turns uncommitted work into a change, to be reviewed, landed and undone like any other: the tracked files that changed, or those named.\nUntracked files are taken when they, or a directory above them, are named; ignored ones only by their own name. Files, index and refs stay\nexactly as they are; landing finds the bytes there already.',
  examples: [
    ['galley capture -m "Use the shared clock"', 'every tracked file that changed'],
    ['galley capture src new.ts', 'what changed below src, and a new file'],
    ['galley capture --staged', 'what is staged, partial staging included'],
    ['galley capture --dry-run', 'list it, hunk by hunk'],
    ['galley capture --hunk 1,3', 'only these hunks of that list'],
  ],
  repeatable: ['hunk'],
  options: (yargs) =>
    yargs
      .option('staged', {
        type: 'boolean',
        default: false,
        describe: 'What the index holds, not the working files',
      })
      .option('hunk', {
        type: 'string',
        array: true,
        describe: 'Only this hunk, by its number in --dry-run (repeat for more)',
      })
      .option('message', messageOption)
      .option('dry-run', { type: 'boolean', default: false, describe: 'List what would be captured' }),
  run: async (context, args) => {
    const world = await context.world()
    const words = (args['_'] as readonly unknown[]).map(String)
    const paths = words.map((word) => rootPath(world.repository, word))
    const what = { paths, staged: args['staged'] === true }
    if (args['dry-run'] === true) return listingAnswer(await listCapture(world, what), context)
    const { change, repeated, leftOut } = await captureFlow(world, {
      ...what,
      ...hunksOf(args),
      ...messageOf(args),
      ...agentOf(context),
    })
    if (context.json) return { value: { change, repeated, leftOut }, text: '' }
    const again = repeated ? 'The same work was captured before:\n' : ''
    const diff = diffText(await readPairs(world, change.id), context.terminal)
    const left = leftOut.map((sentence) => `${sentence}\n`).join('')
    const text = `${again}${left}${changeLine(change, context.terminal)}${noticesOf(change, context.terminal)}\n${diff}`
    return { value: {}, text }
  },
}

const rootPath = (place: Parameters<typeof fromRoot>[0], word: string): string =>
  fromRoot(place, word.length > 1 ? word.replace(/\/+$/, '') : word).replace(/^\.$/, '')

function listingAnswer({ files, hunks, leftOut }: CaptureListing, { terminal }: CliContext) {
  const value = {
    files: files.map(({ path, before, after }) => ({
      path,
      oldMode: before?.mode ?? '000000',
      newMode: after?.mode ?? '000000',
      oldBlob: before?.blob ?? null,
      newBlob: after?.blob ?? null,
    })),
    hunks: hunks.map(({ number, path, oldStart, oldCount, newStart, newCount }) => ({
      number,
      path,
      oldStart,
      oldCount,
      newStart,
      newCount,
    })),
    leftOut,
  }
  const left = leftOut.map((sentence) => `${sentence}\n`).join('')
  return { value, text: `${left}${diffText(files, terminal)}`, paged: true }
}

function hunksOf(args: Arguments): { readonly hunks?: readonly number[] } {
  const given = args['hunk'] as readonly string[] | undefined
  if (given === undefined) return {}
  return { hunks: given.flatMap((text) => hunkNumbers(String(text))) }
}

/** An agent at work says who it is by the variable that `galley run` sets. */
function agentOf({ env }: CliContext) {
  const name = env['GALLEY_AGENT'] ?? ''
  const session = env['GALLEY_RUN'] ?? ''
  if (name === '') return {}
  return { agent: { name, ...(session === '' ? {} : { session }) } }
}
