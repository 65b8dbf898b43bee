import { type ChangedMarks, type DiffBudget, markDifferences, type Stretch } from './myers.ts'

const STEPS_MAX = 20_000_000

/** A place where the sequences differ; ends are exclusive, either side may be empty. */
export type Run = Stretch

/**
 * The places where two sequences differ, in order; between them both have the same lines.
 *
 * Lines that the other side lacks altogether are marked first; the rest is compared by Myers' method. Where that would
 * cost too much, lines that occur once on each side are taken as anchors and the stretches between are compared; a
 * stretch that is still too different is marked whole.
 */
export function differingRuns(old: Int32Array, fresh: Int32Array): readonly Run[] {
  const marks = { old: new Uint8Array(old.length), fresh: new Uint8Array(fresh.length) }
  const keptOld = keepShared(old, fresh, marks.old)
  const keptNew = keepShared(fresh, old, marks.fresh)
  const a = Int32Array.from(keptOld, (index) => old[index] ?? -1)
  const b = Int32Array.from(keptNew, (index) => fresh[index] ?? -1)
  const kept = { old: new Uint8Array(a.length), fresh: new Uint8Array(b.length) }
  compare(a, b, kept)
  keptOld.forEach((index, i) => {
    if (kept.old[i] === 1) marks.old[index] = 1
  })
  keptNew.forEach((index, i) => {
    if (kept.fresh[i] === 1) marks.fresh[index] = 1
  })
  return slideDown(old, fresh, runsOf(marks))
}

/** Marks the lines that the other side lacks; returns the indexes of the rest. */
function keepShared(lines: Int32Array, others: Int32Array, marks: Uint8Array): Int32Array {
  const known = new Set(others)
  const kept = new Int32Array(lines.length)
  let count = 0
  lines.forEach((line, index) => {
    if (known.has(line)) kept[count++] = index
    else marks[index] = 1
  })
  return kept.subarray(0, count)
}

function compare(a: Int32Array, b: Int32Array, marks: ChangedMarks): void {
  const budget: DiffBudget = { steps: STEPS_MAX }
  const whole = { oldFrom: 0, oldTo: a.length, newFrom: 0, newTo: b.length }
  if (markDifferences(a, b, whole, marks, budget)) return
  budget.steps = STEPS_MAX
  for (const stretch of stretchesBetween(anchorsOf(a, b), whole)) {
    if (markDifferences(a, b, stretch, marks, budget)) continue
    marks.old.fill(1, stretch.oldFrom, stretch.oldTo)
    marks.fresh.fill(1, stretch.newFrom, stretch.newTo)
  }
}

interface Anchor {
  readonly old: number
  readonly fresh: number
}

/** Lines that occur exactly once on each side, the longest run of them that keeps its order. */
function anchorsOf(a: Int32Array, b: Int32Array): readonly Anchor[] {
  const inOld = onlyPlaces(a)
  const inNew = onlyPlaces(b)
  const pairs: Anchor[] = []
  a.forEach((line, index) => {
    const fresh = inNew.get(line)
    if (inOld.get(line) === index && fresh !== undefined && fresh >= 0) pairs.push({ old: index, fresh })
  })
  return longestRising(pairs)
}

function onlyPlaces(lines: Int32Array): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  lines.forEach((line, index) => {
    places.set(line, places.has(line) ? -1 : index)
  })
  return places
}

/** Longest subsequence in which `fresh` rises (the pairs come sorted by `old`). O(n log n). */
function longestRising(pairs: readonly Anchor[]): readonly Anchor[] {
  const tops: number[] = []
  const back = new Int32Array(pairs.length).fill(-1)
  pairs.forEach((pair, index) => {
    let low = 0
    let high = tops.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[tops[middle] ?? 0]?.fresh ?? 0) < pair.fresh) low = middle + 1
      else high = middle
    }
    back[index] = low > 0 ? (tops[low - 1] ?? -1) : -1
    tops[low] = index
  })
  const chosen: Anchor[] = []
  for (let index = tops[tops.length - 1] ?? -1; index >= 0; index = back[index] ?? -1) {
    const pair = pairs[index]
    if (pair !== undefined) chosen.push(pair)
  }
  return chosen.reverse()
}

function stretchesBetween(anchors: readonly Anchor[], whole: Stretch): readonly Stretch[] {
  const stretches: Stretch[] = []
  let oldFrom = whole.oldFrom
  let newFrom = whole.newFrom
  for (const { old, fresh } of anchors) {
    stretches.push({ oldFrom, oldTo: old, newFrom, newTo: fresh })
    oldFrom = old + 1
    newFrom = fresh + 1
  }
  return [...stretches, { oldFrom, oldTo: whole.oldTo, newFrom, newTo: whole.newTo }]
}

/** Turns marks into runs: between two runs both sides have the same lines. */
function runsOf(marks: ChangedMarks): Run[] {
  const runs: Run[] = []
  let x = 0
  let y = 0
  while (x < marks.old.length || y < marks.fresh.length) {
    const oldFrom = x
    const newFrom = y
    while (marks.old[x] === 1) x++
    while (marks.fresh[y] === 1) y++
    if (x > oldFrom || y > newFrom) runs.push({ oldFrom, oldTo: x, newFrom, newTo: y })
    else {
      x++
      y++
    }
  }
  return runs
}

/** Moves runs that only add or only remove down while the line after equals their first: what git's diff shows. */
function slideDown(old: Int32Array, fresh: Int32Array, runs: readonly Run[]): readonly Run[] {
  const slid: Run[] = []
  for (let i = runs.length - 1; i >= 0; i--) {
    const run = runs[i]
    const next = slid[slid.length - 1]
    if (run === undefined) continue
    const by = slideOf(old, fresh, run, next)
    const moved = shifted(run, by)
    if (next !== undefined && next.oldFrom === moved.oldTo && next.newFrom === moved.newTo) {
      slid[slid.length - 1] = { ...moved, oldTo: next.oldTo, newTo: next.newTo }
    } else slid.push(moved)
  }
  return slid.reverse()
}

const shifted = (run: Run, by: number): Run => ({
  oldFrom: run.oldFrom + by,
  oldTo: run.oldTo + by,
  newFrom: run.newFrom + by,
  newTo: run.newTo + by,
})

function slideOf(old: Int32Array, fresh: Int32Array, run: Run, next: Run | undefined): number {
  const removes = run.oldTo > run.oldFrom
  if (removes && run.newTo > run.newFrom) return 0
  const [lines, from, to] = removes ? [old, run.oldFrom, run.oldTo] : [fresh, run.newFrom, run.newTo]
  const room = (removes ? (next?.oldFrom ?? old.length) : (next?.newFrom ?? fresh.length)) - to
  let by = 0
  while (by < room && lines[from + by] === lines[to + by]) by++
  return by
}
