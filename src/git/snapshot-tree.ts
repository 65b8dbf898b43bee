import { type TreeId, treeId } from '../model/ids.ts'
import { linkOrCopy } from '../sys/index-snapshot.ts'
import { type GitDoor, git } from './door.ts'

/**
 * Writes the tree of what stands in a scratch tree: tracked files as they are, by the index as it is now, and the untracked
 * files that are named. Line endings and encodings are converted as the tree's attributes say.
 *
 * Leaves blobs and trees in the store, and `indexFile`, for the caller to remove; the tree's own index stays as it is.
 */
export async function snapshotTree(
  tree: GitDoor,
  index: string,
  indexFile: string,
  untracked: readonly string[],
): Promise<TreeId> {
  linkOrCopy(index, indexFile)
  const env = { GIT_INDEX_FILE: indexFile }
  await git(tree, { args: ['add', '--update', '--', '.'], env })
  if (untracked.length > 0) {
    await git(tree, {
      args: ['update-index', '--add', '-z', '--stdin'],
      input: untracked.map((path) => `${path}\0`).join(''),
      env,
    })
  }
  const written = await git(tree, { args: ['write-tree'], env })
  return treeId(written.stdout.toString('latin1').trim())
}
