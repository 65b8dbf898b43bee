import { lineStarts } from './line-starts.ts'

/** What ends a line; '' is the state of a last line that the end of the file ends. */
export type Ending = '\n' | '\r\n' | '\r' | ''

const LF = 10
const CR = 13

/** Length of the UTF-8 byte-order mark at the beginning, or 0. */
export const markLength = (bytes: Uint8Array): number =>
  bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0

/**
 * The lines of a file, each owning its terminator. Indexes count from 0.
 *
 * CRLF and LF end a line. A lone CR is ordinary text, except in a file that has no LF at all: there it is the
 * terminator (the files of old Macs). A byte-order mark belongs to no line: the first line begins after it. A file
 * without bytes after the mark has no line.
 */
export class LineTable {
  readonly bytes: Buffer
  /** Where the text begins: after the byte-order mark, if there is one. */
  readonly contentStart: number
  readonly count: number
  readonly usesCr: boolean
  /** Starts of the lines; one more entry holds the end of the file. */
  private readonly starts: Uint32Array

  /**
   * @param options - `known`: the table of the text from which this one was made, and the only stretch that differs.
   * `usesCr: false`: a lone CR is ordinary text here, as it is to git.
   */
  constructor(
    bytes: Buffer,
    options: {
      readonly known?: { readonly table: LineTable; readonly stretch: ChangedStretch }
      readonly usesCr?: false
    } = {},
  ) {
    const { known, usesCr = !bytes.includes(LF) && bytes.includes(CR) } = options
    this.bytes = bytes
    this.contentStart = markLength(bytes)
    this.usesCr = usesCr
    this.starts =
      known === undefined || known.stretch.start < 3 || known.table.usesCr || this.usesCr
        ? lineStarts(bytes, this.contentStart, this.usesCr ? CR : LF)
        : startsFrom(bytes, known.table, known.stretch)
    this.count = this.starts.length - 1
  }

  /** Offset of the line's first byte; for `index === count`, the end of the file. */
  start(index: number): number {
    return this.starts[index] ?? this.bytes.length
  }

  /** Offset after the line's terminator. */
  end(index: number): number {
    return this.start(index + 1)
  }

  /** Offset of the line's terminator, or its end where it has none. */
  textEnd(index: number): number {
    return this.end(index) - this.ending(index).length
  }

  text(index: number): Buffer {
    return this.bytes.subarray(this.start(index), this.textEnd(index))
  }

  ending(index: number): Ending {
    const end = this.end(index)
    if (end <= this.start(index)) return ''
    const last = this.bytes[end - 1]
    if (this.usesCr) return last === CR ? '\r' : ''
    if (last !== LF) return ''
    return end - 2 >= this.start(index) && this.bytes[end - 2] === CR ? '\r\n' : '\n'
  }

  /** The ending that a new line at this place takes: the line's own, else that of the lines above it, else LF. */
  endingNear(index: number): Exclude<Ending, ''> {
    const own = this.ending(Math.max(0, Math.min(index, this.count - 1)))
    if (own !== '') return own
    const above = this.ending(Math.max(0, Math.min(index, this.count - 1) - 1))
    if (above !== '') return above
    return this.usesCr ? '\r' : '\n'
  }

  /** Whether the last line lacks a terminator. False for a file without lines. */
  get isUnterminated(): boolean {
    return this.count > 0 && this.ending(this.count - 1) === ''
  }

  /** Index of the line that holds the byte at `offset`; the last line for the end of the file. O(log n). */
  lineAt(offset: number): number {
    let low = 0
    let high = this.count - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.start(middle) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Whether a line begins at `offset`; the end of the file counts only where the last line is terminated. */
  isLineStart(offset: number): boolean {
    if (offset === this.contentStart) return true
    if (offset >= this.bytes.length) return offset === this.bytes.length && !this.isUnterminated
    return this.start(this.lineAt(offset)) === offset
  }

  /** Whether `offset` stands at the end of a line: before its terminator, after it, or at the end of the file. */
  isLineEnd(offset: number): boolean {
    if (offset === this.bytes.length || this.isLineStart(offset)) return true
    return this.textEnd(this.lineAt(offset)) === offset
  }
}

/** Bytes `start` to `oldEnd` of one text became `start` to `newEnd` of another; ends are exclusive. */
export interface ChangedStretch {
  readonly start: number
  readonly oldEnd: number
  readonly newEnd: number
}

/** The starts of a text of which all but one stretch is known: that stretch alone is read. */
function startsFrom(bytes: Buffer, table: LineTable, stretch: ChangedStretch): Uint32Array {
  const { start, oldEnd, newEnd } = stretch
  const total = table.isUnterminated ? table.count : table.count + 1
  const head = firstAbove(table, start, total)
  const tail = firstAbove(table, oldEnd, total)
  const fresh: number[] = []
  for (let at = bytes.indexOf(LF, start); at !== -1 && at < newEnd; at = bytes.indexOf(LF, at + 1))
    fresh.push(at + 1)
  const isOpen = bytes.length > table.contentStart && bytes[bytes.length - 1] !== LF
  const starts = new Uint32Array(head + fresh.length + (total - tail) + (isOpen ? 1 : 0))
  for (let i = 0; i < head; i++) starts[i] = table.start(i)
  starts.set(fresh, head)
  const shift = newEnd - oldEnd
  for (let i = tail; i < total; i++) starts[head + fresh.length + i - tail] = table.start(i) + shift
  if (isOpen) starts[starts.length - 1] = bytes.length
  return starts
}

/** Index of the first of `total` line starts that is greater than the offset. */
function firstAbove(table: LineTable, offset: number, total: number): number {
  let low = 0
  let high = total
  while (low < high) {
    const middle = (low + high) >> 1
    if (table.start(middle) <= offset) low = middle + 1
    else high = middle
  }
  return low
}
