import { join } from 'node:path'
import { namesIn } from '../sys/directories.ts'
import { fileExists, readFileOrNull } from '../sys/small-files.ts'

/**
 * Files in a git directory that stand while an operation waits for the user. @see wt-status.c,
 * wt_status_get_state
 */
const MARKS: readonly (readonly [file: string, operation: string, end: string])[] = [
  ['MERGE_HEAD', 'merge', 'git merge --abort'],
  ['rebase-merge', 'rebase', 'git rebase --abort'],
  ['rebase-apply', 'rebase or am', 'git rebase --abort, or git am --abort'],
  ['CHERRY_PICK_HEAD', 'cherry-pick', 'git cherry-pick --abort'],
  ['REVERT_HEAD', 'revert', 'git revert --abort'],
  ['sequencer', 'cherry-pick or revert of several commits', 'git cherry-pick --abort, or git revert --abort'],
  ['BISECT_LOG', 'bisect', 'git bisect reset'],
]

export interface OperationInProgress {
  readonly operation: string
  /** The file that says so. */
  readonly mark: string
  /** The commands that end it without finishing it. */
  readonly end: string
}

/** The operation that the work tree of this git directory is in the middle of, or null. */
export async function operationInProgress(gitDir: string): Promise<OperationInProgress | null> {
  const present = await Promise.all(MARKS.map(([file]) => fileExists(join(gitDir, file))))
  const found = MARKS.find((_, i) => present[i] === true)
  return found === undefined ? null : { operation: found[1], mark: join(gitDir, found[0]), end: found[2] }
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
