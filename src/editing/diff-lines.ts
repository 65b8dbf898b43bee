import type { HunkLine } from '../model/edit.ts'
import { asBuffer, hasNul } from './bytes.ts'
import { differingRuns, type Run } from './diff-script.ts'

/** A stretch of a line diff with its context, in the numbers of a unified diff's `@@` line. */
export interface LineHunk {
  /** 1-based; where the count is 0, the line before the place (0 = the top), as git writes it. */
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
  readonly lines: readonly HunkLine[]
}

/** Numbers of lines that a change adds and removes. */
export interface LineCounts {
  readonly added: number
  readonly removed: number
}

/**
 * Counts the lines that differ. null stands for an absent file.
 *
 * Returns null where one side holds a NUL byte: binary content has no lines. Lines end at LF; a final line without one
 * differs from the same line with one. Deterministic, and quick for big files with few differences.
 */
export function countLines(before: Uint8Array | null, after: Uint8Array | null): LineCounts | null {
  if ((before !== null && hasNul(before)) || (after !== null && hasNul(after))) return null
  const { runs } = compareLines(before ?? none, after ?? none)
  return {
    added: runs.reduce((sum, run) => sum + run.newTo - run.newFrom, 0),
    removed: runs.reduce((sum, run) => sum + run.oldTo - run.oldFrom, 0),
  }
}

/**
 * The line diff as hunks with `context` unchanged lines around each; hunks that would touch are one.
 *
 * The same bytes always give the same hunks. Applying them to `before` gives `after`.
 */
export function lineHunks(before: Uint8Array, after: Uint8Array, context: number): readonly LineHunk[] {
  const compared = compareLines(before, after)
  return grouped(compared.runs, context).map((runs) => hunkOf(compared, runs, context))
}

const none = new Uint8Array(0)
const LF = 10

/** Line starts of one side, the end of the file included. */
interface Side {
  readonly bytes: Buffer
  readonly starts: readonly number[]
}

interface Compared {
  readonly old: Side
  readonly fresh: Side
  readonly runs: readonly Run[]
}

/** Splits both sides into lines and finds the runs that differ; equal lines at both ends are set aside first. */
function compareLines(before: Uint8Array, after: Uint8Array): Compared {
  const old = sideOf(before)
  const fresh = sideOf(after)
  const head = equalHead(old, fresh)
  const tail = equalTail(old, fresh, head)
  const names = new Map<string, number>()
  const runs = differingRuns(numbered(old, head, tail, names), numbered(fresh, head, tail, names))
  return {
    old,
    fresh,
    runs: runs.map((run) => ({
      oldFrom: run.oldFrom + head,
      oldTo: run.oldTo + head,
      newFrom: run.newFrom + head,
      newTo: run.newTo + head,
    })),
  }
}

function sideOf(raw: Uint8Array): Side {
  const bytes = asBuffer(raw)
  const starts = [0]
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) starts.push(at + 1)
  if (starts[starts.length - 1] !== bytes.length) starts.push(bytes.length)
  return { bytes, starts }
}

const countOf = (side: Side): number => side.starts.length - 1

const lineOf = (side: Side, index: number): Buffer =>
  side.bytes.subarray(side.starts[index] ?? 0, side.starts[index + 1] ?? 0)

function equalHead(old: Side, fresh: Side): number {
  const most = Math.min(countOf(old), countOf(fresh))
  let head = 0
  while (head < most && lineOf(old, head).equals(lineOf(fresh, head))) head++
  return head
}

function equalTail(old: Side, fresh: Side, head: number): number {
  const most = Math.min(countOf(old), countOf(fresh)) - head
  let tail = 0
  while (tail < most && lineOf(old, countOf(old) - 1 - tail).equals(lineOf(fresh, countOf(fresh) - 1 - tail)))
    tail++
  return tail
}

/** The lines between the equal ends, each as a number that stands for its bytes. */
function numbered(side: Side, head: number, tail: number, names: Map<string, number>): Int32Array {
  const numbers = new Int32Array(countOf(side) - head - tail)
  for (let i = 0; i < numbers.length; i++) {
    const line = lineOf(side, head + i).toString('latin1')
    const known = names.get(line)
    numbers[i] = known ?? names.size
    if (known === undefined) names.set(line, names.size)
  }
  return numbers
}

function grouped(runs: readonly Run[], context: number): readonly (readonly Run[])[] {
  const groups: Run[][] = []
  for (const run of runs) {
    const last = groups[groups.length - 1]
    const previous = last?.[last.length - 1]
    if (last !== undefined && previous !== undefined && run.oldFrom - previous.oldTo <= 2 * context)
      last.push(run)
    else groups.push([run])
  }
  return groups
}

function hunkOf({ old, fresh }: Compared, runs: readonly Run[], context: number): LineHunk {
  const first = runs[0]
  const last = runs[runs.length - 1]
  if (first === undefined || last === undefined) throw new Error('BUG: a hunk has a run')
  const lead = Math.min(context, first.oldFrom)
  const trail = Math.min(context, countOf(old) - last.oldTo)
  const lines: HunkLine[] = []
  let at = first.oldFrom - lead
  const add = (side: Side, kind: HunkLine['kind'], from: number, to: number): void => {
    for (let index = from; index < to; index++) lines.push(hunkLine(side, kind, index))
  }
  for (const run of runs) {
    add(old, 'context', at, run.oldFrom)
    add(old, 'remove', run.oldFrom, run.oldTo)
    add(fresh, 'add', run.newFrom, run.newTo)
    at = run.oldTo
  }
  add(old, 'context', at, at + trail)
  const oldCount = last.oldTo + trail - first.oldFrom + lead
  const newCount = last.newTo + trail - first.newFrom + lead
  return {
    oldStart: first.oldFrom - lead + (oldCount > 0 ? 1 : 0),
    oldCount,
    newStart: first.newFrom - lead + (newCount > 0 ? 1 : 0),
    newCount,
    lines,
  }
}

function hunkLine(side: Side, kind: HunkLine['kind'], index: number): HunkLine {
  const line = lineOf(side, index)
  if (line[line.length - 1] === LF) return { kind, text: line.subarray(0, -1) }
  return { kind, text: line, unterminated: true }
}
