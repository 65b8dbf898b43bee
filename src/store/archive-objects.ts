import { parseCommit } from '../git/commit.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { PackedObject } from '../git/pack-objects.ts'
import type { Change } from '../model/change.ts'
import { type CommitId, commitId, type TreeId, treeId } from '../model/ids.ts'
import type { ArchiveEntry } from './archive.ts'

/**
 * Every object that a change alone needs: its log, its approvals, its revisions with the trees and blobs that they change, and the
 * commit that landed. What is missing is left out. Objects of the base are the user's.
 */
export async function objectsOf(
  reader: ObjectReader,
  change: Change,
  entry: Pick<ArchiveEntry, 'tip' | 'rows'>,
): Promise<readonly PackedObject[]> {
  const found = new Map<string, PackedObject>()
  const add = (id: string, name: string) => {
    if (!found.has(id)) found.set(id, { id, name })
  }
  await addLog(reader, entry.tip, add)
  for (const { ref, object } of entry.rows) {
    const kind = (await reader.info(object))?.type
    if (kind !== undefined) add(object, kind === 'tag' ? 'approval' : (ref.split('/')[2] ?? ''))
  }
  for (const revision of change.revisions) {
    const commit = await reader.info(revision.commit)
    if (commit?.type !== 'commit') continue
    add(revision.commit, 'revision')
    const { tree } = await parseCommit(reader, revision.commit)
    const paths = revision.manifest.filter((t) => t.newMode !== '000000').map((t) => t.path)
    const deleted = revision.manifest.filter((t) => t.newMode === '000000').map((t) => t.path)
    await addPaths(reader, tree, paths, add)
    await addPaths(reader, tree, deleted, add)
  }
  return [...found.values()]
}

type Add = (id: string, name: string) => void

async function addLog(reader: ObjectReader, tip: CommitId, add: Add): Promise<void> {
  for (let at: CommitId | null = tip; at !== null; ) {
    if ((await reader.info(at)) === null) return
    add(at, 'log')
    const { tree, parents }: Awaited<ReturnType<typeof parseCommit>> = await parseCommit(reader, at)
    await addWhole(reader, tree, '', add)
    at = parents[0] === undefined ? null : commitId(parents[0])
  }
}

/** A tree with all in it. */
async function addWhole(reader: ObjectReader, tree: TreeId, name: string, add: Add): Promise<void> {
  if ((await reader.info(tree)) === null) return
  add(tree, name)
  for (const entry of await reader.tree(tree)) {
    if (entry.mode === '040000') await addWhole(reader, treeId(entry.id), entry.name, add)
    else if ((await reader.info(entry.id)) !== null) add(entry.id, entry.name)
  }
}

/** The trees on the way to some paths, and the blobs at them. */
async function addPaths(
  reader: ObjectReader,
  root: TreeId,
  paths: readonly string[],
  add: Add,
): Promise<void> {
  for (const path of paths) {
    const parts = path.split('/')
    let at = root as string
    for (const [i, part] of parts.entries()) {
      if ((await reader.info(at)) === null) break
      add(at, parts.slice(0, i).join('/'))
      const entry = (await reader.tree(treeId(at))).find((e) => e.name === part)
      if (entry === undefined) break
      at = entry.id
      if (entry.mode === '040000' && i < parts.length - 1) continue
      if (entry.mode !== '160000' && (await reader.info(at)) !== null) add(at, path)
      break
    }
  }
}
