import type { ChangeId } from '../../src/model/ids.ts'
import { zeroId } from '../../src/model/ids.ts'
import { type Manifest, manifestOf, type Transition } from '../../src/model/manifest.ts'
import { type Candidate, coverStep, judgeStep, usedBy } from '../../src/policy/branch-rule.ts'
import { allows, at, isSameTree, type NaiveChange, remade, type Tree } from './naive-rule.ts'

/** Numbers below a bound, the same for the same seed. */
export type Dice = (below: number) => number

export function diceOf(seed: number): Dice {
  let state = seed >>> 0 || 1
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39)
    return ((mixed ^ (mixed >>> 16)) >>> 0) % below
  }
}

export interface ModelStep {
  readonly what: string
  readonly after: Tree
  readonly names: readonly string[]
  readonly side: readonly NaiveChange[]
}

const PATHS = ['p', 'q', 'r', 's']
const SIGNS = 'abc'

/** Approved changes, and branches on which they are landed, squashed, merged, taken back and picked. */
export class World {
  readonly changes: NaiveChange[] = []
  /** Whose log says no. */
  readonly refused = new Set<string>()
  private readonly dice: Dice

  constructor(dice: Dice) {
    this.dice = dice
  }

  approve(moves: NaiveChange['moves']): NaiveChange {
    const change = { key: `g${String(this.changes.length).padStart(9, '0')}`, moves }
    this.changes.push(change)
    return change
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.dice(Math.max(1, items.length))]
  }

  /** One path or two: a file made, removed, or one half of it or both other than before. */
  anyMoves(tree: Tree): NaiveChange['moves'] {
    const paths = new Set([this.pick(PATHS) ?? 'p', ...(this.dice(3) === 0 ? [this.pick(PATHS) ?? 'q'] : [])])
    return new Map(
      [...paths].map((path) => [path, [at(tree, path), this.otherThan(at(tree, path))] as const]),
    )
  }

  private otherThan(file: string): string {
    const sign = () => SIGNS[this.dice(3)] ?? 'a'
    const [left = sign(), right = sign()] = file
    const forms = [left + sign(), sign() + right, sign() + sign(), ...(this.dice(4) === 0 ? [''] : [])]
    return forms.find((form) => form !== file) ?? (file === 'aa' ? 'bb' : 'aa')
  }
}

export const treeAfter = (tree: Tree, { moves }: NaiveChange): Tree =>
  new Map([...tree, ...[...moves].map(([path, [, after]]) => [path, after] as const)])

export const inverseOf = ({ moves }: NaiveChange): NaiveChange['moves'] =>
  new Map([...moves].map(([path, [before, after]]) => [path, [after, before] as const]))

const blobOf = (file: string): string =>
  file === '' ? zeroId('sha1') : Buffer.from(file.padEnd(20)).toString('hex')
const sideOf = (file: string) => ({
  mode: file === '' ? ('000000' as const) : ('100644' as const),
  blob: blobOf(file),
})

function transition(path: string, before: string, after: string): Transition {
  const [from, to] = [sideOf(before), sideOf(after)]
  return { path, oldMode: from.mode, oldBlob: from.blob, newMode: to.mode, newBlob: to.blob }
}

const manifestOfChange = ({ moves }: NaiveChange): Manifest =>
  manifestOf([...moves].map(([path, [before, after]]) => transition(path, before, after)))

const between = (a: Tree, b: Tree): Manifest =>
  manifestOf(
    PATHS.filter((path) => at(a, path) !== at(b, path)).map((path) =>
      transition(path, at(a, path), at(b, path)),
    ),
  )

/** A branch that is judged by the rule and by the naive one, with what the rule says has been used. */
export class Judged {
  tree: Tree
  readonly used = new Map<ChangeId, string>()
  private readonly world: World

  constructor(world: World, tree: Tree) {
    this.world = world
    this.tree = tree
  }

  isFree = ({ key }: NaiveChange): boolean => !this.used.has(key as ChangeId) && !this.world.refused.has(key)

  naive({ after, names, side }: ModelStep): boolean {
    const free = this.world.changes.filter(this.isFree)
    return allows({ before: this.tree, after, names, free, side })
  }

  /** By the rule itself. A step that stands moves the branch. */
  rule(step: ModelStep): boolean {
    const { after, names, side } = step
    const rank = ({ key }: NaiveChange) =>
      names.includes(key) ? 0 : side.some((one) => one.key === key) ? 1 : 2
    const ordered = [...this.world.changes].sort((a, b) => rank(a) - rank(b))
    const candidates = ordered.map(
      (one): Candidate => ({
        key: one.key as ChangeId,
        manifest: manifestOfChange(one),
        refusal: this.world.refused.has(one.key) ? 'its log says no' : null,
      }),
    )
    const plain = {
      commit: step.what,
      transitions: between(this.tree, after),
      claims: { changes: names, byAgent: false },
      isStrict: true,
      candidates,
      outside: outsideOf(this.tree),
    }
    let facts: Parameters<typeof coverStep<Candidate>>[0] = plain
    let cover = coverStep(facts, this.used)
    if (cover.kind === 'uncovered' && side.length > 0) {
      facts = { ...plain, remerged: this.remerged(step, candidates) }
      cover = coverStep(facts, this.used)
    }
    const { verdict } = judgeStep(facts, cover, false)
    for (const key of usedBy(facts, cover, this.used)) this.used.set(key, step.what)
    const stands = verdict === 'approved' || verdict === 'carried'
    if (stands) this.tree = after
    return stands
  }

  private remerged({ after, side }: ModelStep, candidates: readonly Candidate[]) {
    let tree = this.tree
    const used: Candidate[] = []
    for (const change of side.filter(this.isFree)) {
      const next = remade(tree, change)
      const own = candidates.find((one) => one.key === change.key)
      if (next === null || own === undefined || isSameTree(next, tree)) continue
      used.push(own)
      tree = next
    }
    return { used, rest: between(tree, after), outside: outsideOf(tree) }
  }
}

const outsideOf = (tree: Tree): ReadonlyMap<string, string> =>
  new Map(PATHS.map((path) => [path, `${sideOf(at(tree, path)).mode} ${sideOf(at(tree, path)).blob}`]))
