import { join } from 'node:path'
import { isSoundIndex } from '../git/index-file.ts'
import type { CommitId } from '../model/ids.ts'
import { isRealDirectory, readIfFile, replaceQuickly } from '../sys/quick-files.ts'
import { removeTree } from '../sys/trees.ts'
import { readOwnHead } from './own-refs.ts'
import { type OwnPlan, ownRepositoryOf, removeOwnRepository, writeOwnRepository } from './own-repository.ts'
import { type ScratchTree, viewIndex } from './scratch.ts'

/**
 * A tree that stands at a commit, in which commands run one after the other. Each finds a repository of the tree's own, made anew; galley goes
 * by its own view, whose index and HEAD none of them has.
 */
export interface TreeSeal {
  readonly tree: ScratchTree
  readonly commit: CommitId
  readonly own: OwnPlan
}

/** What one command is shown of the repository. */
export interface Shown {
  /** Where HEAD and the branch stand. */
  readonly head: CommitId
  /** A file; default: the index of the commit. */
  readonly index?: string
}

/** Gives a tree the repository that its next command finds. */
export async function showRepository({ tree, own }: TreeSeal, { head, index }: Shown): Promise<void> {
  await writeOwnRepository(tree, own, { head, index: index ?? viewIndex(tree) })
}

/** Makes a tree of the small form a registered work tree of the store again, when no command runs there any more. */
export async function endShow({ tree }: Pick<TreeSeal, 'tree'>): Promise<void> {
  if (tree.form === 'full' || !isRealDirectory(tree.path)) return
  await removeOwnRepository(tree)
  await replaceQuickly(join(tree.path, '.git'), `gitdir: ${tree.door.gitDir}\n`)
}

/** What a command has left of the repository that it was shown. */
export type Left =
  | {
      readonly kind: 'standing'
      /** Whether its index is another one, a copy of which is in the file given. */
      readonly index: 'as-it-was' | 'other'
      /** What HEAD comes to; null = no commit. */
      readonly head: CommitId | null
    }
  /** The tree itself is gone. */
  | { readonly kind: 'gone' }
  /** What the files were meant to be cannot be known. */
  | { readonly kind: 'torn'; readonly what: string }

/** Whether an index says nothing of the files: it is gone, cut off or emptied. git itself does not look at its checksum. */
function saysNothing(found: Buffer | null, shown: Buffer | null, { tree }: TreeSeal): boolean {
  if (found === null || found.length < HEADER_BYTES) return true
  if (found.toString('latin1', 0, 4) !== 'DIRC') return true
  const entries = (bytes: Buffer) => bytes.readUInt32BE(8)
  if (entries(found) === 0 && shown !== null && entries(shown) > 0) return true
  return !isSoundIndex(found, tree.door.objectFormat)
}

/** Signature, version and number of entries. */
const HEADER_BYTES = 12

/**
 * Looks at what a command has left of the repository that it was shown, by its files: no git runs there. Files of the tree stay as they are.
 *
 * @param shownIndex - The index that it was shown.
 * @param otherIndex - Where to leave a copy of the index as it was found, if it is another one.
 */
export async function lookAtShown(seal: TreeSeal, shownIndex: string, otherIndex: string): Promise<Left> {
  const { tree } = seal
  if (!isRealDirectory(tree.path) || !isRealDirectory(tree.door.gitDir)) return { kind: 'gone' }
  const { gitDir } = await ownRepositoryOf(tree)
  const head = readOwnHead(gitDir)
  await removeTree(otherIndex)
  if (head === null) return { kind: 'torn', what: 'its .git' }
  const [found, shown] = [readIfFile(join(gitDir, 'index')), readIfFile(shownIndex)]
  const isSame = found !== null && shown?.equals(found) === true
  if (!isSame && saysNothing(found, shown, seal)) return { kind: 'torn', what: 'its index' }
  if (!isSame && found !== null) await replaceQuickly(otherIndex, found)
  return { kind: 'standing', head: head.commit, index: isSame ? 'as-it-was' : 'other' }
}
