import { isAncestor } from '../../git/commit-log.ts'
import { headBranch, listRefs, type RefRow, resolveCommit } from '../../git/refs.ts'
import { type CommitId, commitId, isObjectId, isZeroId } from '../../model/ids.ts'
import type { Policy } from '../../model/policy.ts'
import { isFailure } from '../../model/verdict.ts'
import { agentAtWork } from '../../policy/agent-environment.ts'
import { branchMatcher, type PathMatcher } from '../../policy/path-matcher.ts'
import { readPolicy } from '../read-policy.ts'
import { judgeRange } from '../verify/judge-range.ts'
import { APPROVALS, rulesOf, type Verifier } from '../verify/verifier.ts'
import { withVerifier } from '../verify/verify.ts'
import type { World } from '../world.ts'
import { forPeople, publishedTips } from './hook-commit.ts'
import { refuseUnapproved } from './hook-refusal.ts'

/** A ref that is about to move. null = there is none, before or after. */
export interface RefStep {
  readonly ref: string
  readonly before: CommitId | null
  readonly after: CommitId | null
}

const HEADS = 'refs/heads/'

const branchOf = (ref: string): string => ref.slice(HEADS.length)

/** A line `<old> <new> <ref>`, as `reference-transaction` and `pre-receive` get it. Others (a symbolic ref's) are left out. */
export function readSteps(input: Uint8Array): readonly RefStep[] {
  return linesOf(input).flatMap((line) => {
    const [before = '', after = '', ...name] = line.split(' ')
    return isObjectId(before) && isObjectId(after) ? [stepOf(name.join(' '), before, after)] : []
  })
}

export const linesOf = (input: Uint8Array): readonly string[] =>
  Buffer.from(input)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')

/** Approvals whose refs are about to be made: they come together with the branch that they let through. */
export const arrivingApprovals = (steps: readonly RefStep[]): readonly RefRow[] =>
  steps.flatMap(({ ref, after }) =>
    ref.startsWith(APPROVALS) && after !== null ? [{ ref, object: after }] : [],
  )

export const stepOf = (ref: string, before: string, after: string): RefStep => ({
  ref,
  before: isZeroId(before) ? null : commitId(before),
  after: isZeroId(after) ? null : commitId(after),
})

/**
 * Judges the moves of a ref transaction that git has prepared: on guarded branches, and of any branch while an agent is at work.
 *
 * Deletions pass: packing refs is told as one, and so is the old name of a renamed branch, whose new name is not told at all.
 *
 * @throws GalleyError `unapproved`, `forged`.
 */
export async function guardTransaction(world: World, input: Uint8Array): Promise<void> {
  const steps = readSteps(input)
  await withVerifier(world, { objects: null, rows: arrivingApprovals(steps) }, async (verifier) => {
    const rules = await localRules(verifier)
    const isDetached = (await headBranch(world.repository.door)) === null
    for (const step of steps) {
      const isHead = step.ref === 'HEAD' && isDetached
      if (step.after === null || !(step.ref.startsWith(HEADS) || isHead)) continue
      // git passes what its caller expected, which is often nothing.
      const before = await resolveCommit(world.repository.door, step.ref)
      if (before === step.after) continue
      await guardStep(verifier, rules, { ...step, before }, 'moving')
    }
  })
}

/**
 * Judges what `git push` is about to send, for `pre-push`.
 *
 * @param remote - Its name, or its address where it has none.
 * @throws GalleyError `unapproved`, `forged`.
 */
export async function guardPush(world: World, remote: string, input: Uint8Array): Promise<void> {
  await withVerifier(world, undefined, async (verifier) => {
    const rules = await localRules(verifier)
    const prefix = `refs/remotes/${remote}/`
    const theirs = await listRefs(world.repository.door, 'refs/remotes/')
    for (const line of linesOf(input)) {
      const [, local = '', ref = '', there = ''] = line.split(' ')
      if (!isObjectId(local) || !isObjectId(there) || isZeroId(local) || !ref.startsWith(HEADS)) continue
      const before = (await verifier.reader.info(there)) === null ? null : there
      const step = stepOf(ref, before ?? '0'.repeat(local.length), local)
      // Where only approved commits may go, what stands on another branch there is no proof.
      const isGuarded = rules.guard(branchOf(ref)) !== null
      const known = theirs.filter(
        ({ ref: one }) =>
          !isGuarded || (one.startsWith(prefix) && rules.guard(one.slice(prefix.length)) !== null),
      )
      const published = known.map((row) => commitId(row.object))
      await guardStep(verifier, { ...rules, published }, step, 'pushing to')
    }
  })
}

interface LocalRules {
  readonly policy: Policy
  readonly tree: Parameters<typeof rulesOf>[2]
  readonly guard: PathMatcher
  readonly agent: string | null
  /** What a remote has already, where that is asked for. */
  readonly published?: readonly CommitId[]
}

async function localRules(verifier: Verifier): Promise<LocalRules> {
  const { world, reader } = verifier
  const { tip } = await world.head()
  const tree = tip === null ? null : await reader.commitTree(tip)
  const agent = agentAtWork(world.repository.env)
  const { policy } = await readPolicy(world, tree).catch((error: unknown) => forPeople(error, agent))
  return { policy, tree, guard: branchMatcher(policy.guard), agent }
}

async function guardStep(verifier: Verifier, rules: LocalRules, step: RefStep, doing: string): Promise<void> {
  const { world } = verifier
  const { policy, agent, guard } = rules
  const branch = step.ref.startsWith(HEADS) ? branchOf(step.ref) : null
  const guardedBy = branch === null ? null : guard(branch)
  if (step.after === null || (guardedBy === null && agent === null)) return
  const known =
    rules.published ?? (guardedBy === null ? await allTips(world) : await guardedTips(world, branch, guard))
  const verdicts = await judgeRange(verifier, {
    include: [step.after],
    exclude: [...(step.before === null ? [] : [step.before]), ...known],
    isStrict: true,
    rules: rulesOf(verifier, policy, rules.tree),
    at: world.now(),
  })
  const failures = verdicts.filter((one) => isFailure(one.verdict))
  const what = `${doing} ${branch ?? step.ref}`
  if (failures.length > 0) refuseUnapproved({ what, failures, agent, branch, guardedBy, policy })
  if (guardedBy === null || agent === null || step.before === null) return
  if (await isAncestor(verifier.door, step.before, step.after)) return
  const lost = { commit: step.before, title: '', verdict: 'unapproved', changes: [], paths: [] } as const
  const reason = `it would drop commits: ${step.after.slice(0, 12)} does not have ${step.before.slice(0, 12)}`
  refuseUnapproved({ what, failures: [{ ...lost, reason }], agent, branch, guardedBy, policy })
}

/** Everything that a branch, a remote's branch or a tag leads to, and HEAD. */
async function allTips(world: World): Promise<readonly CommitId[]> {
  const { door } = world.repository
  const rows = await listRefs(door, HEADS, 'refs/remotes/', 'refs/tags/')
  const commits = await Promise.all(rows.map((row) => commitOf(world, row)))
  return [...commits, await resolveCommit(door, 'HEAD')].flatMap((commit) => commit ?? [])
}

/** A tag may be an object of its own. */
const commitOf = (world: World, row: RefRow): Promise<CommitId | null> =>
  row.ref.startsWith('refs/tags/')
    ? resolveCommit(world.repository.door, row.ref)
    : Promise.resolve(commitId(row.object))

/** The guarded branches as they stand, and where remotes have this one. */
async function guardedTips(
  world: World,
  branch: string | null,
  guard: PathMatcher,
): Promise<readonly CommitId[]> {
  const rows = await listRefs(world.repository.door, HEADS)
  const guarded = rows.filter((row) => guard(branchOf(row.ref)) !== null).map((row) => commitId(row.object))
  return [...guarded, ...(await publishedTips(world, branch))]
}
