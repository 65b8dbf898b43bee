import { join } from 'node:path'
import { statEntries } from '../../git/index-stats.ts'
import { listTree } from '../../git/list-tree.ts'
import { objectIdOf } from '../../git/loose-object.ts'
import { limits } from '../../model/limits.ts'
import type { Store } from '../../store/open-store.ts'
import { changedRepository, readOwnHead } from '../../store/own-refs.ts'
import { ownRepositoryOf } from '../../store/own-repository.ts'
import { type ScratchTree, viewIndex } from '../../store/scratch.ts'
import { objectFilesIn } from '../../sys/object-files.ts'
import { isThere, readQuickly } from '../../sys/quick-files.ts'
import { readTreeBytes } from '../../sys/tree-bytes.ts'
import { shownPath } from '../../sys/walk-tree.ts'
import { foldBeside } from './fold-beside.ts'
import { oddities } from './oddities.ts'
import { type FilesBefore, type SortedTree, sortTree } from './sort-tree.ts'

/**
 * What somebody has made of a tree that `galley open` gave: files, commits, anything in its repository. Each as a few words; none = the tree is as
 * it was given. Writes nothing, and runs no git there.
 */
export async function findTreeWork(store: Store, tree: ScratchTree): Promise<readonly string[]> {
  const own = await ownRepositoryOf(tree)
  const head = readOwnHead(own.gitDir)
  const { handedOut } = own
  // What was cut off while it was made has neither, and nobody has been there.
  if (handedOut === null && !isThere(own.gitDir)) return []
  if (handedOut === null || head === null) return ['its repository']
  const { loose, packs, others } = objectFilesIn(join(own.gitDir, 'objects'))
  const holdsObjects = loose.length + packs.length + others.length > 0
  return [
    ...(await workFiles(store, tree, handedOut)),
    ...(await changedRepository(tree)),
    ...(holdsObjects ? ['objects of its own'] : []),
    ...oddities(own, head),
  ]
}

async function workFiles(
  store: Store,
  tree: ScratchTree,
  given: { readonly commit: string | null; readonly brought: readonly string[]; readonly atMs: number },
): Promise<readonly string[]> {
  const base = given.commit === null ? new Map() : await listTree(store.door, given.commit)
  const index = readQuickly(viewIndex(tree))
  const stats: FilesBefore['stats'] = index === null ? new Map() : statEntries(index, store.door.objectFormat)
  const sorted = sortTree(tree.path, base, { stats, brought: given.brought, atMs: given.atMs })
  const changed = sorted.candidates.filter((entry) => differs(store, tree, entry))
  const fresh = [...sorted.untracked, ...sorted.beside].map(({ path }) => ({ path, why: '' }))
  const staying = [...sorted.settled, ...sorted.candidates.map(({ path }) => path)]
  const paths = [
    ...changed.map(({ path }) => path),
    ...sorted.gone,
    ...foldBeside(fresh, staying).map((b) => b.path),
  ]
  return paths.map(shownPath)
}

/** Where line endings are converted a file that was written again counts as changed, which keeps the tree. */
function differs(
  store: Store,
  { path: root }: ScratchTree,
  entry: SortedTree['candidates'][number],
): boolean {
  const { path, kind, base } = entry
  const read = readTreeBytes(root, path, limits.fileMaxBytes)
  if (read.kind !== 'bytes') return true
  const mode = kind === 'link' ? '120000' : read.isExecutable ? '100755' : '100644'
  return mode !== base.mode || objectIdOf('blob', read.bytes, store.door.objectFormat) !== base.id
}
