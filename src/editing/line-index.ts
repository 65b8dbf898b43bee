import { lineStarts } from './line-starts.ts'
import type { Work } from './work.ts'

const LF = 10
/** What looking at one line costs beside its bytes. */
const LINE_COST = 64
const isBlank = (byte: number | undefined): boolean => byte === 32 || byte === 9

/** The line's bytes without blanks at both ends. */
export function trimmed(bytes: Buffer): Buffer {
  let start = 0
  let end = bytes.length
  while (start < end && isBlank(bytes[start])) start++
  while (end > start && isBlank(bytes[end - 1])) end--
  return bytes.subarray(start, end)
}

/** Lines of a text by their numbers from 0. */
export interface Lines {
  readonly count: number
  /** The line as it is looked for. */
  readonly line: (index: number) => Buffer
}

/** Lines that end in LF. */
export class SplitLines {
  readonly count: number
  private readonly bytes: Buffer
  private readonly starts: Uint32Array

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.starts = lineStarts(bytes)
    this.count = this.starts.length - 1
  }

  /** The line without its LF; empty beyond the end. */
  line(index: number): Buffer {
    const start = this.starts[index] ?? this.bytes.length
    const end = this.starts[index + 1] ?? this.bytes.length
    const isTerminated = end > start && this.bytes[end - 1] === LF
    return this.bytes.subarray(start, isTerminated ? end - 1 : end)
  }
}

/** Which lines count: from the first to the last, both included, and what else must hold of one. */
interface LineSearch {
  readonly from?: number
  readonly to?: number
  readonly accept?: (line: number) => boolean
}

/** Finds the lines with a certain content without a pass over all. */
export class LineIndex {
  private readonly lines: Lines
  private readonly mask: number
  /** Lines by hash, those of one hash ascending. */
  private readonly ordered: Uint32Array
  /** Where the lines of each hash begin in `ordered`; one more entry holds the end. */
  private readonly slots: Uint32Array
  private readonly work: Work

  /** @param byteLength - of all lines together, for what the index costs. */
  constructor(lines: Lines, byteLength: number, work: Work) {
    const { count } = lines
    this.lines = lines
    this.work = work
    work.spend(4 * byteLength + LINE_COST * count)
    const bits = Math.min(22, Math.max(8, Math.ceil(Math.log2(count + 1)) + 1))
    this.mask = 2 ** bits - 1
    const hashes = new Uint32Array(count)
    this.slots = new Uint32Array(2 ** bits + 1)
    for (let line = 0; line < count; line++) {
      const slot = hashOf(lines.line(line)) & this.mask
      hashes[line] = slot
      this.slots[slot + 1] = (this.slots[slot + 1] ?? 0) + 1
    }
    for (let slot = 0; slot <= this.mask; slot++)
      this.slots[slot + 1] = (this.slots[slot + 1] ?? 0) + (this.slots[slot] ?? 0)
    this.ordered = new Uint32Array(count)
    const next = this.slots.slice()
    for (let line = 0; line < count; line++) {
      const slot = hashes[line] ?? 0
      this.ordered[next[slot] ?? 0] = line
      next[slot] = (next[slot] ?? 0) + 1
    }
  }

  /** The line as the index knows it. */
  line(index: number): Buffer {
    return this.lines.line(index)
  }

  /** At most this many lines have this content (others may share its hash). */
  countOf(content: Buffer): number {
    const slot = hashOf(content) & this.mask
    return (this.slots[slot + 1] ?? 0) - (this.slots[slot] ?? 0)
  }

  /** Indexes of the lines with this content, ascending, at most `limit`. */
  linesWith(content: Buffer, limit: number, search: LineSearch = {}): readonly number[] {
    const { from = 0, to = this.lines.count, accept } = search
    const slot = hashOf(content) & this.mask
    const end = this.slots[slot + 1] ?? 0
    const found: number[] = []
    this.work.spend(LINE_COST + content.length)
    for (let at = this.firstFrom(slot, from); at < end && found.length < limit; at++) {
      const line = this.ordered[at] ?? 0
      if (line > to) break
      this.work.spend(LINE_COST)
      if (this.line(line).equals(content) && (accept === undefined || accept(line))) found.push(line)
    }
    return found
  }

  /** Index in `ordered` of the slot's first line at or after `from`. */
  private firstFrom(slot: number, from: number): number {
    let low = this.slots[slot] ?? 0
    let high = this.slots[slot + 1] ?? 0
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.ordered[middle] ?? 0) < from) low = middle + 1
      else high = middle
    }
    return low
  }
}

function hashOf(bytes: Buffer): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
