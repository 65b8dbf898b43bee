import { createHash } from 'node:crypto'
import type { ObjectFormat } from '../model/ids.ts'
import type { ByteRange, IndexStat } from './index-file.ts'
import { type CachedTree, scanCachedTree, withUnknown } from './index-tree.ts'

/** What one entry becomes. `set` says the whole entry: its stat is that of a file which holds exactly this content. */
export type IndexEdit =
  | {
      readonly kind: 'set'
      readonly path: string
      readonly mode: string
      readonly id: string
      readonly stat: IndexStat
    }
  | { readonly kind: 'remove'; readonly path: string }

/** How the file of the index is to be changed. */
export type EditedIndex =
  /** These ranges of `bytes` are new; the file ends where the bytes end. */
  | { readonly kind: 'in-place'; readonly bytes: readonly Buffer[]; readonly ranges: readonly ByteRange[] }
  | { readonly kind: 'whole'; readonly bytes: readonly Buffer[] }

const STAT_BYTES = 40
const NAME_MASK = 0x0fff

/** An index that was looked through: where each entry begins, and what git has cached of its trees. */
export interface ScannedIndex {
  readonly bytes: Buffer
  readonly format: ObjectFormat
  readonly idBytes: number
  readonly offsets: Uint32Array
  readonly entriesEnd: number
  readonly tree: CachedTree | null
}

/**
 * Looks through an index, for `editIndex`.
 *
 * Null for one that is not of version 2 or 3, is split or sparse, or holds unmerged or flagged entries: git itself is to change
 * it then.
 *
 * @see gitformat-index(5)
 */
export function scanIndex(bytes: Buffer, format: ObjectFormat): ScannedIndex | null {
  const idBytes = format === 'sha1' ? 20 : 32
  if (bytes.length < 12 + idBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return null
  const version = bytes.readUInt32BE(4)
  if (version !== 2 && version !== 3) return null
  const offsets = new Uint32Array(bytes.readUInt32BE(8))
  const entriesEnd = scanEntries(bytes, offsets, STAT_BYTES + idBytes + 2, bytes.length - idBytes)
  if (entriesEnd === null) return null
  let tree: CachedTree | null = null
  for (let at = entriesEnd; at + 8 <= bytes.length - idBytes; ) {
    const name = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32BE(at + 4)
    if (name === 'link' || name === 'sdir') return null
    if (name === 'TREE') tree = scanCachedTree(bytes, { from: at + 8, to: at + 8 + size }, idBytes)
    at += 8 + size
  }
  return { bytes, format, idBytes, offsets, entriesEnd, tree }
}

/** One quick pass: an entry's length follows from its name's. Null at the first that is not plain. */
function scanEntries(bytes: Buffer, offsets: Uint32Array, fixed: number, last: number): number | null {
  let at = 12
  for (let i = 0; i < offsets.length; i++) {
    if (at + fixed > last) return null
    offsets[i] = at
    const flags = ((bytes[at + fixed - 2] as number) << 8) | (bytes[at + fixed - 1] as number)
    // Assume-unchanged, extended (skip-worktree, intent to add) and stages: no edit of ours is right there.
    if ((flags & ~NAME_MASK) !== 0) return null
    const length = flags < NAME_MASK ? flags : bytes.indexOf(0, at + fixed) - at - fixed
    if (length <= 0) return null
    at += (fixed + length + 8) & ~7
  }
  return at > last ? null : at
}

/**
 * Edits entries of an index without git: for one with a hundred thousand entries of which ten change, git takes several times
 * as long. Of the extensions the cached tree is kept, with the directories of the edited paths marked as unknown.
 *
 * Changes the bytes that were scanned where every edit is of an entry that is there.
 */
export function editIndex(index: ScannedIndex, edits: readonly IndexEdit[]): EditedIndex {
  const found = edits
    .map((edit) => ({ edit, name: Buffer.from(edit.path, 'utf8') }))
    .sort((a, b) => a.name.compare(b.name))
    .map(({ edit, name }) => ({ edit, name, ...findEntry(index, name) }))
  const paths = edits.map((edit) => edit.path)
  const tail = index.tree === null ? [] : withUnknown(index.bytes, index.tree, paths)
  const isInPlace = found.every((f) => f.isThere && f.edit.kind === 'set')
  return isInPlace ? overwrite(index, found, tail) : rebuild(index, found, tail)
}

interface FoundEdit {
  readonly edit: IndexEdit
  readonly name: Buffer
  /** Number of the entry, or of the one before which it would stand. */
  readonly at: number
  readonly isThere: boolean
}

function findEntry(index: ScannedIndex, name: Buffer): { readonly at: number; readonly isThere: boolean } {
  const { bytes, offsets, idBytes, entriesEnd } = index
  const fixed = STAT_BYTES + idBytes + 2
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >> 1
    const start = (offsets[middle] ?? entriesEnd) + fixed
    const order = bytes.subarray(start, bytes.indexOf(0, start)).compare(name)
    if (order === 0) return { at: middle, isThere: true }
    if (order < 0) low = middle + 1
    else high = middle
  }
  return { at: low, isThere: false }
}

function overwrite(index: ScannedIndex, found: readonly FoundEdit[], tail: readonly Buffer[]): EditedIndex {
  const { bytes, entriesEnd, offsets } = index
  const ranges: ByteRange[] = []
  for (const { edit, name, at } of found) {
    if (edit.kind !== 'set') continue
    const offset = offsets[at] ?? entriesEnd
    ranges.push({ offset, length: entryBytes(edit, name, index.idBytes).copy(bytes, offset) })
  }
  const parts = withChecksum(index.format, [bytes.subarray(0, entriesEnd), ...tail])
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  return {
    kind: 'in-place',
    bytes: parts,
    ranges: [...ranges, { offset: entriesEnd, length: size - entriesEnd }],
  }
}

function rebuild(index: ScannedIndex, found: readonly FoundEdit[], tail: readonly Buffer[]): EditedIndex {
  const { bytes, offsets, entriesEnd, idBytes } = index
  const header = Buffer.from(bytes.subarray(0, 12))
  const parts: Buffer[] = [header]
  let from = 12
  let count = offsets.length
  for (const { edit, name, at, isThere } of found) {
    const start = offsets[at] ?? entriesEnd
    parts.push(bytes.subarray(from, start))
    from = isThere ? (offsets[at + 1] ?? entriesEnd) : start
    if (edit.kind === 'set') parts.push(entryBytes(edit, name, idBytes))
    count += (edit.kind === 'set' ? 1 : 0) - (isThere ? 1 : 0)
  }
  header.writeUInt32BE(count, 8)
  parts.push(bytes.subarray(from, entriesEnd))
  return { kind: 'whole', bytes: withChecksum(index.format, [...parts, ...tail]) }
}

function withChecksum(format: ObjectFormat, parts: readonly Buffer[]): readonly Buffer[] {
  const hash = createHash(format)
  for (const part of parts) hash.update(part)
  return [...parts, hash.digest()]
}

export function entryBytes(edit: Extract<IndexEdit, { kind: 'set' }>, name: Buffer, idBytes: number): Buffer {
  const fixed = STAT_BYTES + idBytes + 2
  const entry = Buffer.alloc((fixed + name.length + 8) & ~7)
  const { stat } = edit
  const low = (value: bigint) => Number(BigInt.asUintN(32, value))
  const second = 1_000_000_000n
  const words = [
    low(stat.ctimeNs / second),
    low(stat.ctimeNs % second),
    low(stat.mtimeNs / second),
    low(stat.mtimeNs % second),
    low(stat.dev),
    low(stat.ino),
    Number.parseInt(edit.mode, 8),
    low(stat.uid),
    low(stat.gid),
    low(stat.size),
  ]
  for (const [i, word] of words.entries()) entry.writeUInt32BE(word, i * 4)
  entry.write(edit.id, STAT_BYTES, idBytes, 'hex')
  entry.writeUInt16BE(Math.min(name.length, NAME_MASK), fixed - 2)
  name.copy(entry, fixed)
  return entry
}
