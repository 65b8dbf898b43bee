import type { Change } from '../model/change.ts'
import { assertNever, type Refusal } from '../model/error.ts'
import type { ChangeId } from '../model/ids.ts'
import type { Manifest } from '../model/manifest.ts'

/** What somebody wants taken back. */
export interface UndoWish {
  /** The id of a change, or a revision expression. */
  readonly target?: string
  /** Everything of this agent session that stands. */
  readonly session?: string
  /** Of a merge commit: the parent to go back to, from 1. */
  readonly mainline?: number
  /** Files or directories; only these are taken back. */
  readonly paths: readonly string[]
  /** Numbers of hunks, as the change's diff shows them; only these are taken back. */
  readonly hunks: readonly number[]
}

/**
 * What cannot be asked for together, as a refusal with the code `usage`.
 *
 * Paths and hunks add up: what either names is taken back. A session takes paths but neither hunks nor a mainline, whose numbers
 * belong to one change.
 */
export function wishRefusal(wish: UndoWish): Refusal | null {
  const fault = wishFault(wish)
  return fault === null ? null : { code: 'usage', message: fault, data: {} }
}

function wishFault({ target, session, mainline, hunks }: UndoWish): string | null {
  if (target === undefined && session === undefined)
    return 'what is to be undone? Name a change, a commit or a session'
  if (target !== undefined && session !== undefined) return 'give a change or a session, not both'
  if (session !== undefined && hunks.length > 0)
    return 'hunks are numbered within one change: name the change'
  if (session !== undefined && mainline !== undefined)
    return 'a mainline belongs to one merge commit: name the commit'
  if (hunks.some((n) => !Number.isSafeInteger(n) || n < 1)) return 'a hunk is named by its number, from 1'
  if (mainline !== undefined && (!Number.isSafeInteger(mainline) || mainline < 1))
    return 'the mainline is the number of a parent, from 1'
  return null
}

const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path)

/** Why the change cannot be undone, or null: only what has landed and stands can be. */
export function undoRefusal(change: Pick<Change, 'id' | 'state' | 'landing' | 'undoneBy'>): Refusal | null {
  if (change.state === 'landed' && change.landing !== null) return null
  const by = change.undoneBy === null ? '' : ` by ${change.undoneBy}`
  const isUndone = change.state === 'undone'
  return {
    code: 'wrong-state',
    message: `${change.id} is ${change.state}${by}; only a landed change can be undone`,
    data: { id: change.id, state: change.state, undoneBy: change.undoneBy },
    ...(isUndone ? { hint: `It is brought back by: galley redo ${change.id}` } : {}),
  }
}

/** Whether the change is itself an undo or a redo. */
export const takesBack = (change: Pick<Change, 'undoes' | 'undoesPartly' | 'redoes'>): boolean =>
  change.undoes.length + change.undoesPartly.length + change.redoes.length > 0

export type RedoDecision =
  /** The undo did nothing else, or is itself what was named: it is undone. */
  | { readonly kind: 'undo'; readonly id: ChangeId }
  /** The undo took other changes back too: this one alone is applied again. */
  | { readonly kind: 'reapply'; readonly undo: ChangeId }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

type Standing = Pick<
  Change,
  'id' | 'state' | 'undoes' | 'undoesPartly' | 'redoes' | 'undoneBy' | 'partlyUndoneBy'
>

/**
 * Decides what brings a change back.
 *
 * @param undo - The change that undid it; null when none did.
 */
export function decideRedo(change: Standing, undo: Standing | null): RedoDecision {
  switch (change.state) {
    case 'undone':
      if (undo === null || undo.state !== 'landed')
        return redoRefused(
          change,
          `${change.id} was undone by ${change.undoneBy}, which does not stand any more`,
        )
      return undo.undoes.length === 1 && undo.undoesPartly.length === 0
        ? { kind: 'undo', id: undo.id }
        : { kind: 'reapply', undo: undo.id }
    case 'landed':
      return redoLanded(change)
    case 'staged':
    case 'approved':
    case 'rejected':
    case 'stale':
      return redoRefused(change, `${change.id} is ${change.state}; only what was undone can be redone`)
    default:
      return assertNever(change.state)
  }
}

function redoLanded(change: Standing): RedoDecision {
  if (takesBack(change)) return { kind: 'undo', id: change.id }
  const [only, another] = change.partlyUndoneBy
  if (only === undefined) return redoRefused(change, `${change.id} is landed; nothing of it was undone`)
  if (another === undefined) return { kind: 'undo', id: only }
  const several = `parts of ${change.id} were undone by ${change.partlyUndoneBy.join(', ')}`
  return redoRefused(
    change,
    several,
    `Name the one to take back: galley redo ${change.partlyUndoneBy.at(-1)}`,
  )
}

function redoRefused(change: Standing, message: string, hint?: string): RedoDecision {
  const data = { id: change.id, state: change.state, partlyUndoneBy: change.partlyUndoneBy }
  return {
    kind: 'refused',
    refusal: { code: 'wrong-state', message, data, ...(hint === undefined ? {} : { hint }) },
  }
}

/** What of a change is meant by paths: files of it, or directories that hold some. */
export interface PathChoice {
  readonly chosen: ReadonlySet<string>
  /** Paths of the wish that name nothing of the change. */
  readonly unknown: readonly string[]
}

/**
 * Chooses transitions by path. Both halves of a rename go together: half of one would delete the file.
 *
 * @param renames - New path to old path, within the change.
 * @param laterNames - Path in the change to the path it has now, where it was renamed later: either name is understood.
 */
export function choosePaths(
  paths: readonly string[],
  manifest: Manifest,
  renames: ReadonlyMap<string, string>,
  laterNames: ReadonlyMap<string, string>,
): PathChoice {
  const chosen = new Set<string>()
  const unknown: string[] = []
  for (const path of paths.map(withoutSlash)) {
    const covers = (name: string | undefined) => name === path || name?.startsWith(`${path}/`) === true
    const named = manifest.filter((t) => covers(t.path) || covers(laterNames.get(t.path)))
    if (named.length === 0) unknown.push(path)
    for (const t of named) chosen.add(t.path)
  }
  return { chosen: withRenames(chosen, renames), unknown }
}

/** The paths and, where one is half of a rename, the other half. */
export function withRenames(
  paths: ReadonlySet<string>,
  renames: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const all = new Set(paths)
  for (const [path, origin] of renames) {
    if (!all.has(path) && !all.has(origin)) continue
    all.add(path)
    all.add(origin)
  }
  return all
}

/**
 * Paths that an undo would change though what it takes back never touched them, under any name. There are none, or it is
 * not staged (DESIGN.md section 2, promise 6).
 *
 * @param laterNames - New path to old path, for files that were renamed since.
 */
export function pathsOutside(
  manifest: Manifest,
  own: ReadonlySet<string>,
  laterNames: ReadonlyMap<string, string>,
): readonly string[] {
  return manifest
    .map((t) => t.path)
    .filter((path) => !own.has(path) && !own.has(laterNames.get(path) ?? path))
}
