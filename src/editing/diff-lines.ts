import type { HunkLine } from '../model/edit.ts'
import { asBuffer, hasNul } from './bytes.ts'
import { differingRuns, type Run } from './diff-script.ts'
import { lineStarts } from './line-starts.ts'

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
  readonly starts: Uint32Array
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
  return { bytes, starts: lineStarts(bytes) }
}

const countOf = (side: Side): number => side.starts.length - 1

const lineOf = (side: Side, index: number): Buffer =>
  side.bytes.subarray(side.starts[index] ?? 0, side.starts[index + 1] ?? 0)

/** Lines at the beginning that are the same, without a look at each: a file may be one with a million. */
function equalHead(old: Side, fresh: Side): number {
  const bytes = equalBytes(old.bytes, fresh.bytes)
  const isWhole = bytes === old.bytes.length && bytes === fresh.bytes.length
  return isWhole ? countOf(old) : linesWithin(old, bytes)
}

/** Lines that end before the offset, where a line that the file's end cuts off has no end. */
function linesWithin({ starts, bytes }: Side, offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  const isCut = low > 0 && starts[low] === bytes.length && bytes[bytes.length - 1] !== LF
  return isCut ? low - 1 : low
}

const CHUNK = 4096

function equalBytes(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at + CHUNK <= most && a.compare(b, at, at + CHUNK, at, at + CHUNK) === 0) at += CHUNK
  while (at < most && a[at] === b[at]) at++
  return at
}

/** Lines at the end that are the same, of those below the equal head. */
function equalTail(old: Side, fresh: Side, head: number): number {
  const begin = old.bytes.length - equalEndBytes(old.bytes, fresh.bytes)
  const freshBegin = begin + fresh.bytes.length - old.bytes.length
  // What comes before the equal bytes differs: a line may begin there on one side only.
  const begins = freshBegin === 0 || fresh.bytes[freshBegin - 1] === LF
  const first = firstStart(old, begins ? begin : begin + 1)
  return Math.min(countOf(old) - first, countOf(old) - head, countOf(fresh) - head)
}

/** Index of the first line that begins at the offset or behind it. */
function firstStart({ starts }: Side, offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) < offset) low = middle + 1
    else high = middle
  }
  return low
}

function equalEndBytes(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (
    length + CHUNK <= most &&
    a.compare(
      b,
      b.length - length - CHUNK,
      b.length - length,
      a.length - length - CHUNK,
      a.length - length,
    ) === 0
  )
    length += CHUNK
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++
  return length
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
