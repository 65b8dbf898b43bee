import type { ErrorCode } from '../model/error-codes.ts'
import type { Standing } from '../sys/file-key.ts'

/** One side of a path: mode and id. For the working file the id is that of the bytes as they stand. */
export interface Version {
  readonly mode: string
  readonly id: string
}

/** What is to become of one place, the index entry or the working file, that holds `mine` now. */
export type Combination =
  | { readonly kind: 'keep' }
  | { readonly kind: 'set'; readonly to: Version }
  | { readonly kind: 'remove' }
  | {
      readonly kind: 'merge'
      readonly mode: string
      readonly mine: string
      readonly base: string
      readonly next: string
    }
  /** No three-way merge of these exists. */
  | { readonly kind: 'overlap' }

const same = (a: Version | null, b: Version | null): boolean =>
  a === null || b === null ? a === b : a.mode === b.mode && a.id === b.id

const isRegular = (version: Version): boolean => version.mode === '100644' || version.mode === '100755'

/**
 * Brings the step from `base` to `next` to a place that holds `mine`: content and executable bit each by
 * three-way merge. null = absent.
 */
export function combine(mine: Version | null, base: Version | null, next: Version | null): Combination {
  if (same(mine, next)) return { kind: 'keep' }
  if (same(mine, base)) return next === null ? { kind: 'remove' } : { kind: 'set', to: next }
  if (mine === null || base === null || next === null) return { kind: 'overlap' }
  if (![mine, base, next].every(isRegular)) return { kind: 'overlap' }
  const mode = mine.mode === base.mode ? next.mode : mine.mode
  if (mine.id !== base.id && mine.id !== next.id && next.id !== base.id) {
    return { kind: 'merge', mode, mine: mine.id, base: base.id, next: next.id }
  }
  const id = mine.id === base.id ? next.id : mine.id
  return mode === mine.mode && id === mine.id ? { kind: 'keep' } : { kind: 'set', to: { mode, id } }
}

export interface IndexFact extends Version {
  readonly intentToAdd: boolean
  readonly skipWorktree: boolean
  readonly assumeUnchanged: boolean
}

/** Everything that the decision about one path rests on. */
export interface PathFacts {
  readonly path: string
  readonly base: Version | null
  readonly next: Version | null
  /** As `base` and `next`, with the ids of the working file's bytes where a conversion makes them differ. */
  readonly rawBase: Version | null
  readonly rawNext: Version | null
  readonly index: IndexFact | null
  readonly standing: Standing
  /** What stands there (a directory, a file among the parents) is taken away by the same change. */
  readonly makesRoom: boolean
  /** core.fileMode: false = the executable bits of the work tree say nothing. */
  readonly trustsExecutableBit: boolean
  /** The sparse checkout leaves this path out. */
  readonly isOutsideCone: boolean
  /** What the approval says must stand there; null = nothing, undefined = it says nothing. */
  readonly bound: Version | null | undefined
  /** The working file whose uncommitted work the change takes along; null = deleted, undefined = it takes none. */
  readonly along: Version | null | undefined
  /** The change deletes a path that its author had removed from the index alone: the file stays where it is so. */
  readonly stays: boolean
  /** Work that the change took over: it counts as the version before. */
  readonly takenOver: readonly { readonly entry: Version | null; readonly file: Version | null }[]
}

export interface Problem {
  readonly code: ErrorCode
  readonly path: string
  readonly message: string
  readonly lines?: readonly { readonly from: number; readonly to: number }[]
}

export type Decision<T> = { readonly kind: 'problem'; readonly problem: Problem } | T

/** Why a file that an approval is bound to is not that file; null = it is, or none is bound. */
export function refuseOtherFile(facts: PathFacts): Problem | null {
  const { path, bound, standing, trustsExecutableBit } = facts
  if (bound === undefined) return null
  const now = standingVersion(facts)
  const isSame =
    bound === null || now === null
      ? bound === null && standing.kind === 'absent'
      : standing.kind === 'file' &&
        standing.links === 1 &&
        now.id === bound.id &&
        (!trustsExecutableBit || now.mode === bound.mode)
  const message = `${path} is not the file that was approved`
  return isSame ? null : { code: 'changed-after-approval', path, message }
}

/** Whether the very working file stands there that the change takes along. */
export function standsAlong(facts: PathFacts): boolean {
  const { along, standing } = facts
  if (along === undefined || along === null) return along === null && standing.kind === 'absent'
  const now = standing.kind === 'file' ? standingVersion(facts) : null
  return now?.id === along.id && (!facts.trustsExecutableBit || now.mode === along.mode)
}

/** `next` takes the place of what the change takes along. */
function replaceBy(mine: Version | null, next: Version | null): Combination {
  if (same(mine, next)) return { kind: 'keep' }
  return next === null ? { kind: 'remove' } : { kind: 'set', to: next }
}

const isTakenOver = (facts: PathFacts, where: 'entry' | 'file', mine: Version | null): boolean =>
  mine !== null && facts.takenOver.some((version) => same(version[where], mine))

/** What is to become of the index entry of a path. */
export function decideIndexEntry(facts: PathFacts): Decision<Combination> {
  const { path, base, next, index } = facts
  if (standsAlong(facts)) return replaceBy(index, next)
  // An intent to add has no content yet: the entry is as good as absent, but the user's intent is not ours to
  // drop.
  if (index?.intentToAdd === true) {
    const now = facts.standing.kind === 'file' ? standingVersion(facts) : null
    const isOfChange = now !== null && (same(now, facts.rawNext) || isTakenOver(facts, 'file', now))
    return isOfChange && next !== null && base === null
      ? { kind: 'set', to: next }
      : overlap(path, 'is marked as intended to be added')
  }
  const combined = combine(index, isTakenOver(facts, 'entry', index) ? index : base, next)
  if (combined.kind !== 'overlap') return combined
  if (index === null) return overlap(path, 'is removed in the index, and that is not committed')
  if (base === null) return overlap(path, 'is added in the index with other content')
  return overlap(
    path,
    next === null
      ? 'has staged changes and is deleted by the change'
      : 'has staged changes that do not merge',
  )
}

/** What is to become of the working file of a path. */
export function decideFile(facts: PathFacts): Decision<Combination> {
  const { path, standing, rawBase, rawNext } = facts
  // Where a directory stands, or a link or a file above, what git tracks is gone already; nothing is followed to take it away.
  const isGone = ['link-above', 'file-above', 'directory'].includes(standing.kind)
  if (isGone && rawNext === null) return { kind: 'keep' }
  const submodule = decideSubmodule(facts)
  if (submodule !== null) return submodule
  if (standing.kind === 'link-above' && !facts.makesRoom) {
    return {
      kind: 'problem',
      problem: { code: 'symlink', path, message: `${path} leads through the symbolic link ${standing.at}` },
    }
  }
  if (standsAlong(facts)) return replaceBy(standingVersion(facts), rawNext)
  const isAbsent = standing.kind === 'absent' || facts.makesRoom
  if (isAbsent && facts.isOutsideCone) return { kind: 'keep' }
  if (isAbsent) return decideAbsentFile(facts)
  if (standing.kind !== 'file' && standing.kind !== 'symlink') return inTheWay(facts, describe(standing))
  if (facts.index === null && rawBase !== null && rawNext === null)
    return facts.stays
      ? { kind: 'keep' }
      : overlap(path, 'is removed in the index and kept as a file, and the change deletes it')
  const now = standingVersion(facts)
  const combined = combine(now, isTakenOver(facts, 'file', now) ? now : rawBase, rawNext)
  if (combined.kind !== 'overlap') return combined
  if (rawBase === null) return inTheWay(facts, 'is there already with other content')
  return overlap(
    path,
    rawNext === null
      ? 'has changes that are not committed, and the change deletes it'
      : 'has changes that are not committed and do not merge',
  )
}

/**
 * A submodule's own files are not the landing's to move, nor is its directory's place another's to take. null = none of the two sides is
 * one, or the other side is a file that can be dealt with by itself.
 */
function decideSubmodule(facts: PathFacts): Decision<Combination> | null {
  const { path, standing, rawBase, rawNext } = facts
  const [was, becomes] = [isSubmodule(rawBase), isSubmodule(rawNext)]
  if (!was && !becomes) return null
  const isTaken = standing.kind === 'file' || standing.kind === 'symlink'
  if (was && becomes) return { kind: 'keep' }
  if (becomes && rawBase === null) return isTaken ? inTheWay(facts, 'is there already') : { kind: 'keep' }
  if (was && rawNext === null)
    return isTaken ? overlap(path, 'is no directory of a submodule any more') : { kind: 'keep' }
  // A file for a submodule, or a submodule for a file: what stands there has to be the side that goes.
  if (becomes) return isTaken ? null : { kind: 'keep' }
  if (standing.kind === 'directory' && !facts.makesRoom) return inTheWay(facts, 'holds a submodule')
  return null
}

const isSubmodule = (version: Version | null): boolean => version?.mode === '160000'

function decideAbsentFile({ path, rawBase, rawNext }: PathFacts): Decision<Combination> {
  if (rawNext === null) return { kind: 'keep' }
  if (rawBase !== null && !isSubmodule(rawBase))
    return overlap(path, 'is deleted in the work tree, and that is not committed')
  return { kind: 'set', to: rawNext }
}

/** The working file as a version; a mode that means nothing here is taken from what git has. */
export function standingVersion(facts: PathFacts): Version | null {
  const { standing } = facts
  if (standing.kind === 'symlink') return { mode: '120000', id: standing.id }
  if (standing.kind !== 'file') return null
  if (facts.trustsExecutableBit) return { mode: standing.executable ? '100755' : '100644', id: standing.id }
  const known = [facts.index, facts.rawBase, facts.rawNext].find(
    (version) => version !== null && isRegular(version),
  )
  return { mode: known?.mode ?? '100644', id: standing.id }
}

function describe(standing: Standing): string {
  if (standing.kind === 'directory') return 'is a directory'
  if (standing.kind === 'file-above') return `cannot be written: ${standing.at} is a file`
  return 'is neither a file nor a link'
}

function inTheWay(facts: PathFacts, what: string): Decision<never> {
  const isKnown = facts.index !== null || facts.base !== null
  if (isKnown) return overlap(facts.path, what)
  return {
    kind: 'problem',
    problem: {
      code: 'would-overwrite',
      path: facts.path,
      message: `${facts.path} ${what}, and git does not track it`,
    },
  }
}

const overlap = (path: string, what: string): Decision<never> => ({
  kind: 'problem',
  problem: { code: 'overlaps-uncommitted', path, message: `${path} ${what}` },
})
