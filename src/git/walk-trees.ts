import { type TreeId, treeId, zeroId } from '../model/ids.ts'
import { type FileMode, type Manifest, manifestOf, type Transition } from '../model/manifest.ts'
import type { ObjectReader, TreeEntry } from './objects.ts'

const ABSENT: FileMode = '000000'

/**
 * Every path that differs between two trees, as `diffTrees` gives it, by reading tree objects through a reader that runs
 * already: no process, and only directories that differ are read.
 *
 * A directory that stands where the other tree has a file is a deletion and additions, as in git.
 */
export async function walkTrees(reader: ObjectReader, from: TreeId, to: TreeId): Promise<Manifest> {
  const transitions: Transition[] = []
  await walk(
    reader,
    { from, to, prefix: '', zero: zeroId(from.length === 40 ? 'sha1' : 'sha256') },
    transitions,
  )
  return manifestOf(transitions)
}

interface Pair {
  /** null = no directory on that side. */
  readonly from: TreeId | null
  readonly to: TreeId | null
  readonly prefix: string
  readonly zero: string
}

async function walk(reader: ObjectReader, pair: Pair, found: Transition[]): Promise<void> {
  if (pair.from === pair.to) return
  const [before, after] = await Promise.all([entriesOf(reader, pair.from), entriesOf(reader, pair.to)])
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, fresh] = [before.get(name), after.get(name)]
    if (old?.id === fresh?.id && old?.mode === fresh?.mode) continue
    const path = `${pair.prefix}${name}`
    const [oldDirectory, newDirectory] = [directoryOf(old), directoryOf(fresh)]
    const [oldFile, newFile] = [fileOf(old, pair.zero), fileOf(fresh, pair.zero)]
    if (oldFile.mode !== ABSENT || newFile.mode !== ABSENT) {
      found.push({
        path,
        oldMode: oldFile.mode,
        oldBlob: oldFile.id,
        newMode: newFile.mode,
        newBlob: newFile.id,
      })
    }
    await walk(reader, { ...pair, from: oldDirectory, to: newDirectory, prefix: `${path}/` }, found)
  }
}

async function entriesOf(reader: ObjectReader, tree: TreeId | null): Promise<ReadonlyMap<string, TreeEntry>> {
  const entries = tree === null ? [] : await reader.tree(tree)
  return new Map(entries.map((entry) => [entry.name, entry]))
}

const directoryOf = (entry: TreeEntry | undefined): TreeId | null =>
  entry?.mode === '040000' ? treeId(entry.id) : null

function fileOf(
  entry: TreeEntry | undefined,
  zero: string,
): { readonly mode: FileMode; readonly id: string } {
  return entry === undefined || entry.mode === '040000'
    ? { mode: ABSENT, id: zero }
    : { mode: entry.mode, id: entry.id }
}
