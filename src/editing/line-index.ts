import type { FoldedText } from './fold.ts'
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

/** The lines of a folded text, found by their content without indentation. Indexes count from 0, as the file's lines do. */
export class LineIndex {
  private readonly bytes: Buffer
  private readonly starts: Uint32Array
  private readonly mask: number
  /** Lines by hash, those of one hash ascending. */
  private readonly ordered: Uint32Array
  /** Where the lines of each hash begin in `ordered`; one more entry holds the end. */
  private readonly slots: Uint32Array
  private readonly work: Work

  constructor(text: FoldedText, work: Work) {
    this.bytes = text.bytes
    this.work = work
    this.starts = startsOf(text.bytes)
    const count = this.starts.length - 1
    work.spend(4 * text.bytes.length + LINE_COST * count)
    const bits = Math.min(22, Math.max(8, Math.ceil(Math.log2(count + 1)) + 1))
    this.mask = 2 ** bits - 1
    const hashes = new Uint32Array(count)
    this.slots = new Uint32Array(2 ** bits + 1)
    for (let line = 0; line < count; line++) {
      const slot = hashOf(this.line(line)) & this.mask
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

  get count(): number {
    return this.starts.length - 1
  }

  /** The folded line without indentation and trailing blanks; empty beyond the end. */
  line(index: number): Buffer {
    return trimmed(this.wholeLine(index))
  }

  /** The folded line with its indentation. */
  wholeLine(index: number): Buffer {
    return this.bytes.subarray(this.starts[index] ?? 0, this.textEnd(index))
  }

  /** At most this many lines have this content (others may share its hash). */
  countOf(content: Buffer): number {
    const slot = hashOf(content) & this.mask
    return (this.slots[slot + 1] ?? 0) - (this.slots[slot] ?? 0)
  }

  /**
   * Indexes of the lines with this trimmed content, ascending, at most `limit`.
   *
   * @param range - the first line that counts and the last, and what else must hold of one.
   */
  linesWith(
    content: Buffer,
    limit: number,
    range: {
      readonly from?: number
      readonly to?: number
      readonly accept?: (line: number) => boolean
    } = {},
  ): readonly number[] {
    const { from = 0, to = this.count, accept } = range
    const slot = hashOf(content) & this.mask
    const end = this.slots[slot + 1] ?? 0
    const found: number[] = []
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

  private textEnd(index: number): number {
    const start = this.starts[index] ?? this.bytes.length
    const end = this.starts[index + 1] ?? this.bytes.length
    return end > start && this.bytes[end - 1] === LF ? end - 1 : end
  }
}

function startsOf(bytes: Buffer): Uint32Array {
  let count = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === LF) count++
  const isOpen = bytes.length > 0 && bytes[bytes.length - 1] !== LF
  const starts = new Uint32Array(count + (isOpen ? 2 : 1))
  let next = 1
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === LF) starts[next++] = i + 1
  starts[starts.length - 1] = bytes.length
  return starts
}

function hashOf(bytes: Buffer): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
