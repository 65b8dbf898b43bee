import type { LoggedCommit } from '../../git/commit-log.ts'
import { type ChangeId, type CommitId, isZeroId } from '../../model/ids.ts'
import type { CommitVerdict } from '../../model/verdict.ts'
import { judgeStep, usedBy } from '../../policy/branch-rule.ts'
import { claimsOf } from '../../policy/claims.ts'
import { eachAtOnce } from '../../sys/each-at-once.ts'
import { digestOf } from '../stage.ts'
import type { ApprovalPool } from './approval-pool.ts'
import { AS_IT_STANDS, type FoundCover, StepCoverer } from './cover-step.ts'
import { withEarlierUses } from './earlier-uses.ts'
import { type BranchLine, type LoadedStep, loadLine } from './load-line.ts'
import type { BranchRequest } from './range-request.ts'
import { movesPolicy, type StepPolicy } from './step-policy.ts'
import { askedBy, momentOf, verdictOf } from './verdict-of.ts'
import type { Verifier } from './verifier.ts'

/** Signatures that are verified ahead, at a time. */
const JUDGED_AT_ONCE = 4

/**
 * Judges the steps of a branch: the commits of its first-parent line, each by its own difference. README.md beside this file has the rule.
 *
 * Costs one walk, a look at the approvals that the steps may use, a merge for each change that has to be made anew, and where an approval was
 * given for an older state of the branch, a walk over what the branch did since to its paths. Leaves nothing.
 */
export async function judgeBranch(
  verifier: Verifier,
  request: BranchRequest,
): Promise<readonly CommitVerdict[]> {
  const line = await loadLine(verifier, request)
  if (line.steps.length === 0) return []
  const pool = await verifier.pool()
  const walked = line.steps.map(({ logged }) => logged)
  await pool.prepare(
    walked.map(({ transitions }) => digestOf(transitions)),
    walked,
  )
  const coverer = new StepCoverer(verifier, pool, verifier.place)
  const judge = new LineJudge(verifier, pool, request, line)
  return withEarlierUses(verifier, coverer, [line], (earlier) =>
    judge.run(coverer, earlier.get(line.start) ?? new Map()),
  )
}

class LineJudge {
  private readonly verifier: Verifier
  private readonly pool: ApprovalPool
  private readonly request: BranchRequest
  private readonly line: BranchLine

  constructor(verifier: Verifier, pool: ApprovalPool, request: BranchRequest, line: BranchLine) {
    this.verifier = verifier
    this.pool = pool
    this.request = request
    this.line = line
  }

  async run(coverer: StepCoverer, earlier: ReadonlyMap<ChangeId, string>): Promise<readonly CommitVerdict[]> {
    const { steps, start, besideFrom } = this.line
    let policy = await this.policyOf(start)
    await eachAtOnce(steps, JUDGED_AT_ONCE, ({ logged }) => this.askAhead(logged, policy))
    const used = new Map(earlier)
    const verdicts: CommitVerdict[] = []
    for (const [i, { step, logged, side }] of steps.entries()) {
      this.verifier.world.progress(`verifying step ${i + 1} of ${steps.length}`)
      if (policy.isStrict && besideFrom !== null && logged.commit === besideFrom.commit) {
        verdicts.push(besideFrom)
        continue
      }
      verdicts.push(...(await this.sideClaims(coverer, side, policy)))
      const found = await coverer.cover(
        step,
        used,
        askedBy(this.verifier, this.pool, this.request, { policy, commit: logged }),
      )
      const verdict = this.tell(found, logged, policy)
      verdicts.push(verdict)
      for (const key of usedBy(found.step, found.cover, used)) used.set(key, step.commit)
      // What must not be there says nothing of what may come after it.
      const isGood = verdict.verdict !== 'unapproved' && verdict.verdict !== 'forged'
      if (isGood && !isZeroId(step.commit) && movesPolicy(step.transitions, policy))
        policy = await this.policyOf(step.commit)
    }
    return verdicts
  }

  private async policyOf(commit: CommitId | null): Promise<StepPolicy> {
    return this.request.policyAt(commit === null ? null : await this.verifier.reader.commitTree(commit))
  }

  /** What the usual commit will ask for, which is remembered: a signature takes processes, and these need not wait for one another. */
  private async askAhead(commit: LoggedCommit, { rules }: StepPolicy): Promise<void> {
    const at = momentOf(this.verifier, this.request, commit)
    const [first] = await this.pool.withDigest(digestOf(commit.transitions))
    if (first !== undefined) await this.pool.refusalOf(first, rules, at)
  }

  /** The side lends nothing to the line; but what its messages say of changes must be so. */
  private async sideClaims(
    coverer: StepCoverer,
    side: readonly LoadedStep[],
    policy: StepPolicy,
  ): Promise<readonly CommitVerdict[]> {
    const verdicts: CommitVerdict[] = []
    for (const { step, logged } of side) {
      if (claimsOf(logged.message).changes.length === 0) continue
      const found = await coverer.cover(step, new Map(), AS_IT_STANDS)
      const verdict = this.tell({ ...found, isCarried: false }, logged, policy)
      if (verdict.verdict === 'forged') verdicts.push(verdict)
    }
    return verdicts
  }

  private tell(found: FoundCover, logged: LoggedCommit, policy: StepPolicy): CommitVerdict {
    const judged = judgeStep(found.step, found.cover, found.isCarried)
    return verdictOf(this.pool, logged, { found, judged, policy, explains: this.request.explains })
  }
}
