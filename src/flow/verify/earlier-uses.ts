import { commonAncestor, type LoggedCommit, walkCommits } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import type { ChangeId, CommitId } from '../../model/ids.ts'
import { makesEachStep } from '../../policy/cover.ts'
import type { Covering } from './approval-pool.ts'

/** A commit that used an approved manifest. */
export interface Use {
  readonly commit: CommitId
  readonly covering: Covering
}

export type Uses = Map<ChangeId, Use[]>

/**
 * Uses of the same approvals before a range: an approved change that was landed, taken back, and is made again without asking. Only
 * commits since the change was staged can have used it.
 *
 * Two processes; none where every change was staged on the range's own start.
 */
export async function findEarlierUses(
  door: GitDoor,
  range: readonly LoggedCommit[],
  uses: readonly Use[],
): Promise<Uses> {
  const found: Uses = new Map()
  const inRange = new Set<CommitId>(range.map((c) => c.commit))
  const starts = new Set(range.flatMap((c) => c.parents.filter((p) => !inRange.has(p))))
  const older = uses
    .map((use) => use.covering)
    .filter(({ base }) => base !== null && !inRange.has(base) && !starts.has(base))
  if (older.length === 0 || starts.size === 0) return found
  const bases = new Set(older.flatMap(({ base }) => base ?? []))
  const since = await commonAncestor(door, [...starts, ...bases])
  const walked = await walkCommits(door, {
    include: [...starts],
    exclude: since === null ? [] : [since],
    // A commit that makes all steps of a manifest makes the first of them.
    paths: [...new Set(older.flatMap(({ manifest }) => manifest[0]?.path ?? []))],
  })
  for (const { commit, transitions } of walked) {
    for (const covering of older) {
      if (!makesEachStep(transitions ?? [], covering.manifest)) continue
      found.set(covering.key, [...(found.get(covering.key) ?? []), { commit, covering }])
    }
  }
  return found
}
