/**
 * The rule for one step of a guarded branch, told as simply as can be: every order of approved changes is tried. It shares no code with
 * the rule itself, and is its oracle.
 */
export type Tree = ReadonlyMap<string, string>

export interface NaiveChange {
  readonly key: string
  /** path → what stands there before and after; '' = nothing. */
  readonly moves: ReadonlyMap<string, readonly [before: string, after: string]>
}

export interface NaiveStep {
  readonly before: Tree
  readonly after: Tree
  readonly names: readonly string[]
  /** Approved, counting, and not used on the branch. */
  readonly free: readonly NaiveChange[]
  /** Of a merge: the changes of its side, in their order. */
  readonly side: readonly NaiveChange[]
}

export const at = (tree: Tree, path: string): string => tree.get(path) ?? ''

export const isSameTree = (a: Tree, b: Tree): boolean =>
  [...new Set([...a.keys(), ...b.keys()])].every((path) => at(a, path) === at(b, path))

/** As it was approved, or null where the tree holds something else. */
function applied(tree: Tree, { moves }: NaiveChange): Tree | null {
  const next = new Map(tree)
  for (const [path, [before, after]] of moves) {
    if (at(tree, path) !== before) return null
    next.set(path, after)
  }
  return next
}

/** A file of this model has two halves, which merge by themselves; both are there or none. */
function mergedHalf(base: string, ours: string, theirs: string): string | null {
  if (ours === theirs || theirs === base) return ours
  return ours === base ? theirs : null
}

export function mergedFile(base: string, ours: string, theirs: string): string | null {
  const whole = mergedHalf(base, ours, theirs)
  if (whole !== null || [base, ours, theirs].includes('')) return whole
  const half = (i: 0 | 1) => mergedHalf(base[i] ?? '', ours[i] ?? '', theirs[i] ?? '')
  const [left, right] = [half(0), half(1)]
  return left === null || right === null ? null : left + right
}

export function remade(tree: Tree, { moves }: NaiveChange): Tree | null {
  const next = new Map(tree)
  for (const [path, [before, after]] of moves) {
    const merged = mergedFile(before, at(tree, path), after)
    if (merged === null) return null
    next.set(path, merged)
  }
  return next
}

/** Whether the step may stand on the branch. */
export function allows(step: NaiveStep): boolean {
  const { before, after, names, free, side } = step
  if (isSameTree(before, after)) return names.length === 0
  const reach = (tree: Tree, used: readonly string[], from: number, most: number): boolean => {
    if (isSameTree(tree, after) && names.every((name) => used.includes(name))) return true
    if (most === 0) return false
    // Changes of the side are made anew first, in its order; each may be left out.
    for (let i = from; i < side.length; i++) {
      const change = side[i]
      if (change === undefined || used.includes(change.key) || !free.includes(change)) continue
      const next = remade(tree, change)
      if (next !== null && reach(next, [...used, change.key], i + 1, most - 1)) return true
    }
    return free.some((change) => {
      if (used.includes(change.key)) return false
      const next = applied(tree, change)
      return next !== null && reach(next, [...used, change.key], side.length, most - 1)
    })
  }
  return reach(before, [], 0, 6)
}
