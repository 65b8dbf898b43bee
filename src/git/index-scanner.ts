/** One entry of an index, as its bytes say it. */
export interface IndexEntry {
  readonly path: string
  /** Six octal digits. */
  readonly mode: string
  readonly id: string
  /** 0, or 1 to 3 in an unmerged path. */
  readonly stage: number
  readonly assumeUnchanged: boolean
  readonly skipWorktree: boolean
  readonly intentToAdd: boolean
  /** Where the entry's forty bytes of file times and sizes begin. */
  readonly statOffset: number
  readonly flagsOffset: number
}

const STAT_BYTES = 40
export const ASSUME_UNCHANGED = 0x8000
const EXTENDED = 0x4000
const SKIP_WORKTREE = 0x4000
const INTENT_TO_ADD = 0x2000
const NAME_MASK = 0x0fff

/** Goes from entry to entry without making strings. */
export class IndexScanner {
  private readonly bytes: Buffer
  private readonly version: number
  private readonly fixed: number
  private start = 0
  /**
   * Of the name in version 4: the part shared with the entry before is not repeated, so the name is kept
   * here.
   */
  private name = Buffer.alloc(256)
  private nameLength = 0
  private nameAt = 0
  private flags = 0
  private extended = 0
  end = 12
  stage = 0

  constructor(bytes: Buffer, version: number, idBytes: number) {
    this.bytes = bytes
    this.version = version
    this.fixed = STAT_BYTES + idBytes + 2
  }

  /** False when the bytes end too early. */
  step(): boolean {
    const { bytes } = this
    this.start = this.end
    const flagsAt = this.start + this.fixed - 2
    if (flagsAt + 6 > bytes.length) return false
    this.flags = ((bytes[flagsAt] as number) << 8) | (bytes[flagsAt + 1] as number)
    this.stage = (this.flags >> 12) & 3
    let at = flagsAt + 2
    const isExtended = (this.flags & EXTENDED) !== 0
    this.extended = isExtended ? bytes.readUInt16BE(at) : 0
    if (isExtended) at += 2
    return this.version === 4 ? this.stepCompressed(at) : this.stepPlain(at)
  }

  private stepPlain(at: number): boolean {
    const { bytes } = this
    const stated = this.flags & NAME_MASK
    const length = stated < NAME_MASK ? stated : bytes.indexOf(0, at) - at
    if (length < 0 || at + length >= bytes.length) return false
    this.nameAt = at
    this.nameLength = length
    // One to eight NULs, so that the entry's length is a multiple of eight.
    this.end = this.start + ((at - this.start + length + 8) & ~7)
    return true
  }

  private stepCompressed(start: number): boolean {
    const { bytes } = this
    let at = start
    let byte = bytes[at++] ?? 0
    let strip = byte & 0x7f
    while ((byte & 0x80) !== 0) {
      byte = bytes[at++] ?? 0
      strip = ((strip + 1) << 7) | (byte & 0x7f)
    }
    const end = bytes.indexOf(0, at)
    const kept = this.nameLength - strip
    if (end === -1 || kept < 0) return false
    const length = kept + end - at
    if (length > this.name.length) this.name = Buffer.concat([this.name], length * 2)
    bytes.copy(this.name, kept, at, end)
    this.nameLength = length
    this.end = end + 1
    return true
  }

  /** Orders the entry's name against another, as git sorts an index. */
  compare(other: Buffer): number {
    const from = this.version === 4 ? this.name : this.bytes
    const at = this.version === 4 ? 0 : this.nameAt
    const length = Math.min(this.nameLength, other.length)
    for (let i = 0; i < length; i++) {
      const difference = (from[at + i] as number) - (other[i] as number)
      if (difference !== 0) return difference
    }
    return this.nameLength - other.length
  }

  isBelow(directory: Buffer): boolean {
    const [from, at] = this.version === 4 ? [this.name, 0] : [this.bytes, this.nameAt]
    return (
      this.nameLength > directory.length &&
      from.compare(directory, 0, directory.length, at, at + directory.length) === 0
    )
  }

  path(encoding: 'utf8' | 'latin1' = 'utf8'): string {
    const [from, at] = this.version === 4 ? [this.name, 0] : [this.bytes, this.nameAt]
    return from.toString(encoding, at, at + this.nameLength)
  }

  entry(path: string, idBytes: number): IndexEntry {
    const { bytes, start } = this
    return {
      path,
      mode: bytes
        .readUInt32BE(start + 24)
        .toString(8)
        .padStart(6, '0'),
      id: bytes.toString('hex', start + STAT_BYTES, start + STAT_BYTES + idBytes),
      stage: this.stage,
      assumeUnchanged: (this.flags & ASSUME_UNCHANGED) !== 0,
      skipWorktree: (this.extended & SKIP_WORKTREE) !== 0,
      intentToAdd: (this.extended & INTENT_TO_ADD) !== 0,
      statOffset: start,
      flagsOffset: start + this.fixed - 2,
    }
  }
}
