import { type LoggedCommit, walkCommits } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import { emptyTree } from '../../git/fast-import.ts'
import { commitId, treeId, zeroId } from '../../model/ids.ts'
import type { CommitVerdict } from '../../model/verdict.ts'
import { withTemporaryDirectory } from '../../sys/temporary.ts'
import { digestOf } from './approval-pool.ts'
import { RangeJudge } from './range-judge.ts'
import type { RangeRequest, StagedCommit } from './range-request.ts'
import type { Verifier } from './verifier.ts'

/**
 * Judges every commit of a range from the objects alone: what it changes, and which approvals cover that (DESIGN.md section 14).
 *
 * Costs one walk, one look at the commits that approvals name, and for each merge a merge. Leaves nothing.
 */
export async function judgeRange(
  verifier: Verifier,
  request: RangeRequest,
): Promise<readonly CommitVerdict[]> {
  const walked = await walkCommits(verifier.door, request)
  const commits =
    request.staged === undefined ? walked : [...walked, await pretend(request.staged, verifier.door)]
  if (commits.length === 0) return []
  const pool = await verifier.pool()
  await pool.prepare(commits.flatMap((c) => (c.transitions === null ? [] : [digestOf(c.transitions)])))
  const judge = (place: GitDoor | null) => judgeTwice(new RangeJudge(verifier, pool, request, commits, place))
  if (commits.every((c) => c.parents.length < 2)) return judge(null)
  return withTemporaryDirectory(async (directory) => judge(await verifier.mergePlace(directory)))
}

/** The staged commit in the form of those that exist. Its id is all zeros: nothing in the store has that. */
async function pretend(staged: StagedCommit, door: GitDoor): Promise<LoggedCommit> {
  const none = zeroId(door.objectFormat)
  const [parent, ...more] = staged.parents
  const steps = more.length > 0 ? null : await staged.against(parent ?? emptyTree(door.objectFormat), null)
  return {
    commit: commitId(none),
    tree: treeId(none),
    parents: staged.parents,
    committedAt: -1,
    message: staged.message,
    transitions: steps,
    hasUnreadablePath: false,
  }
}

/** Approvals may have been used before the range began; that is asked for those only that the range uses. */
async function judgeTwice(first: RangeJudge): Promise<readonly CommitVerdict[]> {
  const verdicts = await first.run()
  const earlier = await first.findEarlierUses()
  return earlier.size === 0 ? verdicts : first.again(earlier).run()
}
