import { lookUpPath, type TreeLookup } from '../git/objects.ts'
import type { Revision } from '../model/change.ts'
import type { CommitId } from '../model/ids.ts'
import type { World } from './world.ts'

/** Paths of the manifest whose entry at a tip is not the one that the change starts from. */
export async function movedPaths(
  world: World,
  revision: Revision,
  tip: CommitId | null,
): Promise<readonly string[]> {
  if (tip === revision.base) return []
  const reader = await world.reader()
  const treeOf = (commit: CommitId | null) => (commit === null ? null : reader.commitTree(commit))
  const [before, now] = [await treeOf(revision.base), await treeOf(tip)]
  const moved: string[] = []
  for (const { path, oldMode, oldBlob } of revision.manifest) {
    const found = standingAt(await lookUpPath(reader, now, path))
    // What makes room for a new path stands in its way at the base, too.
    const isThere =
      oldMode === '000000'
        ? found === 'absent' || found === standingAt(await lookUpPath(reader, before, path))
        : found === `file ${oldMode} ${oldBlob}`
    if (!isThere) moved.push(path)
  }
  return moved
}

/** What a tree holds at a path, or in its way, to be compared. A file in the way is in the manifest itself. */
function standingAt(found: TreeLookup): string {
  if (found.kind === 'file') return `file ${found.entry.mode} ${found.entry.id}`
  if (found.kind === 'directory') return `directory ${found.tree}`
  return found.kind === 'blocked' ? `blocked by ${found.by}` : 'absent'
}
