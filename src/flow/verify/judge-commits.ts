import { type LoggedCommit, walkCommits } from '../../git/commit-log.ts'
import { remerge } from '../../git/remerge.ts'
import { type ChangeId, type CommitId, isZeroId } from '../../model/ids.ts'
import type { CommitVerdict } from '../../model/verdict.ts'
import { judgeStep, type Used, usedBy } from '../../policy/branch-rule.ts'
import { type FoundCover, type LineStep, StepCoverer } from './cover-step.ts'
import { type EarlierUses, withEarlierUses } from './earlier-uses.ts'
import { type BranchLine, pretend, sideStep, stagedStep } from './load-line.ts'
import type { JudgeRequest } from './range-request.ts'
import { askedBy, type JudgedStep, verdictOf } from './verdict-of.ts'
import type { Verifier } from './verifier.ts'

export interface CommitsRequest extends JudgeRequest {
  /** What need not be looked at any more. */
  readonly exclude: readonly CommitId[]
  /** Whose tree's policy is asked, for all of them. */
  readonly policyOf: CommitId | null
}

/**
 * Judges commits where no branch is guarded: every one by itself, wherever it stands. What its message says of changes must be so, and what an
 * agent makes must be approved. A merge that comes out the same when it is made anew brings nothing of its own.
 */
export async function judgeCommits(
  verifier: Verifier,
  request: CommitsRequest,
): Promise<readonly CommitVerdict[]> {
  const { tip, staged, exclude, policyOf } = request
  const include = staged === undefined ? (tip === null ? [] : [tip]) : staged.parents.slice(1)
  const walked = await walkCommits(verifier.door, { include, exclude })
  const commits = staged === undefined ? walked : [...walked, await pretend(staged, verifier.door)]
  if (commits.length === 0) return []
  const policy = await request.policyAt(policyOf === null ? null : await verifier.reader.commitTree(policyOf))
  const pool = await verifier.pool()
  const coverer = new StepCoverer(verifier, pool, verifier.place)
  const judgeOne = async (logged: LoggedCommit, used: Used): Promise<JudgedStep> => {
    const isStaged = staged !== undefined && isZeroId(logged.commit)
    const step = isStaged ? stagedStep(verifier, logged, staged) : sideStep(verifier, logged)
    const found = await coverer.cover(
      step,
      used,
      askedBy(verifier, pool, request, { policy, commit: logged }),
    )
    const isSilent = step.claims.changes.length === 0
    const isMerge = found.cover.kind === 'uncovered' && isSilent && logged.parents.length === 2
    const whole = isMerge ? await asMerged(verifier, logged, { found, against: step.against }) : found
    const judged = judgeStep(whole.step, whole.cover, whole.isCarried)
    return { found: whole, judged, policy, explains: request.explains }
  }
  const lines = linesIn(commits)
  const run = async (earlier: EarlierUses): Promise<readonly CommitVerdict[]> => {
    const usedAt = new UsedAlong(commits, (commit) => earlier.get(lines.get(commit)?.start ?? null))
    const verdicts: CommitVerdict[] = []
    for (const [i, logged] of commits.entries()) {
      verifier.world.progress(`verifying commit ${i + 1} of ${commits.length}`)
      const used = usedAt.of(logged)
      const done = await judgeOne(logged, used)
      for (const key of usedBy(done.found.step, done.found.cover, used)) used.set(key, logged.commit)
      verdicts.push(verdictOf(pool, logged, done))
    }
    return verdicts
  }
  return withEarlierUses(verifier, coverer, [...new Set(lines.values())], run)
}

type Line = Pick<BranchLine, 'start' | 'ids'>

/** Each commit's own line as far as it is looked at, and where that begins. */
function linesIn(commits: readonly LoggedCommit[]): ReadonlyMap<CommitId, Line> {
  const lines = new Map<CommitId, Line & { readonly ids: Set<CommitId> }>()
  const byStart = new Map<CommitId | null, Line & { readonly ids: Set<CommitId> }>()
  for (const { commit, parents } of commits) {
    const start = parents[0] ?? null
    const known = start === null ? undefined : lines.get(start)
    const line = known ?? byStart.get(start) ?? { start, ids: new Set(start === null ? [] : [start]) }
    if (known === undefined) byStart.set(start, line)
    line.ids.add(commit)
    lines.set(commit, line)
  }
  return lines
}

/** What each commit's own line has used before it. */
class UsedAlong {
  private readonly children = new Map<CommitId, number>()
  private readonly after = new Map<CommitId, Map<ChangeId, string>>()
  private readonly before: (commit: CommitId) => Used | undefined

  constructor(commits: readonly LoggedCommit[], before: (commit: CommitId) => Used | undefined) {
    this.before = before
    for (const { parents } of commits) {
      const [first] = parents
      if (first !== undefined) this.children.set(first, (this.children.get(first) ?? 0) + 1)
    }
  }

  /** To be added to by the caller. One that has a single commit after it hands its own on. */
  of({ commit, parents }: LoggedCommit): Map<ChangeId, string> {
    const [first] = parents
    const inherited = first === undefined ? undefined : this.after.get(first)
    const isOnly = first !== undefined && this.children.get(first) === 1
    const used = isOnly && inherited !== undefined ? inherited : new Map(inherited ?? this.before(commit))
    this.after.set(commit, used)
    return used
  }
}

async function asMerged(
  verifier: Verifier,
  logged: LoggedCommit,
  { found, against }: { readonly found: FoundCover; readonly against: LineStep['against'] },
): Promise<FoundCover> {
  const [ours, theirs] = logged.parents
  if (ours === undefined || theirs === undefined) return found
  const { door } = await verifier.place()
  const made = await remerge(door, ours, theirs)
  if (made === null) return found
  const rest = await against(made.tree, door)
  if (made.isClean && rest.length === 0) return { ...found, cover: { kind: 'nothing' }, isCarried: true }
  if (found.cover.kind !== 'uncovered') return found
  return { ...found, cover: { ...found.cover, paths: rest.map((t) => t.path) } }
}
