import type { ObjectReader } from '../git/objects.ts'
import type { Revision } from '../model/change.ts'
import { GalleyError } from '../model/error.ts'
import { type CommitId, isZeroId, type TreeId, treeId } from '../model/ids.ts'
import { keepObjects } from './keep-objects.ts'
import type { Store } from './open-store.ts'

/**
 * Ids of all that a revision needs to be shown, approved and landed: both commits, both sides of every path, the trees on the way there,
 * and what working files held. Not what the change leaves alone: that is its base's, and the branch's.
 *
 * Reads no blob. A tree that is not there any more is left out with what is below.
 */
export async function revisionObjects(
  reader: ObjectReader,
  revision: Revision,
): Promise<ReadonlySet<string>> {
  const { base, commit, manifest } = revision
  const found = new Set<string>([commit])
  for (const { oldMode, oldBlob, newMode, newBlob } of manifest) {
    if (oldMode !== '160000') found.add(oldBlob)
    if (newMode !== '160000') found.add(newBlob)
  }
  for (const { working } of revision.files)
    for (const id of [working?.old, working?.new]) if (id !== undefined && id !== null) found.add(id)
  const directories = directoriesOf(manifest.map((t) => t.path))
  for (const one of base === null ? [commit] : [base, commit]) {
    found.add(one)
    await addTrees(reader, await treeOf(reader, one), directories, found)
  }
  return new Set([...found].filter((id) => !isZeroId(id)))
}

/** Puts into the store itself what a revision needs, before anything leads to it. */
export const keepRevision = async (store: Store, reader: ObjectReader, revision: Revision): Promise<void> =>
  keepObjects(store, reader, await revisionObjects(reader, revision))

/** Every directory above the paths, each once; the root is ''. */
function directoriesOf(paths: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>([''])
  for (const path of paths)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end)
      if (found.has(directory)) break
      found.add(directory)
    }
  return found
}

const treeOf = (reader: ObjectReader, commit: CommitId): Promise<TreeId | null> =>
  reader.commitTree(commit).catch(goneAsNull)

async function addTrees(
  reader: ObjectReader,
  root: TreeId | null,
  directories: ReadonlySet<string>,
  found: Set<string>,
): Promise<void> {
  const left: { readonly tree: TreeId; readonly prefix: string }[] = []
  if (root !== null) left.push({ tree: root, prefix: '' })
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { tree, prefix } = next
    found.add(tree)
    const entries = (await reader.tree(tree).catch(goneAsNull)) ?? []
    for (const { name, mode, id } of entries)
      if (mode === '040000' && directories.has(`${prefix}${name}`))
        left.push({ tree: treeId(id), prefix: `${prefix}${name}/` })
  }
}

function goneAsNull(error: unknown): null {
  if (error instanceof GalleyError && error.code === 'stale') return null
  throw error
}
