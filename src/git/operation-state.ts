import { join } from 'node:path'
import { fileExists } from '../sys/durable-files.ts'

/**
 * Files in a git directory that stand while an operation waits for the user. @see wt-status.c,
 * wt_status_get_state
 */
const MARKS: readonly (readonly [file: string, operation: string])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase or am'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick or revert of several commits'],
  ['BISECT_LOG', 'bisect'],
]

/** The operation that the work tree of this git directory is in the middle of, or null. */
export async function operationInProgress(
  gitDir: string,
): Promise<{ readonly operation: string; readonly mark: string } | null> {
  const present = await Promise.all(MARKS.map(([file]) => fileExists(join(gitDir, file))))
  const found = MARKS.find((_, i) => present[i] === true)
  return found === undefined ? null : { operation: found[1], mark: join(gitDir, found[0]) }
}
