import { listLine } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import type { CommitId } from '../../model/ids.ts'

/** The newest commit of a tip's first-parent line that stands on one of some branches' own lines, or null. A process for each. */
export async function nearestOn(
  door: GitDoor,
  tip: CommitId,
  branches: readonly CommitId[],
): Promise<CommitId | null> {
  const known = new Set<CommitId>()
  for (const branch of new Set(branches)) for (const id of await listLine(door, [branch])) known.add(id)
  if (known.size === 0) return null
  return (await listLine(door, [tip])).find((id) => known.has(id)) ?? null
}
