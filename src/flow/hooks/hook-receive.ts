import { isAncestor } from '../../git/commit-log.ts'
import { headBranch, listRefs, listSymbolic, resolveCommit, symbolicTarget } from '../../git/refs.ts'
import { refuse } from '../../model/error.ts'
import { type CommitId, commitId, type TreeId } from '../../model/ids.ts'
import { type CommitVerdict, isFailure } from '../../model/verdict.ts'
import { readScript } from '../../sys/hook-files.ts'
import { findHookPlace, readHookFacts } from '../hook-place.ts'
import { readPolicyFile } from '../read-policy.ts'
import { guardOf } from '../verify/guard-of.ts'
import { judgeBranch } from '../verify/judge-branch.ts'
import { judgeCommits } from '../verify/judge-commits.ts'
import { nearestOn } from '../verify/nearest-on.ts'
import { guardWithin, type StepPolicy, stepPolicy } from '../verify/step-policy.ts'
import type { Verifier } from '../verify/verifier.ts'
import { withVerifier } from '../verify/verify.ts'
import type { World } from '../world.ts'
import { arrivingRows, type RefStep } from './hook-refs.ts'
import { refuseUnapproved } from './hook-refusal.ts'
import { guardOwnRef, isOwnRef, refuseTooMany } from './own-refs.ts'
import { refuseTooManyCommits } from './pushed-commits.ts'

const HEADS = 'refs/heads/'

/**
 * Judges a push on the server that receives it, for `pre-receive` and `update`: the lock that a client cannot go past.
 *
 * A guarded branch goes on from where it stands along its first-parent line, each step covered by approvals that it has not used; it loses no
 * commit and may not be deleted. On any branch a commit that claims a change must be covered by it. What moves is what counts: a symbolic ref is
 * followed. Revisions and approvals are made once and never move; logs move forward only. Approvals and logs that come with the push count.
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
  const moved = await followed(world, steps)
  await withVerifier(world, { objects: quarantine, rows: arrivingRows(moved) }, async (verifier) => {
    // Logs first: what they say of approvals counts for the branches.
    for (const step of moved) if (isOwnRef(step.ref)) await guardOwnRef(verifier, step)
    for (const step of moved) if (step.ref.startsWith(HEADS)) await guardBranch(verifier, step)
  })
}

/**
 * Judges one ref of a push, for `update`. Where galley's `pre-receive` stands, git has asked that first: it judged the push as a whole, with
 * the approvals that came along, which a look at one ref does not show.
 *
 * @throws GalleyError as {@link guardReceive}.
 */
export async function guardUpdate(world: World, step: RefStep, quarantine: string | null): Promise<void> {
  if (!(await hasPreReceive(world))) await guardReceive(world, [step], quarantine)
}

/** git runs no hook that is not executable. */
async function hasPreReceive(world: World): Promise<boolean> {
  const place = await findHookPlace(world.repository)
  const { path, file } = await readHookFacts(place, null, 'pre-receive', '')
  const script = await readScript(path)
  const isOurs = file.kind === 'file' && file.owner === 'galley'
  return isOurs && script.kind === 'file' && (script.mode & 0o111) !== 0
}

/** The refs that really move. */
async function followed(world: World, steps: readonly RefStep[]): Promise<readonly RefStep[]> {
  const { door } = world.repository
  const links = await listSymbolic(door)
  const targetOf = async ({ ref, before }: RefStep): Promise<string> =>
    // One that leads to a branch that is not there yet is in no list.
    links.get(ref) ??
    (before === null && ref.startsWith(HEADS) ? await symbolicTarget(door, ref) : null) ??
    ref
  return Promise.all(steps.map(async (step) => ({ ...step, ref: await targetOf(step) })))
}

async function guardBranch(verifier: Verifier, { ref, before, after }: RefStep): Promise<void> {
  const branch = ref.slice(HEADS.length)
  const policyAt = (tree: TreeId | null) => stepPolicy(verifier, tree, { branches: [branch] })
  const from = before === null ? await beginningOf(verifier, after) : { start: before, state: before }
  const state = await policyAt(from.state === null ? null : await verifier.reader.commitTree(from.state))
  const { guardedBy } = state
  if (after === null) {
    if (guardedBy === null) return
    refuse(
      'unapproved',
      `${branch} is guarded and may not be deleted by a push`,
      { branch, guardedBy },
      'Take the branch out of `guard` in .galley.json first, by a change that somebody approves; or delete it on the server.',
    )
  }
  if (guardedBy !== null && before !== null && !(await isAncestor(verifier.door, before, after))) {
    refuse(
      'unapproved',
      `${branch} is guarded and may not lose commits: ${after.slice(0, 12)} does not have ${before.slice(0, 12)}`,
      { branch, guardedBy, before, after },
      `Rebase onto it, or merge into it: \`git fetch\`, then \`git rebase ${before.slice(0, 12)}\`. To take back what it has: \`galley undo\`, or \`git revert\` and \`galley capture\`.`,
    )
  }
  const known = await alreadyThere(verifier.world, before)
  const exclude = guardedBy === null ? known : from.start === null ? [] : [from.start]
  await refuseTooManyCommits(verifier, { branch, exclude, after })
  // A new branch is judged by one policy to its end: its own beginning may be older than that.
  const isFixed = before === null && from.state !== null
  const verdicts = await judgeMove(verifier, {
    before,
    after,
    start: from.start,
    state,
    branch,
    policyAt: isFixed ? async () => state : policyAt,
  })
  const failures = verdicts.filter((one) => isFailure(one.verdict))
  const { policy } = state.rules
  if (failures.length === 0) return
  refuseUnapproved({ what: `the push to ${branch}`, failures, agent: null, branch, guardedBy, policy })
}

interface Move {
  readonly branch: string
  readonly before: CommitId | null
  readonly after: CommitId
  readonly start: CommitId | null
  readonly state: StepPolicy
  readonly policyAt: (tree: TreeId | null) => Promise<StepPolicy>
}

async function judgeMove(verifier: Verifier, move: Move): Promise<readonly CommitVerdict[]> {
  const { branch, before, after, start, state, policyAt } = move
  const { world } = verifier
  const common = { tip: after, policyAt, at: world.now() }
  if (state.guardedBy !== null) return judgeBranch(verifier, { ...common, start })
  const exclude = await alreadyThere(world, before)
  const verdicts = await judgeCommits(verifier, { ...common, exclude, policyOf: before })
  if (verdicts.some((one) => isFailure(one.verdict))) return verdicts
  // The push may bring the guard itself: what comes after that is judged by it.
  const range = { from: start, to: after }
  if ((await guardWithin(verifier, range, [branch])) === null) return verdicts
  const isOnWay = start === null || (await isAncestor(verifier.door, start, after))
  return isOnWay ? judgeBranch(verifier, { ...common, start }) : verdicts
}

/** What no push brings any more: the branch as it is, and all others. */
async function alreadyThere({ repository }: World, before: CommitId | null): Promise<readonly CommitId[]> {
  const heads = (await listRefs(repository.door, HEADS)).map((row) => commitId(row.object))
  return [...(before === null ? [] : [before]), ...heads]
}

/**
 * Where a new branch begins, and by which state it is judged: the branch that HEAD names, and where that is not born or has no policy while
 * others have, the judged commit that it begins at. It begins at the newest commit of its line that a branch has on its own, which was judged
 * there under the same guard.
 */
async function beginningOf(
  verifier: Verifier,
  after: CommitId | null,
): Promise<{ readonly start: CommitId | null; readonly state: CommitId | null }> {
  const { world, reader, door } = verifier
  const hashOf = async (commit: CommitId) => readPolicyFile(world, await reader.commitTree(commit))
  const rows = await listRefs(world.repository.door, HEADS)
  const head = await headBranch(world.repository.door)
  const headTip = head === null ? null : await resolveCommit(world.repository.door, head)
  const ofHead = headTip === null ? null : await hashOf(headTip)
  const judged: CommitId[] = []
  for (const row of rows) {
    const tip = commitId(row.object)
    const { policy, hash } = await hashOf(tip)
    const isGuarded = guardOf(policy, [row.ref.slice(HEADS.length)]) !== null
    // Under another policy it may have been judged by less.
    if (isGuarded && (ofHead?.exists !== true || hash === ofHead.hash)) judged.push(tip)
  }
  const start = after === null ? null : await nearestOn(door, after, judged)
  return { start, state: ofHead?.exists === true ? headTip : (start ?? headTip) }
}
