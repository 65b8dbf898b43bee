import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChangeId } from '../../src/model/ids.ts'
import type { Manifest } from '../../src/model/manifest.ts'
import { type Candidate, coverStep } from '../../src/policy/branch-rule.ts'
import { diceOf, inverseOf, Judged, type ModelStep, treeAfter, World } from '../helpers/branch-model.ts'
import { at, isSameTree, type NaiveChange, remade, type Tree } from '../helpers/naive-rule.ts'
import { pureRuns } from '../helpers/runs.ts'

const START: Tree = new Map([
  ['p', 'aa'],
  ['q', 'ab'],
])

/** An honest day on a branch: each gives a step that may stand, or null where there is none to make just now. */
class Honest {
  readonly landed: NaiveChange[] = []
  readonly undone: NaiveChange[] = []
  private readonly earlier: Tree[] = []
  private readonly world: World
  private readonly dice: ReturnType<typeof diceOf>

  constructor(world: World, dice: ReturnType<typeof diceOf>) {
    this.world = world
    this.dice = dice
  }

  next(branch: Judged, others: readonly NaiveChange[]): ModelStep | null {
    this.earlier.push(branch.tree)
    const kinds = [this.land, this.land, this.squash, this.merge, this.undo, this.redo, this.empty]
    const kind = this.world.pick([...kinds, () => this.cherryPick(branch, others)])
    return kind?.call(this, branch) ?? null
  }

  /** With its trailer, or amended without. */
  private step(
    what: string,
    after: Tree,
    changes: readonly NaiveChange[],
    side: readonly NaiveChange[] = [],
  ): ModelStep {
    return { what, after, names: this.dice(3) === 0 ? [] : changes.map((one) => one.key), side }
  }

  private land({ tree }: Judged): ModelStep {
    const change = this.world.approve(this.world.anyMoves(tree))
    this.landed.push(change)
    return this.step('land', treeAfter(tree, change), [change])
  }

  private squash({ tree }: Judged): ModelStep | null {
    const [after, changes] = this.branchOff(tree)
    this.landed.push(...changes)
    return isSameTree(tree, after) ? null : this.step('squash', after, changes)
  }

  /** Changes staged on a state of before, which git merges with what stands now; each of them does something there. */
  private merge({ tree }: Judged): ModelStep | null {
    const [, side] = this.branchOff(this.world.pick(this.earlier) ?? tree)
    let after = tree
    for (const one of side) {
      const next = remade(after, one)
      if (next === null || isSameTree(next, after)) return null
      after = next
    }
    return isSameTree(tree, after) ? null : this.step('merge', after, side, side)
  }

  private undo({ tree }: Judged): ModelStep | null {
    const change = this.world.pick(this.landed)
    if (change === undefined || ![...change.moves].every(([path, [, after]]) => at(tree, path) === after))
      return null
    const undo = this.world.approve(inverseOf(change))
    this.undone.push(change)
    return this.step('undo', treeAfter(tree, undo), [undo])
  }

  private redo({ tree }: Judged): ModelStep | null {
    const change = this.world.pick(this.undone)
    if (change === undefined || ![...change.moves].every(([path, [before]]) => at(tree, path) === before))
      return null
    const redo = this.world.approve(change.moves)
    return this.step('redo', treeAfter(tree, redo), [redo])
  }

  private cherryPick(branch: Judged, others: readonly NaiveChange[]): ModelStep | null {
    const change = this.world.pick(others.filter(branch.isFree))
    if (
      change === undefined ||
      ![...change.moves].every(([path, [before]]) => at(branch.tree, path) === before)
    )
      return null
    const after = treeAfter(branch.tree, change)
    return isSameTree(branch.tree, after) ? null : this.step('cherry-pick', after, [change])
  }

  private empty({ tree }: Judged): ModelStep {
    return { what: 'empty', after: tree, names: [], side: [] }
  }

  private branchOff(tree: Tree): readonly [Tree, readonly NaiveChange[]] {
    let after = tree
    const changes: NaiveChange[] = []
    for (let n = 0; n < 2; n++) {
      const change = this.world.approve(this.world.anyMoves(after))
      changes.push(change)
      after = treeAfter(after, change)
    }
    return [after, changes]
  }
}

/** What somebody else would try, whether or not it can be tried just now. */
function forbidden(
  world: World,
  branch: Judged,
  dice: ReturnType<typeof diceOf>,
  earlier: readonly Tree[],
): ModelStep {
  const { tree } = branch
  const some = (of: readonly NaiveChange[]) => world.pick(of)
  const used = world.changes.filter((one) => !branch.isFree(one))
  const step = (
    what: string,
    after: Tree,
    names: readonly string[] = [],
    side: readonly NaiveChange[] = [],
  ) => ({
    what,
    after,
    names,
    side,
  })
  const made = (change: NaiveChange | undefined): Tree =>
    change === undefined ? tree : (remade(tree, change) ?? tree)
  const fresh = world.approve(world.anyMoves(tree))
  const kinds = [
    () => step('bytes of nobody', treeAfter(tree, { key: '', moves: world.anyMoves(tree) })),
    () => step('used again', made(some(used))),
    () => step('used again, by a merge', made(some(used)), [], used),
    () => step('taken back by a merge', world.pick(earlier) ?? tree, [], used),
    () => step('more than approved', new Map([...treeAfter(tree, fresh), ['s', 'zz']]), [fresh.key]),
    () => step('another name', treeAfter(tree, fresh), [(some(used) ?? fresh).key]),
    () => step('nothing, by a name', tree, [fresh.key]),
    () => {
      world.refused.add(fresh.key)
      return step('refused', treeAfter(tree, fresh), dice(2) === 0 ? [fresh.key] : [])
    },
  ]
  return (world.pick(kinds) ?? kinds[0])?.() ?? step('nothing, by a name', tree, [fresh.key])
}

/** Two branches with one pool of approvals, some steps each. */
function live(seed: number, steps: number) {
  const dice = diceOf(seed)
  const world = new World(dice)
  const branches = [new Judged(world, START), new Judged(world, START)] as const
  const days = [new Honest(world, dice), new Honest(world, dice)] as const
  const earlier: Tree[] = []
  const done: string[] = []
  for (let n = 0; n < steps; n++) {
    const i = dice(3) === 0 ? 1 : 0
    const branch = branches[i]
    const step = days[i].next(branch, days[1 - i]?.landed ?? [])
    if (step === null) continue
    done.push(`${step.what} ${JSON.stringify([...step.after])} ${step.names.join()}`)
    earlier.push(branch.tree)
    const isAllowed = branch.naive(step)
    const stands = branch.rule(step)
    expect(stands, `${isAllowed ? '' : 'not '}allowed by the oracle:\n${done.join('\n')}`).toBe(true)
    expect(isAllowed).toBe(true)
  }
  return { world, branch: branches[0], dice, earlier, done }
}

const RUNS = { numRuns: pureRuns(300) }

describe('the rule for a guarded branch', () => {
  test('lets every honest history stand, as the naive rule does', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        live(seed, 12)
      }),
      RUNS,
    )
  })

  test('refuses one forbidden step after any of them, whenever the naive rule does', () => {
    let refused = 0
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const { world, branch, dice, earlier, done } = live(seed, 8)
        for (let n = 0; n < 4; n++) {
          const step = forbidden(world, branch, dice, earlier)
          const isAllowed = branch.naive(step)
          const stands = branch.rule(step)
          if (!isAllowed) refused++
          if (!isAllowed) expect(stands, `${done.join('\n')}\n${step.what}`).toBe(false)
          if (stands) break
        }
      }),
      RUNS,
    )
    expect(refused).toBeGreaterThan(RUNS.numRuns)
  })
})

describe('a merge that was made anew', () => {
  const side = (name: string) => name.repeat(40)
  /** One file that goes from one state to another. */
  const moves = (from: string, to: string): Manifest => [
    { path: 'p', oldMode: '100644', oldBlob: side(from), newMode: '100644', newBlob: side(to) },
  ]
  const candidate = (key: string, manifest: Manifest, refusal: string | null = null): Candidate => ({
    key: `g${key.repeat(9)}` as ChangeId,
    manifest,
    refusal,
  })
  const x = candidate('x', moves('a', 'b'))
  const y = candidate('y', moves('d', 'e'))
  const refused = candidate('x', moves('a', 'b'), 'its log says no')

  // The branch has the file as c; merged there, the change x makes it d.
  test.each<[string, Parameters<typeof cover>[0], string]>([
    ['is covered by the change that it brings', { to: 'd' }, 'x'],
    ['is covered by it, also where the message names it', { to: 'd', names: ['x'] }, 'x'],
    [
      'is not, where the branch has used that change',
      { to: 'd', used: ['x'] },
      'no: xxxxxxxxx was approved once',
    ],
    [
      'is not, where that change does not count',
      { to: 'd', x: refused },
      'no: xxxxxxxxx does not count: its log says no',
    ],
    ['may hold another change beside it', { to: 'e', more: [y] }, 'x y'],
    [
      'may not, where the branch has used the other',
      { to: 'e', more: [y], used: ['y'] },
      'no: yyyyyyyyy was approved once',
    ],
    ['may not hold bytes beside it', { to: 'e' }, 'no: '],
    [
      'may not hold the same change once more, as it was approved',
      { to: 'e', x: candidate('x', moves('d', 'e')) },
      'no: ',
    ],
    ['must hold what its message names', { to: 'd', more: [y], names: ['x', 'y'] }, 'no: '],
  ])('%s', (_, given, expected) => {
    expect(cover(given)).toMatch(new RegExp(`^${expected}${expected.startsWith('no') ? '' : '$'}`))
  })

  function cover(given: {
    readonly to: string
    readonly x?: Candidate
    readonly more?: readonly Candidate[]
    readonly names?: readonly string[]
    readonly used?: readonly string[]
  }): string {
    const own = given.x ?? x
    const keyOf = (name: string) => `g${name.repeat(9)}` as ChangeId
    const found = coverStep(
      {
        commit: 'merge',
        transitions: moves('c', given.to),
        claims: { changes: (given.names ?? []).map(keyOf), byAgent: false },
        isStrict: true,
        candidates: [own, ...(given.more ?? [])],
        outside: new Map(),
        remerged: { used: [own], rest: given.to === 'd' ? [] : moves('d', given.to), outside: new Map() },
      },
      new Map((given.used ?? []).map((name) => [keyOf(name), 'earlier'])),
    )
    if (found.kind === 'covered') return found.used.map(({ key }) => key[1]).join(' ')
    return found.kind === 'nothing' ? found.kind : `no: ${found.reason.slice(1)}`
  }
})
