import { type TreeId, treeId } from '../model/ids.ts'
import { linkOrCopy } from '../sys/index-snapshot.ts'
import { type GitDoor, git } from './door.ts'

/** Where the index of a snapshot differs from the one that it starts with. */
export interface SnapshotPaths {
  /** Files to be taken in beside those that are tracked; left out where they are gone. */
  readonly added: readonly string[]
  /** To be left out although they are tracked. */
  readonly removed: readonly string[]
}

/**
 * Writes the tree of what stands in a scratch tree: tracked files as they are, by an index, and some others. Line endings and encodings are
 * converted as the tree's attributes say.
 *
 * Leaves blobs and trees in the store, and `indexFile`, for the caller to remove; the index that it starts with stays as it is.
 */
export async function snapshotTree(
  tree: GitDoor,
  index: string,
  indexFile: string,
  { added, removed }: SnapshotPaths,
): Promise<TreeId> {
  linkOrCopy(index, indexFile)
  const env = { GIT_INDEX_FILE: indexFile }
  const update = async (how: readonly string[], paths: readonly string[]) => {
    if (paths.length === 0) return
    const input = paths.map((path) => `${path}\0`).join('')
    await git(tree, { args: ['update-index', ...how, '-z', '--stdin'], input, env })
  }
  await git(tree, { args: ['add', '--update', '--sparse', '--', '.'], env })
  await update(['--add', '--remove'], added)
  await update(['--force-remove'], removed)
  const written = await git(tree, { args: ['write-tree'], env })
  return treeId(written.stdout.toString('latin1').trim())
}
