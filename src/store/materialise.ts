import { basename, join } from 'node:path'
import { pathConversions } from '../git/attributes.ts'
import { smudgeBlob } from '../git/convert.ts'
import { diffTrees, isUncertainName } from '../git/diff-tree.ts'
import type { GitDoor } from '../git/door.ts'
import { type EditedIndex, editIndex, type IndexEdit, scanIndex } from '../git/index-edit.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { Repository } from '../git/open-repository.ts'
import { refuse } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import { overwriteRanges, readQuickly, replaceQuickly, replaceWithParts } from '../sys/quick-files.ts'
import { linkInTree, removeFromTree, type Written, writeInTree } from '../sys/tree-files.ts'

/** Beyond this many files git's own checkout is as quick. */
const FILES_MAX = 5_000
const NAME_OF_ATTRIBUTES = '.gitattributes'

/**
 * Moves a clean full tree from one commit to another by writing what differs and nothing else: files, index entries with their
 * times, HEAD. Afterwards `git status` in it is clean and true. The cost follows the difference, apart from one pass over the bytes of the index.
 *
 * @returns false, with the tree in a state in between, where git has to do it: many files, attributes that change, submodules,
 * something in the way, an index of an unusual form.
 */
export async function moveTree(
  repository: Repository,
  tree: GitDoor & { readonly workTree: string },
  reader: ObjectReader,
  from: CommitId,
  to: CommitId,
): Promise<boolean> {
  const indexFile = join(tree.gitDir, 'index')
  const difference = diffTrees(tree, from, to)
  // While git is at it.
  const bytes = readQuickly(indexFile)
  const index = bytes === null ? null : scanIndex(bytes, tree.objectFormat)
  const manifest = await difference
  if (bytes === null || index === null || !isUsual(manifest)) return false
  if (manifest.length > 0) {
    const edits = await writeFiles(repository, tree, reader, manifest, bytes.includes(NAME_OF_ATTRIBUTES))
    if (edits === null) return false
    writeIndex(indexFile, editIndex(index, edits))
  }
  await replaceQuickly(join(tree.gitDir, 'HEAD'), `${to}\n`)
  return true
}

function writeIndex(file: string, edited: EditedIndex): void {
  if (edited.kind === 'whole') replaceWithParts(file, edited.bytes)
  else overwriteRanges(file, edited.bytes, edited.ranges)
}

const isUsual = (manifest: Manifest): boolean =>
  manifest.length <= FILES_MAX &&
  manifest.every(
    (t) =>
      t.oldMode !== '160000' &&
      t.newMode !== '160000' &&
      !isUncertainName(t.path) &&
      basename(t.path) !== NAME_OF_ATTRIBUTES &&
      isPlain(t.path),
  )

/** A name that was not UTF-8 cannot be written under its own bytes. */
const isPlain = (path: string): boolean => !path.includes('\ufffd')

/** Null when something stands in the way. */
async function writeFiles(
  repository: Repository,
  tree: GitDoor & { readonly workTree: string },
  reader: ObjectReader,
  manifest: Manifest,
  hasAttributes: boolean,
): Promise<readonly IndexEdit[] | null> {
  const edits: IndexEdit[] = []
  // Deletions first: a file may make room for a directory of its name.
  for (const { path, newMode } of manifest) {
    if (newMode !== '000000') continue
    if (!removeFromTree(tree.workTree, path)) return null
    edits.push({ kind: 'remove', path })
  }
  const kept = manifest.filter((t) => t.newMode !== '000000')
  const asRepository: Repository = { ...repository, workTree: tree.workTree, gitDir: tree.gitDir, door: tree }
  const conversions = hasAttributes
    ? await pathConversions(
        asRepository,
        kept.map((t) => t.path),
      )
    : new Map()
  for (const transition of kept) {
    const conversion = conversions.get(transition.path)
    const bytes =
      conversion === undefined || conversion.kind === 'filtered' || transition.newMode === '120000'
        ? await blobBytes(reader, transition)
        : await smudgeBlob(asRepository, tree, transition.path, transition.newBlob, { conversion })
    const written = writeOne(tree.workTree, transition, bytes)
    if (written.kind !== 'written') return null
    const { path, newMode: mode, newBlob: id } = transition
    edits.push({ kind: 'set', path, mode, id, stat: written.stat })
  }
  return edits
}

function writeOne(root: string, { path, newMode }: Transition, bytes: Uint8Array): Written {
  return newMode === '120000'
    ? linkInTree(root, path, bytes)
    : writeInTree(root, path, bytes, newMode === '100755')
}

async function blobBytes(reader: ObjectReader, { path, newBlob }: Transition): Promise<Uint8Array> {
  const found = await reader.contents(newBlob)
  return (
    found?.bytes ??
    refuse('stale', `the blob ${newBlob} of ${path} is not in the repository any more`, { path })
  )
}
