import { isAncestor } from '../../git/commit-log.ts'
import { listRefs, resolveCommit } from '../../git/refs.ts'
import { refuse } from '../../model/error.ts'
import { type CommitId, commitId } from '../../model/ids.ts'
import { isFailure } from '../../model/verdict.ts'
import { branchMatcher } from '../../policy/path-matcher.ts'
import { readPolicy } from '../read-policy.ts'
import { judgeRange } from '../verify/judge-range.ts'
import { rulesOf, type Verifier } from '../verify/verifier.ts'
import { withVerifier } from '../verify/verify.ts'
import type { World } from '../world.ts'
import { arrivingApprovals, type RefStep } from './hook-refs.ts'
import { refuseUnapproved } from './hook-refusal.ts'
import { guardOwnRef, isOwnRef, refuseTooMany } from './own-refs.ts'

const HEADS = 'refs/heads/'

/**
 * Judges a push on the server that receives it, for `pre-receive` and `update`: the lock that a client cannot go past.
 *
 * On a guarded branch every new commit must be approved, none may be dropped, and the branch may not be deleted. On any branch a commit
 * that claims a change must be covered by it. Revisions and approvals are made once and never move; logs move forward only. Approvals that
 * come with the push count. The policy is that of the branch before the push; for a new branch, of the server's HEAD.
 *
 * @param quarantine - Where the pushed objects are until the push is taken.
 * @throws GalleyError `unapproved`, `forged`; the push is then refused as a whole (`pre-receive`).
 */
export async function guardReceive(
  world: World,
  steps: readonly RefStep[],
  quarantine: string | null,
): Promise<void> {
  refuseTooMany(steps)
  await withVerifier(world, { objects: quarantine, rows: arrivingApprovals(steps) }, async (verifier) => {
    for (const step of steps) {
      if (isOwnRef(step.ref)) await guardOwnRef(verifier, step)
      else if (step.ref.startsWith(HEADS)) await guardBranch(verifier, step)
    }
  })
}

async function guardBranch(verifier: Verifier, { ref, before, after }: RefStep): Promise<void> {
  const { world, reader } = verifier
  const start = before ?? (await resolveCommit(world.repository.door, 'HEAD'))
  const tree = start === null ? null : await reader.commitTree(start)
  const { policy } = await readPolicy(world, tree)
  const guard = branchMatcher(policy.guard)
  const branch = ref.slice(HEADS.length)
  const guardedBy = guard(branch)
  if (after === null) {
    if (guardedBy === null) return
    refuse('unapproved', `${branch} is guarded and may not be deleted by a push`, { branch, guardedBy })
  }
  const heads = await listRefs(world.repository.door, HEADS)
  // What stands on another guarded branch has been judged; what stands on any other has been judged by less.
  const known = heads.filter((row) => guardedBy === null || guard(row.ref.slice(HEADS.length)) !== null)
  const verdicts = await judgeRange(verifier, {
    include: [after],
    exclude: [...(before === null ? [] : [before]), ...known.map((row): CommitId => commitId(row.object))],
    isStrict: guardedBy !== null,
    rules: rulesOf(verifier, policy, tree),
    at: world.now(),
  })
  const failures = verdicts.filter((one) => isFailure(one.verdict))
  const facts = { what: `the push to ${branch}`, agent: null, branch, guardedBy, policy }
  if (failures.length > 0) refuseUnapproved({ ...facts, failures })
  if (guardedBy === null || before === null || (await isAncestor(verifier.door, before, after))) return
  refuse(
    'unapproved',
    `${branch} is guarded and may not lose commits: ${after.slice(0, 12)} does not have ${before.slice(0, 12)}`,
    { branch, guardedBy, before, after },
  )
}
