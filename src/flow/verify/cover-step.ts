import { isTextPath, type LoggedCommit } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import { lookUpPath, type ObjectReader } from '../../git/objects.ts'
import { type ChangeId, type CommitId, type TreeId, zeroId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import {
  type Candidate,
  type Cover,
  coverStep,
  type Remerged,
  type Step,
  type Used,
} from '../../policy/branch-rule.ts'
import { type Claims, claimsOf } from '../../policy/claims.ts'
import { outsidePaths, type Side } from '../../policy/transition-chain.ts'
import { eachAtOnce } from '../../sys/each-at-once.ts'
import { digestOf } from '../stage.ts'
import type { ApprovalPool } from './approval-pool.ts'
import type { Covering } from './covering.ts'
import { remergeInOrder } from './remerge-side.ts'
import type { Place, Verifier } from './verifier.ts'

/** One step as it is read from git. */
export interface LineStep {
  readonly commit: CommitId
  /** What its transitions are counted from. */
  readonly parent: CommitId | null
  readonly transitions: Manifest
  readonly claims: Claims
  /** What a merge brings beside the line, ancestors first; of any other commit nothing. */
  readonly side: () => Promise<readonly LoggedCommit[]>
  /** What it holds against a tree that lies in `place`. */
  readonly against: (tree: TreeId, place: GitDoor) => Promise<Manifest>
}

/** A candidate with where it comes from. */
export interface Offer extends Candidate {
  readonly covering: Covering
  /** A merge made it anew: what it came to on the branch. */
  readonly made?: Manifest
}

/** How approvals are asked whether they count. */
export interface Asked {
  readonly isStrict: boolean
  readonly refusalOf: (covering: Covering, made?: Manifest) => Promise<string | null>
}

/** For whoever only wants to know which approvals a step has used: that was judged when it was made. */
export const AS_IT_STANDS: Asked = { isStrict: false, refusalOf: async () => null }

export interface FoundCover {
  readonly step: Step<Offer>
  readonly cover: Cover<Offer>
  /** Whether it brings no more than the changes of a merge's side. */
  readonly isCarried: boolean
}

type Found = Omit<FoundCover, 'isCarried'>

/** Signatures that are verified at a time. */
const ASKED_AT_ONCE = 4
/** Paths outside of a step that are looked up for a squash. */
const OUTSIDE_MAX = 2000
/** How often approvals that do not count are replaced by others. */
const ROUNDS_MAX = 200

/** Looks for approvals that cover a step, in three places: those of its very bytes, those near it, and for a merge those of its side. */
export class StepCoverer {
  /** Every approval that was looked at, with the paths that it was used for. */
  readonly seen = new Map<Covering, ReadonlySet<string>>()
  private readonly verifier: Verifier
  private readonly pool: ApprovalPool
  private readonly place: () => Promise<Place>

  constructor(verifier: Verifier, pool: ApprovalPool, place: () => Promise<Place>) {
    this.verifier = verifier
    this.pool = pool
    this.place = place
  }

  async cover(step: LineStep, used: Used, asked: Asked): Promise<FoundCover> {
    const { transitions, claims } = step
    const plain = { ...step, isStrict: asked.isStrict, candidates: [], outside: new Map<string, Side>() }
    if (transitions.length === 0) return { step: plain, cover: { kind: 'nothing' }, isCarried: true }
    const unreadable = transitions.filter((t) => !isTextPath(t.path)).map((t) => t.path)
    if (unreadable.length > 0) {
      const reason = ''
      return { step: plain, cover: { kind: 'uncovered', paths: unreadable, reason }, isCarried: false }
    }
    const brought = await this.broughtBy(step, used)
    const named = await this.namedBy(claims)
    const exact = await this.pool.withDigest(digestOf(transitions))
    const first = await this.settle(step, preferred([...exact, ...named], claims, brought), used, asked)
    if (first.cover.kind === 'covered') return carried(first, brought)
    const near = await this.pool.near([transitions, ...named.map((one) => one.manifest)].flat())
    const second = await this.settle(step, preferred([...near, ...named], claims, brought), used, asked)
    if (second.cover.kind === 'covered') return carried(second, brought)
    const third = await this.coverAnew({ step, brought, near: second.step.candidates }, used, asked)
    if (third?.cover.kind === 'covered') return carried(third, brought)
    return { ...second, cover: withReason(second.cover, first.cover), isCarried: false }
  }

  private async namedBy({ changes }: Claims): Promise<readonly Covering[]> {
    return (await Promise.all(changes.map((id) => this.pool.ofChange(id)))).flat()
  }

  /** A merge whose changes had to be made anew, on what the branch has. */
  private async coverAnew(
    {
      step,
      brought,
      near,
    }: { readonly step: LineStep; readonly brought: readonly Covering[]; readonly near: readonly Offer[] },
    used: Used,
    asked: Asked,
  ): Promise<Found | null> {
    if (brought.length === 0) return null
    const place = await this.place()
    const onto = await this.treeOf(step.parent)
    const counted = async (covering: Covering, made: Manifest) =>
      (await asked.refusalOf(covering, made)) === null
    const anew = await remergeInOrder({ place, order: brought, onto, counted })
    if (anew.used.length === 0) return null
    const rest = await step.against(anew.tree, place.door)
    const offers = anew.used.map(({ covering, made }): Offer => ({ ...offerOf(covering), made }))
    for (const { covering, made } of anew.used) this.note(covering, made)
    const keys = new Set(offers.map((one) => one.key))
    const others = near.filter((one) => !keys.has(one.key))
    const outside = await sidesOf(place.reader, anew.tree, rest, others)
    const remerged: Remerged<Offer> = { used: offers, rest, outside }
    const coverings = others.map((one) => one.covering)
    return this.settle(step, coverings, used, asked, { remerged, offers })
  }

  /** Asks the rule until no approval that it chose turns out not to count. */
  private async settle(
    step: LineStep,
    coverings: readonly Covering[],
    used: Used,
    asked: Asked,
    more: { readonly remerged?: Remerged<Offer>; readonly offers?: readonly Offer[] } = {},
  ): Promise<Found> {
    for (const covering of coverings) this.note(covering, [])
    const bare = coverings.map(offerOf)
    const outside = await this.outsideOf(step, bare)
    let candidates: readonly Offer[] = [...bare, ...(more.offers ?? [])]
    const answered = new Set<Covering>((more.offers ?? []).map((one) => one.covering))
    const { remerged } = more
    for (let round = 0; ; round++) {
      const facts: Step<Offer> = {
        ...step,
        isStrict: asked.isStrict,
        candidates,
        outside,
        ...(remerged === undefined ? {} : { remerged }),
      }
      const cover = coverStep(facts, used)
      const open = cover.kind === 'covered' ? cover.used.filter((one) => !answered.has(one.covering)) : []
      if (open.length === 0) return { step: facts, cover }
      if (round === ROUNDS_MAX) return { step: facts, cover: tooMany(step.transitions) }
      const answers = new Map<Covering, string | null>()
      await eachAtOnce(open, ASKED_AT_ONCE, async ({ covering }) => {
        answers.set(covering, await asked.refusalOf(covering))
        answered.add(covering)
      })
      candidates = candidates.map((one) => ({ ...one, refusal: answers.get(one.covering) ?? one.refusal }))
    }
  }

  /** The approved changes that a merge's side holds, in its order, as far as the line has not used them. */
  private async broughtBy(step: LineStep, used: Used): Promise<readonly Covering[]> {
    const side = await step.side()
    if (side.length === 0) return []
    const found = new Map<ChangeId, Covering>()
    const taken = new Map(used)
    for (const commit of side) {
      for (const covering of await this.heldBy(commit, taken)) {
        if (used.has(covering.key) || found.has(covering.key)) continue
        found.set(covering.key, covering)
        taken.set(covering.key, commit.commit)
      }
    }
    return [...found.values()]
  }

  /** Which approvals a commit of the side speaks of: it is believed in nothing else. */
  private async heldBy(commit: LoggedCommit, taken: Used): Promise<readonly Covering[]> {
    const claims = claimsOf(commit.message)
    if (commit.transitions.length === 0) return []
    const exact = preferred(await this.pool.withDigest(digestOf(commit.transitions)), claims, [])
    const own = exact.find((one) => !taken.has(one.key))
    if (own !== undefined) return [own]
    const named = await this.namedBy(claims)
    if (named.length > 0 || commit.parents.length > 1) return named
    const plain = plainStep(commit)
    const near = await this.pool.near(commit.transitions)
    const { cover } = await this.settle(plain, near, taken, AS_IT_STANDS)
    return cover.kind === 'covered' ? cover.used.map((one) => one.covering) : []
  }

  private note(covering: Covering, made: Manifest): void {
    const paths = [...(this.seen.get(covering) ?? []), ...made.map((t) => t.path)]
    this.seen.set(covering, new Set(paths))
  }

  /** The usual step has nothing outside, and costs no look. */
  private async outsideOf(step: LineStep, offers: readonly Offer[]): Promise<ReadonlyMap<string, Side>> {
    if (outsidePaths(step.transitions, offers, OUTSIDE_MAX).length === 0) return new Map()
    return sidesOf(this.verifier.reader, await this.treeOf(step.parent), step.transitions, offers)
  }

  private treeOf(commit: CommitId | null): Promise<TreeId | null> {
    return commit === null ? Promise.resolve(null) : this.verifier.reader.commitTree(commit)
  }
}

async function sidesOf(
  reader: ObjectReader,
  tree: TreeId | null,
  transitions: Manifest,
  offers: readonly Offer[],
): Promise<ReadonlyMap<string, Side>> {
  const sides = new Map<string, Side>()
  for (const path of outsidePaths(transitions, offers, OUTSIDE_MAX)) {
    const found = await lookUpPath(reader, tree, path)
    const absent = `000000 ${zeroId(tree?.length === 64 ? 'sha256' : 'sha1')}`
    sides.set(path, found.kind === 'file' ? `${found.entry.mode} ${found.entry.id}` : absent)
  }
  return sides
}

/** A commit by itself: what it changes against its first parent. */
export const plainStep = (commit: LoggedCommit): LineStep => ({
  commit: commit.commit,
  parent: commit.parents[0] ?? null,
  transitions: commit.transitions,
  claims: claimsOf(commit.message),
  side: async () => [],
  against: async () => commit.transitions,
})

const offerOf = (covering: Covering): Offer => ({
  key: covering.key,
  manifest: covering.manifest,
  refusal: null,
  covering,
})

/** Those that the message names go first, then those that a merge brings, then the oldest. Each once. */
function preferred(
  coverings: readonly Covering[],
  { changes }: Claims,
  brought: readonly Covering[],
): readonly Covering[] {
  const own = new Set(brought)
  const rank = (one: Covering) => (changes.includes(one.key) ? 0 : own.has(one) ? 1 : 2)
  return [...new Set(coverings)].sort(
    (a, b) => rank(a) - rank(b) || Number(a.at > b.at) - Number(a.at < b.at),
  )
}

/** A merge is carried where all that covers it comes from its side. */
function carried(found: Found, brought: readonly Covering[]): FoundCover {
  const { cover } = found
  const keys = new Set(brought.map((one) => one.key))
  return { ...found, isCarried: cover.kind === 'covered' && cover.used.every((one) => keys.has(one.key)) }
}

const tooMany = (transitions: Manifest): Cover<Offer> => ({
  kind: 'uncovered',
  paths: transitions.map((t) => t.path),
  reason: 'too many approvals of these bytes do not count',
})

const withReason = (cover: Cover<Offer>, first: Cover<Offer>): Cover<Offer> =>
  cover.kind === 'uncovered' && cover.reason === '' && first.kind === 'uncovered'
    ? { ...cover, reason: first.reason }
    : cover
