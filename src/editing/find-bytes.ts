import { BlockIndex, type BlockShape } from './block-index.ts'
import { findOccurrences } from './find-linear.ts'
import type { Work } from './work.ts'

export interface SearchOptions {
  /** Stops after this many places. */
  readonly limit: number
  /** Matches begin at or after this offset (default 0) … */
  readonly from?: number
  /** … and end at or before this one (default: the end). */
  readonly to?: number
  /** Places for which this is false do not count. */
  readonly accept?: (offset: number) => boolean
}

const wide: BlockShape = { width: 16, stride: 16 }
const middle: BlockShape = { width: 8, stride: 8 }
const narrow: BlockShape = { width: 4, stride: 4 }
const dense: BlockShape = { width: 4, stride: 1 }

/** A file this big gets no dense index: it holds an entry for every byte. */
const DENSE_MAX_BYTES = 16 * 1024 * 1024
/** Passes over the file before an index is built: a few searches are quicker without. */
const PASSES_WITHOUT_INDEX = 4
/** As few blocks as this end the choice of an index. */
const FEW_BLOCKS = 64

/** What a place costs that is looked at closely, beside the needle's bytes. */
const PLACE_COST = 96
/** What each byte of a pass costs for a needle that no index helps with: the file is full of its parts. */
const COMMON_COST = 4

/**
 * Finds byte strings in one file.
 *
 * The first few searches pass over the file; after that, indexes of its blocks are built, so that any number of
 * further searches costs about as much as the needles are long. A needle made of what the file is full of is still
 * searched by a pass, which `Work` pays for.
 */
export class ByteFinder {
  readonly bytes: Buffer
  private readonly work: Work
  private readonly indexes = new Map<BlockShape, BlockIndex>()
  private scanned = 0

  constructor(bytes: Buffer, work: Work) {
    this.bytes = bytes
    this.work = work
  }

  /** Offsets at which the needle stands, ascending, overlapping ones included. Nothing for an empty needle. */
  find(needle: Buffer, options: SearchOptions): readonly number[] {
    const { from = 0, to = this.bytes.length } = options
    if (needle.length === 0 || to - from < needle.length) return []
    const isNear = to - from <= 4 * needle.length + 1024
    if (isNear || this.scanned < PASSES_WITHOUT_INDEX * this.bytes.length)
      return this.scan(needle, options, 1)
    const places = this.lookUp(needle)
    return places === null ? this.scan(needle, options, COMMON_COST) : this.chosen(needle, places, options)
  }

  private lookUp(needle: Buffer): readonly number[] | null {
    const shapes = [wide, middle, narrow, dense].filter(
      ({ width, stride }) => needle.length >= width + stride - 1 && (stride > 1 || this.allowsDense(needle)),
    )
    let best: { readonly index: BlockIndex; readonly run: ReturnType<BlockIndex['cheapestRun']> } | null =
      null
    for (const shape of shapes) {
      const index = this.indexOf(shape)
      this.work.spend(8 * needle.length)
      const run = index.cheapestRun(needle)
      if (best === null || run.blocks < best.run.blocks) best = { index, run }
      if (best.run.blocks <= FEW_BLOCKS) break
    }
    if (best === null || best.run.blocks > Math.max(1024, this.bytes.length >> 9)) return null
    this.work.spend(needle.length + best.run.blocks * 32)
    return best.index.places(needle, best.run)
  }

  private allowsDense(needle: Buffer): boolean {
    return needle.length < narrow.width + narrow.stride - 1 && this.bytes.length <= DENSE_MAX_BYTES
  }

  private indexOf(shape: BlockShape): BlockIndex {
    const known = this.indexes.get(shape)
    if (known !== undefined) return known
    this.work.spend(this.bytes.length * (shape === dense ? 16 : 4))
    const index = new BlockIndex(this.bytes, shape)
    this.indexes.set(shape, index)
    return index
  }

  private chosen(needle: Buffer, places: readonly number[], options: SearchOptions): readonly number[] {
    const { limit, from = 0, to = this.bytes.length, accept } = options
    const found: number[] = []
    for (const place of [...places].sort((a, b) => a - b)) {
      if (found.length >= limit) break
      if (place < from || place + needle.length > to) continue
      this.work.spend(needle.length + PLACE_COST)
      if (this.bytes.compare(needle, 0, needle.length, place, place + needle.length) !== 0) continue
      if (accept === undefined || accept(place)) found.push(place)
    }
    return found
  }

  private scan(needle: Buffer, options: SearchOptions, byteCost: number): readonly number[] {
    const { limit, from = 0, to = this.bytes.length, accept } = options
    const found: number[] = []
    let passed = from
    for (const place of findOccurrences(this.bytes.subarray(0, to), needle, from, this.work)) {
      this.spendPass(place + 1 - passed, byteCost)
      this.work.spend(PLACE_COST)
      passed = place + 1
      if (accept === undefined || accept(place)) found.push(place)
      if (found.length >= limit) return found
    }
    this.spendPass(to - passed, byteCost)
    return found
  }

  private spendPass(bytes: number, byteCost: number): void {
    this.scanned += bytes
    this.work.spend(bytes * byteCost)
  }
}
