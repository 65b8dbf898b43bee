import { commitTree } from '../../git/commit-tree.ts'
import { emptyTree, type FileChange, openImporter } from '../../git/fast-import.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'

const WHO = { name: 'galley', email: 'galley@localhost', date: '0 +0000' }
const FACTS = { author: WHO, committer: WHO, message: 'What stood in a tree\n' }

/** Writes the tree of a commit with some changes to it. Its blobs are in the store already. */
export async function changedTree(
  { door }: Store,
  parent: CommitId,
  changes: readonly FileChange[],
): Promise<TreeId> {
  const importer = openImporter(door, { asPack: false })
  const { tree } = await importer.commit({ parent, ...FACTS, changes })
  await importer.finish()
  return tree ?? emptyTree(door.objectFormat)
}

/** As `changedTree`, for a tree that no commit has. */
export async function furtherChanged(
  store: Store,
  tree: TreeId,
  changes: readonly FileChange[],
): Promise<TreeId> {
  return changedTree(store, await commitTree(store.door, tree, { base: null, ...FACTS }), changes)
}
