import type { ObjectFormat } from '../model/ids.ts'
import { IndexScanner } from './index-scanner.ts'

/** What an index says of a file's inode, and of its content. */
export interface StatEntry {
  readonly id: string
  /** Six octal digits. */
  readonly mode: string
  readonly skipWorktree: boolean
  readonly ctimeMs: number
  /** Cut to 32 bits. */
  readonly ino: number
  readonly size: number
}

/**
 * Every entry of an index, by its path as bytes. Entries that are unmerged are left out. Empty for bytes that are no index of the versions 2 to 4,
 * or that end too early.
 */
export function statEntries(bytes: Buffer, format: ObjectFormat): ReadonlyMap<string, StatEntry> {
  const entries = new Map<string, StatEntry>()
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return entries
  const version = bytes.readUInt32BE(4)
  if (version < 2 || version > 4) return entries
  const idBytes = format === 'sha1' ? 20 : 32
  const scanner = new IndexScanner(bytes, version, idBytes)
  for (let left = bytes.readUInt32BE(8); left > 0 && scanner.step(); left--) {
    if (scanner.stage !== 0) continue
    const { id, mode, skipWorktree, statOffset: at } = scanner.entry('', idBytes)
    entries.set(scanner.path('latin1'), {
      id,
      mode,
      skipWorktree,
      ctimeMs: bytes.readUInt32BE(at) * 1_000 + bytes.readUInt32BE(at + 4) / 1_000_000,
      ino: bytes.readUInt32BE(at + 20),
      size: bytes.readUInt32BE(at + 36),
    })
  }
  return entries
}

/** Times of node are numbers of milliseconds, which are exact to a quarter of a microsecond. */
const SAME_TIME_MS = 0.002

/**
 * Whether a file is the very inode that the index speaks of and has not been written since. The time of an inode's own change cannot be set back
 * by a program, so this holds where the index itself was out of a program's reach.
 */
export const isUntouched = (entry: StatEntry, stat: Pick<StatEntry, 'ctimeMs' | 'ino' | 'size'>): boolean =>
  entry.size > 0 &&
  stat.size % 0x1_0000_0000 === entry.size &&
  stat.ino % 0x1_0000_0000 === entry.ino &&
  Math.abs(stat.ctimeMs - entry.ctimeMs) < SAME_TIME_MS
