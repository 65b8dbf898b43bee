/** Width of the blocks that are hashed, and the distance between two block starts in the indexed bytes. */
export interface BlockShape {
  readonly width: 4 | 8 | 16
  readonly stride: number
}

/** Offsets of a needle at which looking for windows costs least, and how many blocks they lead to. */
export interface WindowRun {
  readonly offset: number
  readonly blocks: number
}

/** Windows of a long needle that are weighed; its rarest part need not be found, only a rare one. */
const WINDOWS_MAX = 4096

/**
 * Where blocks of one file stand, by hash: finds a needle without a pass over the file.
 *
 * Blocks begin at every `stride` bytes. Of any `stride` neighbouring windows of a needle that stands in the file, one
 * is a block; so looking those up gives every place. The caller takes the windows whose blocks are rarest.
 */
export class BlockIndex {
  readonly shape: BlockShape
  private readonly bytes: Buffer
  private readonly mask: number
  /** First block with a hash, plus one; 0 = none. */
  private readonly heads: Int32Array
  private readonly next: Int32Array
  private readonly counts: Uint32Array

  constructor(bytes: Buffer, shape: BlockShape) {
    this.bytes = bytes
    this.shape = shape
    const blocks = Math.max(0, Math.floor((bytes.length - shape.width) / shape.stride) + 1)
    const bits = Math.min(22, Math.max(8, Math.ceil(Math.log2(blocks + 1)) + 1))
    this.mask = 2 ** bits - 1
    this.heads = new Int32Array(2 ** bits)
    this.counts = new Uint32Array(2 ** bits)
    this.next = new Int32Array(blocks)
    for (let block = 0; block < blocks; block++) {
      const hash = hashAt(bytes, block * shape.stride, shape.width) & this.mask
      this.next[block] = this.heads[hash] ?? 0
      this.heads[hash] = block + 1
      this.counts[hash] = (this.counts[hash] ?? 0) + 1
    }
  }

  /** Shortest needle that this index can look for. */
  get needleMinBytes(): number {
    return this.shape.width + this.shape.stride - 1
  }

  /** The cheapest run of windows of the needle, which must be long enough. */
  cheapestRun(needle: Buffer): WindowRun {
    const { width, stride } = this.shape
    const windows = Math.min(needle.length - width + 1, WINDOWS_MAX)
    const costs = new Uint32Array(windows)
    let sum = 0
    let best: WindowRun = { offset: 0, blocks: Number.POSITIVE_INFINITY }
    for (let i = 0; i < windows; i++) {
      costs[i] = this.counts[hashAt(needle, i, width) & this.mask] ?? 0
      sum += (costs[i] ?? 0) - (i >= stride ? (costs[i - stride] ?? 0) : 0)
      if (i >= stride - 1 && sum < best.blocks) best = { offset: i - stride + 1, blocks: sum }
    }
    return best
  }

  /** Offsets, in no order, at which the needle may stand according to this run of its windows; all real ones are among them. */
  places(needle: Buffer, run: WindowRun): readonly number[] {
    const { width, stride } = this.shape
    const found: number[] = []
    for (let offset = run.offset; offset < run.offset + stride; offset++) {
      const hash = hashAt(needle, offset, width) & this.mask
      for (let block = this.heads[hash] ?? 0; block > 0; block = this.next[block - 1] ?? 0) {
        const place = (block - 1) * stride - offset
        if (place >= 0 && place + needle.length <= this.bytes.length && isLikely(this.bytes, place, needle)) {
          found.push(place)
        }
      }
    }
    return found
  }
}

/** A cheap look at a few bytes of the needle before the whole is compared. */
function isLikely(bytes: Buffer, place: number, needle: Buffer): boolean {
  const last = needle.length - 1
  const step = Math.max(1, last >> 3)
  for (let i = last; i >= 0; i -= step) if (bytes[place + i] !== needle[i]) return false
  return true
}

function hashAt(bytes: Buffer, offset: number, width: number): number {
  let hash = 0
  for (let at = offset; at < offset + width; at += 4) {
    const word =
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24)
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
