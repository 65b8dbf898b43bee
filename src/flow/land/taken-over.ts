import type { Version } from '../../landing/decide-path.ts'
import type { TakenOver } from '../../landing/request.ts'
import type { Revision } from '../../model/change.ts'
import type { LoggedChange } from '../../store/change-log.ts'
import { isForeign } from '../is-foreign.ts'

/**
 * What may stand at the paths of a change besides what its base has there, since checks have rewritten what was made of it: where the
 * change was captured, the versions before, which index and work tree hold still; where uncommitted work was taken in, the working file
 * as it was then. It is what the change is made of, and no work beside it.
 *
 * Of a change whose log another clone has written, nothing: its words say nothing of files here.
 */
export function takenOverBy(
  logged: Pick<LoggedChange, 'change' | 'refs'>,
): ReadonlyMap<string, readonly TakenOver[]> {
  const { captured, revisions } = logged.change
  if (isForeign(logged)) return new Map()
  const last = revisions.at(-1)
  const found = new Map<string, TakenOver[]>()
  // Nobody's file is taken away for what it was before.
  for (const path of writtenBy(last).keys()) {
    const versions: TakenOver[] = []
    let n = revisions.length - 1
    for (; n > 0 && isRewritten(revisions[n], path); n--) versions.push(...versionOf(revisions[n - 1], path))
    const isCaptured = captured && n === 0
    const all = [...(isCaptured ? versions : []), ...takenInBy(revisions[n], path)]
    if (n < revisions.length - 1 && all.length > 0) found.set(path, all)
  }
  return found
}

const isRewritten = (revision: Revision | undefined, path: string): boolean =>
  revision?.remarks.some((remark) => remark.kind === 'rewritten' && remark.path === path) === true

const writtenBy = (revision: Revision | undefined) =>
  new Map(revision?.manifest.filter((t) => t.newMode !== '000000').map((t) => [t.path, t]))

const workingOf = (revision: Revision | undefined, path: string) =>
  revision?.files.find((file) => file.path === path)?.working

/** What a revision writes at a path, as the tree and as the work tree have it. */
function versionOf(revision: Revision | undefined, path: string): readonly TakenOver[] {
  const written = writtenBy(revision).get(path)
  if (written === undefined) return []
  const { newMode: mode, newBlob } = written
  const ids = workingOf(revision, path)
  // A file that landing leaves as it is (part of it was captured) holds work that is in no revision.
  const holdsMore = typeof ids?.new === 'string' && ids.old === ids.new
  const file = holdsMore ? null : { mode: ids?.mode ?? mode, id: ids?.new ?? newBlob }
  return [{ entry: { mode, id: newBlob }, file }]
}

/** The tracked file that a revision's edits were made on, uncommitted work and all. */
function takenInBy(revision: Revision | undefined, path: string): readonly TakenOver[] {
  const transition = revision?.manifest.find((t) => t.path === path)
  const ids = workingOf(revision, path)
  const id = ids?.old ?? null
  if (transition === undefined || transition.oldMode === '000000' || id === null || id === ids?.new) return []
  const modes = new Set([transition.oldMode, transition.newMode])
  return [...modes].map((mode) => ({ entry: null, file: { mode, id } }))
}

/** The working files whose uncommitted work a change takes along, as they were then. Of another clone's change, none. */
export function takenAlongBy(
  logged: Pick<LoggedChange, 'change' | 'refs'>,
): ReadonlyMap<string, Version | null> {
  const files = isForeign(logged) ? [] : (logged.change.revisions.at(-1)?.files ?? [])
  return new Map(files.flatMap(({ path, taken }) => (taken === undefined ? [] : [[path, taken] as const])))
}
