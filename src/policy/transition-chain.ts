import type { Manifest, Transition } from '../model/manifest.ts'

/** What stands at a path, mode and blob as one text: one side of a transition. */
export type Side = string

export const oldSide = (t: Transition): Side => `${t.oldMode} ${t.oldBlob}`
export const newSide = (t: Transition): Side => `${t.newMode} ${t.newBlob}`

/** A manifest that somebody approved. Only the whole of it may be used, and only once. */
export interface ApprovedManifest {
  /** Of two manifests with one key at most one is used: a change is landed once. */
  readonly key: string
  readonly manifest: Manifest
}

export type Chain =
  | { readonly kind: 'composed'; readonly used: readonly ApprovedManifest[] }
  /** These paths cannot come about; all of them, where each path by itself could and the whole manifests do not fit. */
  | { readonly kind: 'uncovered'; readonly paths: readonly string[] }
  /** There are more ways to put the manifests together than were tried. Counts as uncovered. */
  | { readonly kind: 'too-many' }

/** Manifests tried before the search gives up: a squash of a thousand changes takes a thousand. */
const STEPS_MAX = 20_000

/**
 * Puts approved manifests together, each whole and at most once, so that one after another they make exactly these
 * transitions: what a squash of approved commits, or a rebase of them, must come down to.
 *
 * @param approved - In order of preference.
 * @param outside - What stands at paths that the target does not change, where a manifest touches them; a manifest with a
 * path that is in neither is left out.
 * @param required - Keys that must be among those used: a squash may name a change and the one that takes it back.
 */
export function composeTransitions(
  target: Manifest,
  approved: readonly ApprovedManifest[],
  outside: ReadonlyMap<string, Side> = new Map(),
  required: readonly string[] = [],
): Chain {
  const search = new ChainSearch(target, approved, outside, required)
  const unreachable = target.filter((t) => !search.canReach(t)).map((t) => t.path)
  if (unreachable.length > 0) return { kind: 'uncovered', paths: unreachable }
  const found = search.run()
  if (found === null) return { kind: 'uncovered', paths: target.map((t) => t.path) }
  return found === 'too-many' ? { kind: 'too-many' } : { kind: 'composed', used: found }
}

/**
 * Paths that manifests touch and the target leaves as they are: their sides must be looked up.
 *
 * @param most - With more of them than this only manifests that share a path with the target are looked at; then none.
 */
export function outsidePaths(
  target: Manifest,
  approved: readonly ApprovedManifest[],
  most: number,
): readonly string[] {
  const inside = new Set(target.map((t) => t.path))
  const outsideOf = (some: readonly ApprovedManifest[]) => [
    ...new Set(
      some.flatMap(({ manifest }) => manifest.map((t) => t.path).filter((path) => !inside.has(path))),
    ),
  ]
  const all = outsideOf(approved)
  if (all.length <= most) return all
  const sharing = outsideOf(approved.filter(({ manifest }) => manifest.some((t) => inside.has(t.path))))
  return sharing.length <= most ? sharing : []
}

/** Depth-first: what stands now, what is wanted, and which manifests have been used on the way. */
class ChainSearch {
  private readonly now = new Map<string, Side>()
  private readonly wanted = new Map<string, Side>()
  private readonly open = new Set<string>()
  /** By path and old side. */
  private readonly bySide = new Map<string, Step[]>()
  private readonly marks = new Map<ApprovedManifest, Mark>()
  private readonly used: ApprovedManifest[] = []
  private readonly usedKeys = new Set<string>()
  private readonly seen = new Set<string>()
  /** Those that must still be used. */
  private readonly due: Set<string>
  private readonly required: ReadonlySet<string>
  private state: Mark = [0, 0]
  private steps = 0

  constructor(
    target: Manifest,
    approved: readonly ApprovedManifest[],
    outside: ReadonlyMap<string, Side>,
    required: readonly string[],
  ) {
    this.required = new Set(required)
    this.due = new Set(required)
    for (const t of target) {
      this.now.set(t.path, oldSide(t))
      this.wanted.set(t.path, newSide(t))
      if (oldSide(t) !== newSide(t)) this.open.add(t.path)
    }
    for (const [path, side] of outside) {
      if (this.now.has(path)) continue
      this.now.set(path, side)
      this.wanted.set(path, side)
    }
    for (const one of approved) {
      if (!one.manifest.every((t) => this.now.has(t.path))) continue
      this.marks.set(one, markOf(this.marks.size + 1))
      for (const t of one.manifest) this.addStep(sideKey(t.path, oldSide(t)), { one, leadsTo: newSide(t) })
    }
  }

  private addStep(key: string, step: Step): void {
    const list = this.bySide.get(key)
    if (list === undefined) this.bySide.set(key, [step])
    else list.push(step)
  }

  /** Whether the path by itself can come about by the approved steps, whatever else those bring. */
  canReach(target: Transition): boolean {
    const { path } = target
    const wanted = newSide(target)
    const reached = new Set<Side>([oldSide(target)])
    for (const side of reached) {
      if (side === wanted) return true
      for (const { leadsTo } of this.bySide.get(sideKey(path, side)) ?? []) reached.add(leadsTo)
    }
    return false
  }

  run(): readonly ApprovedManifest[] | 'too-many' | null {
    const trail: ApprovedManifest[][] = [this.choices()]
    while (trail.length > 0) {
      if (this.isDone()) return this.used
      const next = trail.at(-1)?.pop()
      if (next === undefined) {
        trail.pop()
        this.takeBack()
        continue
      }
      if (this.usedKeys.has(next.key)) continue
      if (++this.steps > STEPS_MAX) return 'too-many'
      this.apply(next)
      const state = this.state.join(' ')
      if (!this.isDone() && (this.seen.has(state) || this.isStuck(next))) this.takeBack()
      else {
        this.seen.add(state)
        trail.push(this.choices())
      }
    }
    return null
  }

  private isDone(): boolean {
    return this.open.size === 0 && this.due.size === 0
  }

  /** What may come next, the preferred last: one that moves the first open path, or one that makes room for such. */
  private choices(): ApprovedManifest[] {
    const [first] = this.open
    const found = new Set<ApprovedManifest>()
    const asked = first === undefined ? this.duePaths() : new Set<string>([first])
    for (const path of asked) {
      for (const { one } of this.bySide.get(sideKey(path, this.now.get(path) ?? '')) ?? []) {
        if (this.usedKeys.has(one.key)) continue
        const blocked = one.manifest.filter((t) => this.now.get(t.path) !== oldSide(t))
        if (blocked.length === 0) found.add(one)
        for (const t of blocked) asked.add(t.path)
      }
    }
    return [...found].reverse()
  }

  /** Where nothing is open any more, and something must still be used: its paths. */
  private duePaths(): Set<string> {
    const paths = new Set<string>()
    for (const one of this.marks.keys())
      if (this.due.has(one.key)) for (const { path } of one.manifest) paths.add(path)
    return paths
  }

  private apply(one: ApprovedManifest): void {
    this.used.push(one)
    this.usedKeys.add(one.key)
    this.due.delete(one.key)
    this.toggle(one)
    for (const t of one.manifest) this.place(t.path, newSide(t))
  }

  private takeBack(): void {
    const last = this.used.pop()
    if (last === undefined) return
    this.usedKeys.delete(last.key)
    if (this.required.has(last.key)) this.due.add(last.key)
    this.toggle(last)
    for (const t of last.manifest) this.place(t.path, oldSide(t))
  }

  private place(path: string, side: Side): void {
    this.now.set(path, side)
    if (side === this.wanted.get(path)) this.open.delete(path)
    else this.open.add(path)
  }

  /** A path that the last step moved, that is not where it should be, and from where no step leads on. */
  private isStuck(last: ApprovedManifest): boolean {
    return last.manifest.some(
      ({ path }) => this.open.has(path) && !this.bySide.has(sideKey(path, this.now.get(path) ?? '')),
    )
  }

  /** The set of used manifests says all: in whichever order they were used, the same stands now. */
  private toggle(one: ApprovedManifest): void {
    const [a, b] = this.marks.get(one) ?? [0, 0]
    this.state = [this.state[0] ^ a, this.state[1] ^ b]
  }
}

/** What one manifest does to one path. */
interface Step {
  readonly one: ApprovedManifest
  readonly leadsTo: Side
}

/** 64 bits that stand for a manifest; those of a set are joined by exclusive or. Two sets taken for one cost a way, never a proof. */
type Mark = readonly [number, number]

const markOf = (index: number): Mark => [mix(index * 2), mix(index * 2 + 1)]

/** The finalizer of MurmurHash3: every bit of the input moves every bit of the output. */
function mix(value: number): number {
  let h = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

const sideKey = (path: string, side: Side): string => `${path}\0${side}`
