import type { Tier } from '../model/edit.ts'
import { ByteFinder } from './find-bytes.ts'
import type { Work } from './work.ts'

/** Tiers that compare a folded form of the text; each folds what those before it fold. */
export type FoldLevel = Extract<Tier, 'eol' | 'trailing-space' | 'unicode'>

export interface FoldOptions {
  readonly level: FoldLevel
  /** A lone CR ends a line too. */
  readonly usesCr: boolean
  /** Where the text begins: after a byte-order mark. */
  readonly from: number
  /** Whether blanks at the very end, without a terminator after them, are trailing blanks. */
  readonly stripsEnd: boolean
}

const LF = 10
const CR = 13
const SPACE = 32
const TAB = 9

/**
 * Bytes in the form in which they are compared, with the way back: every place found maps to the bytes it came from.
 *
 * Terminators become LF (`eol`), blanks before them go (`trailing-space`), curly quotes, dashes and Unicode's spaces
 * become their ASCII likeness (`unicode`). Nothing that is written ever comes from here.
 */
export class FoldedText {
  readonly bytes: Buffer
  readonly finder: ByteFinder
  /** Whether a character beyond ASCII was folded. */
  readonly hasFolded: boolean
  private readonly points: Breakpoints

  constructor(bytes: Buffer, points: Breakpoints, hasFolded: boolean, work: Work) {
    this.bytes = bytes
    this.points = points
    this.hasFolded = hasFolded
    this.finder = new ByteFinder(bytes, work)
  }

  /** Offset in the original of the folded byte at `index`. */
  startOf(index: number): number {
    return this.points.startOf(index)
  }

  /** Offset in the original after the folded byte before `index`. */
  endOf(index: number): number {
    return this.points.endOf(index)
  }

  /** Folded index that corresponds to an offset of the original. */
  indexOf(offset: number): number {
    return this.points.indexOf(offset, this.bytes.length)
  }

  isLineStart(index: number): boolean {
    return index === 0 || this.bytes[index - 1] === LF
  }

  /** Whether a line's text ends here: before its terminator or at the end of the file. */
  isTextEnd(index: number): boolean {
    return index === this.bytes.length || this.bytes[index] === LF
  }

  /** Whether a line ends here: before or after its terminator, or at the end of the file. */
  isLineEnd(index: number): boolean {
    return this.isTextEnd(index) || this.bytes[index - 1] === LF
  }
}

/** The places at which original and folded offsets stop running in step. */
class Breakpoints {
  private folded = new Uint32Array(64)
  private starts = new Uint32Array(64)
  private endsBefore = new Uint32Array(64)
  private count = 0

  /** From `folded` on, bytes come from `start` on; the byte before ended at `endBefore`. */
  add(folded: number, start: number, endBefore: number): void {
    while (this.count > 0 && (this.folded[this.count - 1] ?? 0) > folded) this.count--
    if (this.count > 0 && this.folded[this.count - 1] === folded) {
      this.starts[this.count - 1] = start
      return
    }
    if (this.count === this.folded.length) this.grow()
    this.folded[this.count] = folded
    this.starts[this.count] = start
    this.endsBefore[this.count] = endBefore
    this.count++
  }

  startOf(index: number): number {
    const at = lastAtMost(this.folded, this.count, index)
    return (this.starts[at] ?? 0) + index - (this.folded[at] ?? 0)
  }

  endOf(index: number): number {
    const at = lastAtMost(this.folded, this.count, index)
    if (this.folded[at] === index) return this.endsBefore[at] ?? 0
    return (this.starts[at] ?? 0) + index - (this.folded[at] ?? 0)
  }

  indexOf(offset: number, length: number): number {
    const at = lastAtMost(this.starts, this.count, offset)
    const index = (this.folded[at] ?? 0) + Math.max(0, offset - (this.starts[at] ?? 0))
    const next = at + 1 < this.count ? (this.folded[at + 1] ?? length) : length
    return Math.min(index, next)
  }

  private grow(): void {
    this.folded = doubled(this.folded)
    this.starts = doubled(this.starts)
    this.endsBefore = doubled(this.endsBefore)
  }
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const bigger = new Uint32Array(array.length * 2)
  bigger.set(array)
  return bigger
}

function lastAtMost(sorted: Uint32Array, count: number, value: number): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((sorted[middle] ?? 0) <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** Folds bytes for comparison. One pass. */
export function fold(bytes: Buffer, options: FoldOptions, work: Work): FoldedText {
  const strips = options.level !== 'eol'
  const output = Buffer.allocUnsafe(bytes.length)
  const points = new Breakpoints()
  points.add(0, options.from, options.from)
  let out = 0
  let hasFolded = false
  /** Where the run of blanks at hand begins, in both texts; -1 = none. */
  let blanksOut = -1
  let blanksIn = -1
  let at = options.from
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    const ends = byte === LF ? 1 : byte === CR ? (bytes[at + 1] === LF ? 2 : options.usesCr ? 1 : 0) : 0
    if (ends > 0) {
      if (strips && blanksOut !== -1) {
        out = blanksOut
        points.add(out, at, blanksIn)
      }
      blanksOut = -1
      output[out++] = LF
      at += ends
      if (ends === 2) points.add(out, at, at)
      continue
    }
    const likeness = byte >= 0x80 && options.level === 'unicode' ? likenessAt(bytes, at) : 0
    const written = likeness === 0 ? byte : likeness & 0xff
    if (written === SPACE || written === TAB) {
      if (blanksOut === -1) {
        blanksOut = out
        blanksIn = at
      }
    } else blanksOut = -1
    output[out++] = written
    at += likeness === 0 ? 1 : likeness >> 8
    if (likeness !== 0) {
      hasFolded = true
      points.add(out, at, at)
    }
  }
  if (strips && options.stripsEnd && blanksOut !== -1) {
    out = blanksOut
    points.add(out, bytes.length, blanksIn)
  }
  work.spend(4 * bytes.length)
  return new FoldedText(output.subarray(0, out), points, hasFolded, work)
}

/** The ASCII likeness of the character at the offset: its length in bytes times 256 plus the byte; 0 = none. */
function likenessAt(bytes: Buffer, at: number): number {
  const second = bytes[at + 1] ?? 0
  const third = bytes[at + 2] ?? 0
  switch (bytes[at]) {
    case 0xc2:
      return second === 0xa0 ? 0x220 : 0
    case 0xe1:
      return second === 0x9a && third === 0x80 ? 0x320 : 0
    case 0xe2:
      return generalPunctuation(second, third)
    case 0xe3:
      return second === 0x80 && third === 0x80 ? 0x320 : 0
    default:
      return 0
  }
}

/** U+2000 to U+200A, U+202F, U+205F: spaces. U+2010 to U+2015, U+2212: dashes. U+2018 to U+201F: quotes. */
function generalPunctuation(second: number, third: number): number {
  if (second === 0x80) {
    if (third >= 0x80 && third <= 0x8a) return 0x320
    if (third >= 0x90 && third <= 0x95) return 0x32d
    if (third >= 0x98 && third <= 0x9b) return 0x327
    if (third >= 0x9c && third <= 0x9f) return 0x322
    return third === 0xaf ? 0x320 : 0
  }
  if (second === 0x81) return third === 0x9f ? 0x320 : 0
  return second === 0x88 && third === 0x92 ? 0x32d : 0
}
