import { join } from 'node:path'
import { fileExists, namesIn, readFileOrNull } from '../sys/durable-files.ts'

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

/** Files in which an operation keeps the branch that it goes back to at its end, with what stands before the name. */
const BRANCH_FILES: readonly (readonly [file: string, prefix: string])[] = [
  ['rebase-merge/head-name', ''],
  ['rebase-apply/head-name', ''],
  ['BISECT_START', 'refs/heads/'],
]

/**
 * The git directory of a work tree that is rebasing or bisecting this branch, or null. HEAD is detached there
 * meanwhile, and the branch must not move: git itself refuses to force it.
 *
 * @param commonDir - All work trees of the repository are looked at.
 */
export async function whereBranchIsHeld(commonDir: string, ref: string): Promise<string | null> {
  const linked = (await namesIn(join(commonDir, 'worktrees'))).map((name) =>
    join(commonDir, 'worktrees', name),
  )
  for (const gitDir of [commonDir, ...linked]) {
    for (const [file, prefix] of BRANCH_FILES) {
      const text = (await readFileOrNull(join(gitDir, file)))?.toString('utf8').trim()
      if (text !== undefined && (prefix + text === ref || text === ref)) return gitDir
    }
  }
  return null
}
