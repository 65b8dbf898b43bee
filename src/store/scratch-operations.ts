import { join } from 'node:path'
import { removeTree } from '../sys/trees.ts'

/** What an operation that was begun in a tree, or a lock, leaves in its git directory. */
const OPERATIONS = [
  'index.lock',
  'HEAD.lock',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
]

/** Ends whatever git operation was begun in a scratch tree. */
export async function removeOperations(gitDir: string): Promise<void> {
  for (const left of OPERATIONS) await removeTree(join(gitDir, left))
}
