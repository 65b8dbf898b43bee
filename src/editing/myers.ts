/** Marks, one byte a line, of the lines that only one side has. */
export interface ChangedMarks {
  readonly old: Uint8Array
  readonly fresh: Uint8Array
}

/** One stretch of both sequences; ends are exclusive. */
export interface Stretch {
  readonly oldFrom: number
  readonly oldTo: number
  readonly newFrom: number
  readonly newTo: number
}

/** What a comparison may still cost, in steps along diagonals. Shared by all stretches of one file. */
export interface DiffBudget {
  steps: number
}

/** Differences above this many are not traced: the trace's memory grows with their square. */
const DIFFERENCES_MAX = 2000

/**
 * Myers' greedy comparison of one stretch of two sequences of line numbers.
 *
 * Marks what differs and returns true, or leaves the marks alone and returns false where the stretch differs too much
 * for the budget.
 */
export function markDifferences(
  old: Int32Array,
  fresh: Int32Array,
  stretch: Stretch,
  marks: ChangedMarks,
  budget: DiffBudget,
): boolean {
  const a = old.subarray(stretch.oldFrom, stretch.oldTo)
  const b = fresh.subarray(stretch.newFrom, stretch.newTo)
  const trace = traceOf(a, b, budget)
  if (trace === null) return false
  let x = a.length
  let y = b.length
  for (let d = trace.length - 1; d > 0; d--) {
    const row = trace[d - 1] ?? new Int32Array(0)
    const k = x - y
    const down = k === -d || (k !== d && reach(row, d - 1, k - 1) < reach(row, d - 1, k + 1))
    const previous = down ? k + 1 : k - 1
    x = reach(row, d - 1, previous)
    y = x - previous
    if (down) marks.fresh[stretch.newFrom + y] = 1
    else marks.old[stretch.oldFrom + x] = 1
  }
  return true
}

/** Furthest `x` on diagonal `k` after `d` differences; the row holds every second diagonal from -d to d. */
function reach(row: Int32Array, d: number, k: number): number {
  if (k < -d || k > d) return -1
  return row[(k + d) >> 1] ?? -1
}

/** For each number of differences, the furthest points reached; null when the budget ran out. */
function traceOf(a: Int32Array, b: Int32Array, budget: DiffBudget): readonly Int32Array[] | null {
  const trace: Int32Array[] = []
  const most = Math.min(a.length + b.length, DIFFERENCES_MAX)
  for (let d = 0; d <= most; d++) {
    const before = trace[d - 1] ?? new Int32Array(0)
    const row = new Int32Array(d + 1)
    trace.push(row)
    for (let k = -d; k <= d; k += 2) {
      const x = furthest(a, b, { before, d, k })
      budget.steps -= x.cost
      row[(k + d) >> 1] = x.at
      if (x.at >= a.length && x.at - k >= b.length) return trace
    }
    if (budget.steps < 0) return null
  }
  return null
}

function furthest(
  a: Int32Array,
  b: Int32Array,
  { before, d, k }: { readonly before: Int32Array; readonly d: number; readonly k: number },
): { readonly at: number; readonly cost: number } {
  let x = 0
  if (d > 0) {
    const left = reach(before, d - 1, k - 1)
    const right = reach(before, d - 1, k + 1)
    x = k === -d || (k !== d && left < right) ? right : left + 1
  }
  const begin = x
  let y = x - k
  while (x < a.length && y >= 0 && y < b.length && a[x] === b[y]) {
    x++
    y++
  }
  return { at: x, cost: x - begin + 1 }
}
