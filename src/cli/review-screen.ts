import type { Writable } from 'node:stream'
import type { Finished } from '../flow/review/finish-review.ts'
import type { World } from '../flow/world.ts'
import { refusalOf } from '../model/refusal-of.ts'
import { visible } from '../review/visible.ts'
import type { ReviewApp } from '../term/review-run.ts'
import { reviewOnScreen } from '../term/review-run.ts'
import { landedNotes, landedText } from './landed-text.ts'
import { changeLine, noticesOf } from './text.ts'
import type { Answer, CliContext, Terminal } from './verb.ts'
import { waiting } from './waiting.ts'

const LOOK_EVERY_MS = 1_000
const SIGNALS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }

/** Goes from change to change until nothing is left, or the reviewer leaves. */
export async function reviewOnFullScreen(
  world: World,
  context: CliContext,
  { named, isWatching }: { readonly named: readonly string[] | null; readonly isWatching: boolean },
): Promise<Answer> {
  const app = appFor(world, context)
  let at = 0
  for (let isFirst = true; ; isFirst = false) {
    const ids = named ?? (await waiting(world))
    const id = ids[at % Math.max(1, ids.length)]
    if (id === undefined || (named !== null && !isFirst)) {
      if (!isWatching) return { value: {}, text: isFirst ? 'Nothing waits for a decision.\n' : '' }
      await nextProposal(world, context, ids)
      continue
    }
    const ended = await reviewOnScreen(app, id, { at: ids.indexOf(id) + 1, count: ids.length })
    if (ended.kind === 'go') at = (ids.indexOf(id) + ended.by + ids.length) % ids.length
    else if (ended.kind === 'quit')
      return { value: {}, text: `Left: ${id} waits. What you decided and wrote is kept.\n` }
    else if (ended.kind === 'signal')
      return { value: {}, text: '', exitCode: 128 + (SIGNALS[ended.signal ?? 'SIGHUP'] ?? 0) }
  }
}

/** Waits on the terminal as it is: Ctrl-C leaves. */
async function nextProposal(
  world: World,
  { terminal, clock }: CliContext,
  known: readonly string[],
): Promise<void> {
  terminal.write('Nothing waits for a decision. Waiting for the next proposal; Ctrl-C leaves.\n')
  const before = new Set(known)
  for (;;) {
    const ids = await waiting(world)
    if (ids.some((id) => !before.has(id))) return
    await clock.sleep(LOOK_EVERY_MS)
  }
}

function appFor(world: World, context: CliContext): ReviewApp {
  const { terminal, env } = context
  return {
    world,
    streams: {
      input: context.stdin,
      output: context.ownStdout() as Writable,
      isColoured: terminal.useColour,
    },
    write: terminal.write,
    edit: async (text, path) => (await import('./editor.ts')).editText(text, path, env),
    describe: (finished) => describe(finished, terminal),
    faultText: (error) => {
      const { code, message, hint } = refusalOf(error)
      return `${code}: ${message}${hint === undefined ? '' : ` ${hint}`}`
    },
    painter: async (onReady) => (await import('../term/painter.ts')).openPainter(onReady),
  }
}

function describe(finished: Finished, terminal: Terminal): string {
  if (finished.kind === 'landed')
    return `${landedText(finished.landed, terminal)}${landedNotes(finished.landed)}`
  const more =
    finished.kind === 'held'
      ? noticesOf(finished.change, terminal)
      : finished.kind === 'approved' && finished.lacks !== undefined
        ? `Approved, and not landed yet: ${visible(finished.lacks)}\n`
        : ''
  return `${changeLine(finished.change, terminal)}${more}`
}
