import type { Refusal } from '../model/error.ts'
import type { ChangeId, CommitId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { quote } from './quote.ts'

/** One commit that a change takes back, or brings back, for the text about it. */
export interface TakenCommit {
  readonly commit: CommitId
  readonly parent: CommitId
  readonly title: string
  readonly change: ChangeId | null
  readonly direction: 'back' | 'again'
  readonly isMerge: boolean
  /** Whether it is itself an undo or a redo of galley's. */
  readonly takesBack: boolean
  /** Paths, where only a part of it is taken back. */
  readonly part: readonly string[] | null
  /** Taken back only because it stands in the way of the others. */
  readonly isLater: boolean
}

/** Commits named one by one in a message; the rest are counted. */
const NAMED_MAX = 200
/** Characters that galley's own words around a title may take. */
const ROOM = 50
const PATHS_NAMED_MAX = 10

/** Subject and body of the commit that takes commits back, in git's words where git has some. */
export function undoText(
  taken: readonly TakenCommit[],
  session: string | null,
): { readonly title: string; readonly body: string } {
  const asked = taken.filter((t) => !t.isLater)
  const later = taken.length - asked.length
  const more = later === 0 ? '' : ` and ${later} later change${later === 1 ? '' : 's'}`
  const lines = taken.slice(0, NAMED_MAX).map(lineOf)
  const rest = taken.length > NAMED_MAX ? [`And ${taken.length - NAMED_MAX} more.`] : []
  return { title: `${titleOf(asked, session)}${more}`, body: [...lines, ...rest].join('\n') }
}

function titleOf(asked: readonly TakenCommit[], session: string | null): string {
  const [first] = asked
  if (session !== null && asked.length !== 1)
    return `Revert ${asked.length} changes of session ${quote(session)}`
  if (first === undefined) return 'Revert'
  const title = shortened(first.title)
  if (first.direction === 'again') return `Reapply "${title}"`
  return first.part === null ? oppositeTitle(title, first.takesBack) : `Revert part of "${title}"`
}

/** A subject is one line of any length; what is made of it stays within the limit for titles. */
function shortened(title: string): string {
  const most = limits.titleMaxCharacters - ROOM
  if (title.length <= most) return title
  const cut = title.slice(0, most)
  const isHalf = /\p{Cs}$/u.test(cut)
  return `${isHalf ? cut.slice(0, -1) : cut}…`
}

/**
 * The subject of what takes back a commit with this subject. As in git since 2.43, the opposite of `Revert "…"` is
 * `Reapply "…"`; and galley's own subjects never pile up.
 */
export function oppositeTitle(title: string, isOwn: boolean): string {
  const again = /^Revert (".*"|part of ".*")$/s.exec(title) ?? (isOwn ? /^Revert (.*)$/s.exec(title) : null)
  if (again !== null) return `Reapply ${again[1]}`
  const back = isOwn ? /^Reapply (.*)$/s.exec(title) : null
  return back === null ? `Revert "${title}"` : `Revert ${back[1]}`
}

function lineOf(taken: TakenCommit): string {
  const from = taken.change === null ? '' : ` It landed ${taken.change}.`
  if (taken.direction === 'again') return `This reapplies commit ${taken.commit}.${from}`
  if (taken.part !== null) {
    const shown = taken.part.slice(0, PATHS_NAMED_MAX).map(quote).join(', ')
    const more = taken.part.length > PATHS_NAMED_MAX ? ` and ${taken.part.length - PATHS_NAMED_MAX} more` : ''
    return `This reverts part of commit ${taken.commit}.${from}\nIn ${shown}${more}.`
  }
  return taken.isMerge
    ? `This reverts commit ${taken.commit}, reversing\nchanges made to ${taken.parent}.${from}`
    : `This reverts commit ${taken.commit}.${from}`
}

/** A later commit in the way, and what it did to the file. */
export interface LaterFact {
  readonly commit: CommitId
  readonly title: string
  /** The change that it landed; null for a commit that is not galley's. */
  readonly id: ChangeId | null
  readonly paths: readonly string[]
  readonly how: 'lines' | 'deleted' | 'renamed' | 'added' | 'mode'
}

export interface ConflictFact {
  readonly path: string
  /** Lines of the file at the branch's tip; empty where they are not known. */
  readonly lines: readonly { readonly from: number; readonly to: number }[]
  readonly drawing: unknown
}

const LATER_NAMED_MAX = 5

/** The refusal of an undo that conflicts with what came later: who, where, and what can be done. */
export function overlapRefusal(facts: {
  readonly what: string
  readonly commit: CommitId
  readonly paths: readonly string[]
  readonly messages: readonly string[]
  readonly conflicts: readonly ConflictFact[]
  readonly later: readonly LaterFact[]
  /** Whether all of it could be undone together with those later ones. */
  readonly isSolvable: boolean
  /** The options that take back a part, of the command that was given. */
  readonly partOptions: readonly string[]
}): Refusal {
  const { what, commit, paths, messages, conflicts, later, isSolvable, partOptions } = facts
  const places = conflicts.map(placeOf)
  const where = places.length === 0 ? paths.map(quote).join(', ') : places.join(', ')
  const gone = later.filter((l) => l.how === 'deleted').flatMap((l) => l.paths)
  const deleted = gone.length === 0 ? '' : `; ${[...new Set(gone)].map(quote).join(', ')} was deleted later`
  const named = later
    .slice(0, LATER_NAMED_MAX)
    .map((l) => `${l.id ?? l.commit.slice(0, 12)} ${quote(l.title)}`)
  const more = later.length > LATER_NAMED_MAX ? ` and ${later.length - LATER_NAMED_MAX} more` : ''
  const by = named.length === 0 ? '' : `, by ${named.join(', ')}${more}`
  return {
    code: 'overlaps-later',
    message: `undo ${what}: later changes overlap with it in ${where}${by}${deleted}`,
    data: { commit, paths, messages, later, conflicts, withLater: isSolvable },
    hint: overlapHint(later.length, isSolvable, partOptions),
  }
}

function overlapHint(later: number, isSolvable: boolean, partOptions: readonly string[]): string {
  const options = partOptions.map((option) => `\`${option}\``)
  const all = `\`--with-later\` takes ${later === 1 ? 'that change' : `those ${later} changes`} back too, as one change`
  if (options.length === 0) return isSolvable ? `${all}.` : 'Edit by hand.'
  return isSolvable
    ? `${all}; ${options.join(' and ')} ${options.length === 1 ? 'takes' : 'take'} back a part.`
    : `Take back a part with ${options.join(' or ')}, or edit by hand.`
}

function placeOf({ path, lines }: ConflictFact): string {
  const shown = lines.slice(0, 3).map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`))
  const more = lines.length > shown.length ? '…' : ''
  return shown.length === 0 ? quote(path) : `${quote(path)} (line ${shown.join(', ')}${more})`
}
