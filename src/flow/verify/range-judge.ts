import { join } from 'node:path'
import { isAncestor, type LoggedCommit } from '../../git/commit-log.ts'
import { diffTrees } from '../../git/diff-tree.ts'
import type { GitDoor } from '../../git/door.ts'
import { emptyTree } from '../../git/fast-import.ts'
import { lookUpPath } from '../../git/objects.ts'
import { remerge } from '../../git/remerge.ts'
import { type ChangeId, type CommitId, isZeroId, type TreeId, zeroId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { CommitVerdict } from '../../model/verdict.ts'
import { type Cover, claimsOf, judgeCommit, makesEachStep, residueOf } from '../../policy/cover.ts'
import { composeTransitions, outsidePaths, type Side } from '../../policy/transition-chain.ts'
import { eachAtOnce } from '../../sys/each-at-once.ts'
import { type ApprovalPool, type Covering, digestOf } from './approval-pool.ts'
import { findEarlierUses, type Uses } from './earlier-uses.ts'
import type { RangeRequest } from './range-request.ts'
import type { Verifier } from './verifier.ts'

/** Signatures that are verified at a time. */
const JUDGED_AT_ONCE = 4

/** Goes over the commits of a range, ancestors first, and remembers which approvals they use. */
export class RangeJudge {
  private readonly verifier: Verifier
  private readonly pool: ApprovalPool
  private readonly request: RangeRequest
  private readonly commits: readonly LoggedCommit[]
  private readonly place: GitDoor | null
  private readonly uses: Uses
  private readonly relations = new Map<string, Promise<boolean>>()

  constructor(
    verifier: Verifier,
    pool: ApprovalPool,
    request: RangeRequest,
    commits: readonly LoggedCommit[],
    place: GitDoor | null,
    earlier: Uses = new Map(),
  ) {
    this.verifier = verifier
    this.pool = pool
    this.request = request
    this.commits = commits
    this.place = place
    this.uses = new Map([...earlier].map(([key, list]) => [key, [...list]]))
  }

  again(earlier: Uses): RangeJudge {
    return new RangeJudge(this.verifier, this.pool, this.request, this.commits, this.place, earlier)
  }

  async run(): Promise<readonly CommitVerdict[]> {
    await eachAtOnce(this.commits, JUDGED_AT_ONCE, (commit) => this.judgeAhead(commit))
    const verdicts: CommitVerdict[] = []
    for (const commit of this.commits) verdicts.push(await this.judge(commit))
    return verdicts
  }

  /** What the usual commit will ask for, which is remembered: a signature takes processes, and these need not wait for one another. */
  private async judgeAhead(commit: LoggedCommit): Promise<void> {
    if (commit.transitions === null) return
    const at = this.momentOf(commit)
    for (const covering of await this.pool.withDigest(digestOf(commit.transitions)))
      await this.pool.refusalOf(covering, this.request.rules, at)
  }

  private async judge(commit: LoggedCommit): Promise<CommitVerdict> {
    const at = this.momentOf(commit)
    const cover = await this.coverOf(commit, at)
    const claims = claimsOf(commit.message)
    const known = await this.knownOf(claims.changes, at)
    const { verdict, reason } = judgeCommit({
      claims,
      cover,
      knownClaims: known,
      isStrict: this.request.isStrict,
    })
    const broken = claims.changes.flatMap((id) => this.pool.broken.get(id) ?? [])[0]
    return {
      commit: commit.commit,
      title: commit.message.split('\n', 1)[0] ?? '',
      verdict,
      changes: cover.kind === 'covered' ? cover.changes : [],
      paths: cover.kind === 'uncovered' ? cover.paths : [],
      reason: verdict === 'forged' && broken !== undefined ? `${reason}; ${broken}` : reason,
    }
  }

  /** A commit's own date counts where a history is looked at; it never lies ahead of now. */
  private momentOf(commit: LoggedCommit): string {
    if (this.request.at !== 'commit') return this.request.at
    const now = this.verifier.world.clock.now()
    const made = commit.committedAt * 1000
    return new Date(made >= 0 && made <= now ? made : now).toISOString()
  }

  private async knownOf(ids: readonly string[], at: string): Promise<ReadonlySet<string>> {
    const known = new Set<string>()
    for (const id of ids) {
      for (const covering of await this.pool.ofChange(id)) {
        if ((await this.pool.refusalOf(covering, this.request.rules, at)) === null) known.add(id)
      }
    }
    return known
  }

  private async coverOf(commit: LoggedCommit, at: string): Promise<Cover> {
    if (commit.transitions === null) return this.coverMerge(commit, at)
    if (commit.transitions.length === 0) return { kind: 'nothing' }
    const parent = commit.parents[0] ?? null
    return this.coverSteps({ commit, parent, steps: commit.transitions, at })
  }

  /** A merge is carried where it comes out the same when made anew; what differs must be covered. */
  private async coverMerge(commit: LoggedCommit, at: string): Promise<Cover> {
    const [ours, theirs, ...more] = commit.parents
    const made =
      this.place === null || ours === undefined || theirs === undefined || more.length > 0
        ? null
        : await remerge(this.place, ours, theirs)
    const differing = made === null ? null : await this.against(commit, made.tree, this.place)
    if (made?.isClean === true && differing?.length === 0) return this.coverCarried(commit)
    const steps = await this.against(commit, ours ?? emptyTree(this.verifier.door.objectFormat), null)
    const whole = await this.coverSteps({ commit, parent: ours ?? null, steps, at })
    if (whole.kind !== 'uncovered' || differing === null) return whole
    const residue = residueOf(steps, differing)
    if (residue === null || residue.length === 0) return whole
    return this.coverSteps({ commit, parent: ours ?? null, steps: residue, at })
  }

  /** What a commit holds against a tree, which may be one that a merge made anew left in `place`. */
  private against(commit: LoggedCommit, tree: string, place: GitDoor | null): Promise<Manifest> {
    const { staged } = this.request
    if (staged === undefined || !isZeroId(commit.commit)) {
      return commit.tree === tree
        ? Promise.resolve([])
        : diffTrees(place ?? this.verifier.door, tree, commit.tree)
    }
    return staged.against(tree, place === null ? null : join(place.gitDir, 'objects'))
  }

  /**
   * A clean merge can still bring an approved change a second time: made on one side and taken back, made again on the other. Where
   * both sides used it and the merge makes its steps on one of them, it is not carried.
   */
  private async coverCarried(commit: LoggedCommit): Promise<Cover> {
    const twice = [...this.uses].filter(([, list]) => list.length > 1)
    for (const parent of twice.length === 0 ? [] : commit.parents) {
      const steps = await this.against(commit, parent, null)
      for (const [key, list] of twice) {
        const again = list.find(({ covering }) => makesEachStep(steps, covering.manifest))
        if (again === undefined || !(await this.isUsedBefore(key, parent))) continue
        const reason = `it brings ${key} a second time, after ${again.commit.slice(0, 12)}`
        return { kind: 'uncovered', paths: again.covering.manifest.map((t) => t.path), reason }
      }
    }
    return { kind: 'nothing' }
  }

  private async coverSteps(facts: StepFacts): Promise<Cover> {
    const { commit, steps } = facts
    const paths = steps.map((t) => t.path)
    if (commit.hasUnreadablePath) return { kind: 'uncovered', paths, reason: '' }
    const exact = await this.pool.withDigest(digestOf(steps))
    const reasons: string[] = []
    for (const covering of preferred(exact, claimsOf(commit.message).changes)) {
      const reason = await this.refusalOf(covering, facts)
      if (reason === null) return this.use(commit, [covering])
      reasons.push(reason)
    }
    const composed = await this.compose(facts)
    return composed.kind === 'uncovered' && reasons[0] !== undefined
      ? { ...composed, reason: composed.reason || reasons[0] }
      : composed
  }

  /** Several whole manifests that together make the steps: a squash. */
  private async compose(facts: StepFacts): Promise<Cover> {
    const { commit, steps } = facts
    const lost = await this.pool.unreachable(steps)
    if (lost.length > 0) return { kind: 'uncovered', paths: lost, reason: '' }
    const near = await this.pool.near(steps)
    const usable: Covering[] = []
    let refused = ''
    for (const covering of preferred(near, claimsOf(commit.message).changes)) {
      const reason = await this.refusalOf(covering, facts)
      if (reason === null) usable.push(covering)
      else refused ||= reason
    }
    const outside = await this.sidesOf(facts.parent, outsidePaths(steps, usable))
    const chain = composeTransitions(steps, usable, outside)
    if (chain.kind === 'composed') {
      const keys = new Set(chain.used.map((one) => one.key))
      return this.use(
        commit,
        usable.filter((one) => chain.used.includes(one) && keys.has(one.key)),
      )
    }
    // That an approval is used up or expired is only told where it would have made the difference.
    const isClose = refused !== '' && composeTransitions(steps, near, outside).kind === 'composed'
    const paths = chain.kind === 'uncovered' ? chain.paths : steps.map((t) => t.path)
    return { kind: 'uncovered', paths, reason: isClose ? refused : '' }
  }

  /** Why a manifest may not be used for a commit: its approvals are not enough, or the change is in the history already. */
  private async refusalOf(covering: Covering, { parent, at }: StepFacts): Promise<string | null> {
    const refusal = await this.pool.refusalOf(covering, this.request.rules, at)
    if (refusal !== null) return refusal
    const used = parent === null ? null : await this.isUsedBefore(covering.key, parent)
    return used ? `${covering.key} was approved once, and ${used.slice(0, 12)} has used that` : null
  }

  /** The commit in the history of `tip` that used the change's approval, or null. */
  private async isUsedBefore(key: ChangeId, tip: CommitId): Promise<CommitId | null> {
    for (const { commit } of this.uses.get(key) ?? []) {
      if (commit === tip || (await this.isAncestor(commit, tip))) return commit
    }
    return null
  }

  private isAncestor(commit: CommitId, other: CommitId): Promise<boolean> {
    const key = `${commit} ${other}`
    const known = this.relations.get(key) ?? isAncestor(this.verifier.door, commit, other)
    this.relations.set(key, known)
    return known
  }

  private use(commit: LoggedCommit, coverings: readonly Covering[]): Cover {
    for (const covering of coverings) {
      const list = this.uses.get(covering.key) ?? []
      this.uses.set(covering.key, list)
      list.push({ commit: commit.commit, covering })
    }
    return { kind: 'covered', changes: coverings.map((one) => one.key) }
  }

  private async sidesOf(
    parent: CommitId | null,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, Side>> {
    const sides = new Map<string, Side>()
    if (paths.length === 0 || paths.length > OUTSIDE_MAX) return sides
    const tree: TreeId | null = parent === null ? null : await this.verifier.reader.commitTree(parent)
    const absent = `000000 ${zeroId(this.verifier.door.objectFormat)}`
    for (const path of paths) {
      const found = await lookUpPath(this.verifier.reader, tree, path)
      sides.set(path, found.kind === 'file' ? `${found.entry.mode} ${found.entry.id}` : absent)
    }
    return sides
  }

  findEarlierUses(): Promise<Uses> {
    return findEarlierUses(this.verifier.door, this.commits, [...this.uses.values()].flat())
  }
}

interface StepFacts {
  readonly commit: LoggedCommit
  /** What the steps are counted from. */
  readonly parent: CommitId | null
  readonly steps: Manifest
  readonly at: string
}

/** Paths outside of a commit that are looked up for a squash; beyond that the manifests that touch them are left out. */
const OUTSIDE_MAX = 2000

/** Those that the message names go first, then the oldest revisions. */
const preferred = (coverings: readonly Covering[], named: readonly string[]): readonly Covering[] =>
  [...coverings].sort((a, b) => Number(named.includes(b.key)) - Number(named.includes(a.key)))
