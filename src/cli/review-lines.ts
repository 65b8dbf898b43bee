import { approve } from '../flow/approve.ts'
import type { ChangeView } from '../flow/change-view.ts'
import { decideHunks } from '../flow/decide-hunks.ts'
import { land } from '../flow/land/land.ts'
import { readPairs, showChange } from '../flow/show.ts'
import type { World } from '../flow/world.ts'
import { commentText, oneLine } from '../review/comment-text.ts'
import { piecesOf } from '../review/pieces.ts'
import { visible } from '../review/visible.ts'
import { type LineAsker, openAsker } from '../term/ask-lines.ts'
import { type Decided, decidePieces } from '../term/decide-pieces.ts'
import { landedNotes, landedText } from './landed-text.ts'
import { changeLine, noticesOf } from './text.ts'
import type { CliContext } from './verb.ts'

/** The line mode: one change after another, one hunk after another, a question on a line of its own. */
export async function reviewByLines(
  world: World,
  context: CliContext,
  ids: readonly string[],
): Promise<void> {
  const asker = openAsker(context.stdin, context.terminal.write)
  try {
    for (const id of ids) if (!(await reviewOne(world, context, asker, id))) break
  } finally {
    asker.close()
  }
}

/** @returns Whether to go on with the next change. */
async function reviewOne(
  world: World,
  { terminal }: CliContext,
  asker: LineAsker,
  id: string,
): Promise<boolean> {
  const { change } = await showChange(world, id)
  const files = await readPairs(world, change.id, change.revision)
  const body = change.body === '' ? '' : `${visible(change.body).trimEnd()}\n`
  const said = change.comments.map((one) => `${commentText(one)}\n`).join('')
  terminal.write(`${changeLine(change, terminal)}${body}${noticesOf(change, terminal)}${said}`)
  const decided = await decidePieces(asker, terminal.write, piecesOf(files, 3), terminal.useColour)
  if (decided === null) {
    terminal.write(`Left: ${change.id} stays as it was.\n`)
    return false
  }
  await finish(world, { terminal, asker, change }, decided)
  return true
}

interface Review {
  readonly terminal: CliContext['terminal']
  readonly asker: LineAsker
  readonly change: ChangeView
}

/** The one step that decides: it says what it will do before it does it, and no answer is nothing. */
async function finish(world: World, { terminal, asker, change }: Review, decided: Decided): Promise<void> {
  const { accepted, rejected, unseen, notes } = decided
  const comments = notes.length - rejected
  terminal.write(
    `\n${accepted} accepted, ${rejected} rejected, ${comments} commented · digest ${change.digest.slice(0, 12)}\n`,
  )
  for (const { file, hunks } of unseen)
    terminal.write(
      `accepted unseen: ${oneLine(file.path)}${hunks[0] === undefined ? '' : ` hunk ${hunks[0].number}`}\n`,
    )
  const answer = (await asker.ask(questionFor(decided)))?.trim() ?? ''
  const { id, digest } = change
  if ((answer === 'l' || answer === 'a') && accepted > 0) {
    const next = notes.length === 0 ? change : (await decideHunks(world, { id, digest, notes })).change
    await approveNext(world, terminal, { change, next, lands: answer === 'l' })
  } else if (answer === 's') {
    const back = await decideHunks(world, { id, digest, notes, sendBack: true })
    terminal.write(changeLine(back.change, terminal))
  } else terminal.write(`Nothing was recorded: ${id} stays as it was.\n`)
}

function questionFor({ accepted, rejected }: Decided): string {
  if (accepted === 0) return 's: reject it, with these reasons · Enter: nothing [s,N] '
  const what = rejected === 0 ? 'approve' : 'make a revision of what is accepted, approve'
  return `l: ${what} and land it · a: ${what} it · s: reject it, with these notes · Enter: nothing [l,a,s,N] `
}

/** Nobody approves what a check has made of it since, or what fails its checks as it is now. */
async function approveNext(
  world: World,
  terminal: CliContext['terminal'],
  {
    change,
    next,
    lands,
  }: { readonly change: ChangeView; readonly next: ChangeView; readonly lands: boolean },
): Promise<void> {
  const isNew = next.revision !== change.revision
  const isRewritten = next.revision > change.revision + 1
  const isFailing = isNew && next.checks.some((check) => check.required && check.outcome !== 'passed')
  if (isRewritten || isFailing) {
    const why = isRewritten ? 'a check rewrote what you accepted' : 'a check fails on what you accepted'
    terminal.write(
      `${changeLine(next, terminal)}${noticesOf(next, terminal)}Not approved: ${why}. Look again: galley review ${next.id}\n`,
    )
    return
  }
  const { id, digest } = next
  const approved = await approve(world, { id, digest, via: 'terminal' })
  if (!lands) {
    terminal.write(changeLine(approved.change, terminal))
    return
  }
  const landed = await land(world, { id })
  terminal.write(`${landedText(landed, terminal)}${landedNotes(landed)}`)
}
