import { isAncestor } from '../../git/commit-log.ts'
import { headBranch, listRefs, type RefRow, resolveCommit } from '../../git/refs.ts'
import { type CommitId, commitId, isObjectId, isZeroId, type TreeId } from '../../model/ids.ts'
import { isFailure } from '../../model/verdict.ts'
import { agentAtWork } from '../../policy/agent-environment.ts'
import { LOG_PREFIX } from '../../store/change-refs.ts'
import { judgeBranch } from '../verify/judge-branch.ts'
import { judgeCommits } from '../verify/judge-commits.ts'
import { nearestOn } from '../verify/nearest-on.ts'
import { stepPolicy } from '../verify/step-policy.ts'
import { APPROVALS, type Verifier } from '../verify/verifier.ts'
import { withVerifier } from '../verify/verify.ts'
import type { World } from '../world.ts'
import { NO_BRANCH, publishedTips } from './hook-commit.ts'
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

/** Approvals and logs whose refs are about to be made: they come together with the branch that they let through. */
export const arrivingRows = (steps: readonly RefStep[]): readonly RefRow[] =>
  steps.flatMap(({ ref, after }) =>
    (ref.startsWith(APPROVALS) || ref.startsWith(LOG_PREFIX)) && after !== null
      ? [{ ref, object: after }]
      : [],
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
  await withVerifier(world, { objects: null, rows: arrivingRows(steps) }, async (verifier) => {
    const rules = {
      agent: agentAtWork(world.repository.env),
      known: { others: () => allTips(world), lines: (branch: string) => publishedTips(world, branch) },
    }
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
    const theirs = await listRefs(world.repository.door, 'refs/remotes/')
    const known = {
      others: async () => theirs.map((row) => commitId(row.object)),
      lines: async (branch: string) =>
        theirs.flatMap((row) => (row.ref === `refs/remotes/${remote}/${branch}` ? commitId(row.object) : [])),
    }
    const rules = { agent: agentAtWork(world.repository.env), known }
    for (const line of linesOf(input)) {
      const [, local = '', ref = '', there = ''] = line.split(' ')
      if (!isObjectId(local) || !isObjectId(there) || isZeroId(local) || !ref.startsWith(HEADS)) continue
      const before = (await verifier.reader.info(there)) === null ? null : there
      await guardStep(verifier, rules, stepOf(ref, before ?? '0'.repeat(local.length), local), 'pushing to')
    }
  })
}

interface LocalRules {
  readonly agent: string | null
  readonly known: Known
}

/** What need not be judged again. */
interface Known {
  /** Of a branch that nothing guards: all that leads to these. */
  readonly others: () => Promise<readonly CommitId[]>
  /** Of a guarded one: what stands on these branches' own lines. */
  readonly lines: (branch: string) => Promise<readonly CommitId[]>
}

/** Judges one move of a branch, by the state of the branch before it: as a server would, as far as this clone knows. */
async function guardStep(verifier: Verifier, rules: LocalRules, step: RefStep, doing: string): Promise<void> {
  const { world } = verifier
  const { agent, known } = rules
  if (step.after === null) return
  const branch = step.ref.startsWith(HEADS) ? branchOf(step.ref) : null
  const asked = {
    branches: [branch ?? NO_BRANCH],
    isAgent: agent !== null,
    forgivesBroken: agent === null,
  }
  const policyAt = (tree: TreeId | null) => stepPolicy(verifier, tree, asked)
  const lines = branch === null ? [] : await known.lines(branch)
  const state = step.before ?? lines[0] ?? (await world.head()).tip
  const before = await policyAt(state === null ? null : await verifier.reader.commitTree(state))
  if (!before.isStrict) return
  const common = { tip: step.after, policyAt, at: world.now() }
  const { guardedBy } = before
  const verdicts =
    guardedBy === null
      ? await judgeCommits(verifier, {
          ...common,
          exclude: [...compact(step.before), ...(await known.others())],
          policyOf: state,
        })
      : await judgeBranch(verifier, { ...common, start: await startOf(verifier, step, lines) })
  const failures = verdicts.filter((one) => isFailure(one.verdict))
  const facts = {
    what: `${doing} ${branch ?? step.ref}`,
    agent,
    branch,
    guardedBy,
    policy: before.rules.policy,
  }
  if (failures.length > 0) refuseUnapproved({ ...facts, failures })
  if (guardedBy === null || agent === null || step.before === null) return
  if (await isAncestor(verifier.door, step.before, step.after)) return
  const lost = { commit: step.before, title: '', verdict: 'unapproved', changes: [], paths: [] } as const
  const reason = `it would drop commits: ${step.after.slice(0, 12)} does not have ${step.before.slice(0, 12)}`
  refuseUnapproved({ ...facts, failures: [{ ...lost, reason }] })
}

const compact = (commit: CommitId | null): readonly CommitId[] => (commit === null ? [] : [commit])

/**
 * Where a move of a branch begins to be judged: at the newest commit of its new line that stands on the branch's own line, here or as it was
 * published. Where it has the old tip beside its line, at the old tip, so that this is found.
 */
async function startOf(
  verifier: Verifier,
  { before, after }: RefStep,
  lines: readonly CommitId[],
): Promise<CommitId | null> {
  const { door } = verifier
  if (after === null) return before
  const found = await nearestOn(door, after, [...compact(before), ...lines])
  if (before === null || found === before || !(await isAncestor(door, before, after))) return found
  const isPublished = found !== null && (await isAncestor(door, before, found))
  return isPublished ? found : before
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
