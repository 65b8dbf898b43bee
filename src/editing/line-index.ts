import type { FoldedText } from './fold.ts'

const LF = 10
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
  private readonly heads: Int32Array
  private readonly next: Int32Array
  private readonly counts: Uint32Array

  constructor(text: FoldedText) {
    this.bytes = text.bytes
    this.starts = startsOf(text.bytes)
    const count = this.starts.length - 1
    const bits = Math.min(22, Math.max(8, Math.ceil(Math.log2(count + 1)) + 1))
    this.mask = 2 ** bits - 1
    this.heads = new Int32Array(2 ** bits)
    this.counts = new Uint32Array(2 ** bits)
    this.next = new Int32Array(count)
    for (let line = count - 1; line >= 0; line--) {
      const slot = hashOf(this.line(line)) & this.mask
      this.next[line] = this.heads[slot] ?? 0
      this.heads[slot] = line + 1
      this.counts[slot] = (this.counts[slot] ?? 0) + 1
    }
  }

  get count(): number {
    return this.starts.length - 1
  }

  /** The folded line without indentation and trailing blanks; empty beyond the end. */
  line(index: number): Buffer {
    return trimmed(this.bytes.subarray(this.starts[index] ?? 0, this.textEnd(index)))
  }

  /** The folded line with its indentation. */
  wholeLine(index: number): Buffer {
    return this.bytes.subarray(this.starts[index] ?? 0, this.textEnd(index))
  }

  /** At most this many lines have this content (others may share its hash). */
  countOf(content: Buffer): number {
    return this.counts[hashOf(content) & this.mask] ?? 0
  }

  /** Indexes of the lines with this trimmed content, ascending, at most `limit`. */
  linesWith(content: Buffer, limit: number): readonly number[] {
    const found: number[] = []
    let entry = this.heads[hashOf(content) & this.mask] ?? 0
    while (entry > 0 && found.length < limit) {
      if (this.line(entry - 1).equals(content)) found.push(entry - 1)
      entry = this.next[entry - 1] ?? 0
    }
    return found
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
