import { dirname, join } from 'node:path'
import { isSoundIndex } from '../git/index-file.ts'
import type { CommitId } from '../model/ids.ts'
import { moveFile } from '../sys/move-file.ts'
import { isRealDirectory, type KeptFile, keepFile, putBack, replaceQuickly } from '../sys/quick-files.ts'
import { isScratchTree } from '../sys/scratch-identity.ts'
import { removeAllInTree } from '../sys/tree-files.ts'
import { removeTree } from '../sys/trees.ts'
import type { ScratchTree } from './scratch.ts'
import { removeOperations } from './scratch-operations.ts'

/**
 * What git goes by in a scratch tree, as it was before commands run there: HEAD, the index with its times, settings. Held in memory, where what
 * runs in the tree cannot write: an index that it wrote may call any file unchanged.
 */
export interface TreeSeal {
  readonly tree: ScratchTree
  readonly commit: CommitId
  readonly indexFile: string
  readonly index: KeptFile
  readonly settings: ReadonlyMap<string, KeptFile | null>
}

/** Seals a tree that stands at the commit and in which nothing runs. Null when it has no index. Reads the index once, and writes nothing. */
export function sealTree(tree: ScratchTree, commit: CommitId): TreeSeal | null {
  const { gitDir } = tree.door
  const indexFile = join(gitDir, 'index')
  const index = keepFile(indexFile)
  if (index === null) return null
  const common = dirname(dirname(gitDir))
  const files = [
    ...['gitdir', 'commondir', 'config.worktree', 'info/sparse-checkout'].map((name) => join(gitDir, name)),
    ...['config', 'info/attributes'].map((name) => join(common, name)),
  ]
  const settings = new Map(files.map((file) => [file, keepFile(file)]))
  settings.set(join(gitDir, 'HEAD'), { bytes: Buffer.from(`${commit}\n`), mtime: index.mtime })
  return { tree, commit, indexFile, index, settings }
}

/** What commands have left of what git goes by. */
export type Left =
  /** `head`: the text of HEAD. */
  | { readonly kind: 'standing'; readonly index: 'as-it-was' | 'other'; readonly head: string }
  /** The tree itself, or what makes it one, is gone. */
  | { readonly kind: 'gone' }
  /** It was put back; what the files were meant to be cannot be known. */
  | { readonly kind: 'torn'; readonly what: string }

/** Whether an index says nothing of the files: it is gone, cut off or emptied. git itself does not look at its checksum. */
function saysNothing(found: KeptFile | null, { index, tree }: TreeSeal): boolean {
  if (found === null || found.bytes.length < HEADER_BYTES) return true
  if (found.bytes.toString('latin1', 0, 4) !== 'DIRC') return true
  const entries = ({ bytes }: KeptFile) => bytes.readUInt32BE(8)
  if (entries(found) === 0 && entries(index) > 0) return true
  return !isSoundIndex(found.bytes, tree.door.objectFormat)
}

/** Signature, version and number of entries. */
const HEADER_BYTES = 12

/**
 * Puts back what git goes by in a tree, whatever ran there; files of the tree stay as they are. Galley's own calls see from then on what differs
 * from the commit.
 *
 * @param otherIndex - Where to leave the index as it was found, if it is another one.
 */
export async function restoreSealed(seal: TreeSeal, otherIndex: string): Promise<Left> {
  const { tree, indexFile, index } = seal
  const { gitDir } = tree.door
  const headFile = join(gitDir, 'HEAD')
  if (!isRealDirectory(tree.path) || !isRealDirectory(gitDir)) return { kind: 'gone' }
  const head = keepFile(headFile)?.bytes.toString('utf8').trim() ?? ''
  for (const [file, kept] of seal.settings) await putBack(file, kept)
  const isTree = await isScratchTree(tree.path, gitDir)
  if (!isTree) {
    await removeAllInTree(tree.path, '.git')
    await replaceQuickly(join(tree.path, '.git'), `gitdir: ${gitDir}\n`)
  }
  await removeOperations(gitDir)
  const found = keepFile(indexFile)
  const isSame = found?.bytes.equals(index.bytes) === true
  await removeTree(otherIndex)
  if (!isSame && found !== null) await moveFile(indexFile, otherIndex)
  await putBack(indexFile, index)
  if (!isTree) return { kind: 'torn', what: 'its .git' }
  if (!isSame && saysNothing(found, seal)) return { kind: 'torn', what: 'its index' }
  return { kind: 'standing', head, index: isSame ? 'as-it-was' : 'other' }
}
