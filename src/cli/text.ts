import type { ChangeView } from '../flow/change-view.ts'
import type { ChangeSummary } from '../flow/status.ts'
import { type Paint, paintFor } from '../review/colour.ts'
import type { DiffFile } from '../review/diff-file.ts'
import { renderDiff } from '../review/unified-diff.ts'
import { visible } from '../review/visible.ts'
import type { Terminal } from './verb.ts'

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

export const shortId = (id: string | null): string => (id === null ? '(no commit)' : id.slice(0, 7))

export const shortRef = (ref: string): string =>
  visible(ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : ref)

const stateColour = (paint: Paint, state: string): string =>
  state === 'landed' || state === 'approved'
    ? paint.good(state)
    : state === 'rejected' || state === 'stale'
      ? paint.bad(state)
      : paint.warning(state)

/** The line that stands for a change everywhere: id, state, size, where it goes. */
export function changeLine(change: ChangeView, terminal: Terminal): string {
  const paint = paintFor(terminal.useColour)
  const sum = (key: 'added' | 'removed') => change.files.reduce((n, f) => n + (f[key] ?? 0), 0)
  // git counts a rename as one file.
  const renames = change.files.filter((f) => f.status === 'renamed').length
  const size = `${plural(change.files.length - renames, 'file')}  ${paint.added(`+${sum('added')}`)} ${paint.removed(`−${sum('removed')}`)}`
  const revision = change.revision > 1 ? ` r${change.revision}` : ''
  return `${paint.header(change.id)}${revision} ${stateColour(paint, change.state)}  ${size}  on ${shortRef(change.onto)}@${shortId(change.base)}  ${visible(change.title)}\n`
}

/** One line of `status` and `log`. */
export function summaryLine(change: ChangeSummary, terminal: Terminal): string {
  const paint = paintFor(terminal.useColour)
  const size = `${plural(change.files, 'file')} ${paint.added(`+${change.added}`)} ${paint.removed(`−${change.removed}`)}`
  const who = change.agent === null ? '' : `  by ${visible(change.agent)}`
  const failing = change.failing ?? 0
  const isOpen = failing > 0 && (change.state === 'staged' || change.state === 'approved')
  const checks = isOpen ? `  ${paint.bad(`${plural(failing, 'check')} failing`)}` : ''
  return `${paint.header(change.id)} ${stateColour(paint, change.state)}  ${size}${checks}  on ${shortRef(change.onto)}  ${visible(change.title)}${who}\n`
}

/** What a reviewer must see beside the diff: lenient matches, carried edits, failed checks. */
export function noticesOf(change: ChangeView, terminal: Terminal): string {
  const paint = paintFor(terminal.useColour)
  const checks = change.checks.map((c) => {
    const colour = c.outcome === 'passed' ? paint.good : paint.bad
    return `check ${visible(c.name)}: ${colour(c.outcome)}${c.summary === '' ? '' : `  ${visible(c.summary)}`}\n`
  })
  const remarks = change.remarks.map(
    (r) => `${paint.warning('note')}: ${visible(r.path)}: ${visible(r.text)}\n`,
  )
  const tiers = change.files
    .filter((f) => f.tier !== 'exact')
    .map((f) => `${paint.warning('note')}: ${visible(f.path)} matched at the tier "${f.tier}"\n`)
  return [...checks, ...remarks, ...tiers].join('')
}

/** What became of a landed change since; nothing where it stands as it landed. */
export function standingOf(change: ChangeView): string {
  if (change.undoneBy !== null)
    return `undone by ${change.undoneBy}   (bring it back: galley redo ${change.id})\n`
  return change.partlyUndoneBy.length === 0 ? '' : `undone in part by ${change.partlyUndoneBy.join(', ')}\n`
}

/** The diff for people: every character visible, colours where the terminal has them. */
export const diffText = (pairs: readonly DiffFile[], terminal: Terminal): string =>
  renderDiff(pairs, { contextLines: 3, isColoured: terminal.useColour, numbersHunks: true })
