import type { ReadRecord } from '../model/file-state.ts'
import type { BlobId } from '../model/ids.ts'
import { FileText } from './file-text.ts'
import type { LineRange } from './line-range.ts'
import type { Seen } from './seen.ts'
import type { Work } from './work.ts'

/** The reads of one request, by path, with what is worked out of them once for all edits. */
export class Reads {
  private readonly last = new Map<string, ReadRecord>()
  private readonly records = new Map<string, ReadRecord[]>()
  private readonly texts = new Map<ReadRecord, FileText>()
  private readonly seenLines = new Map<string, Seen>()
  private readonly notes = new Map<string, readonly string[]>()

  private readonly named = new Map<string, ReadRecord>()

  /** @param named - Blobs that edits name: evidence for the edit that names one, and for no other. */
  constructor(reads: readonly ReadRecord[], named: readonly ReadRecord[] = []) {
    for (const each of named) this.named.set(keyOf(each.path, each.blob), each)
    for (const read of reads) {
      this.last.set(read.path, read)
      const key = keyOf(read.path, read.blob)
      const known = this.records.get(key)
      if (known === undefined) this.records.set(key, [read])
      else known.push(read)
    }
  }

  /** The last read of the path, whatever it found. */
  lastOf(path: string): ReadRecord | undefined {
    return this.last.get(path)
  }

  /** The first read of the path that found this blob, or what is known of the blob itself. */
  of(path: string, blob: BlobId | null): ReadRecord | undefined {
    const key = keyOf(path, blob)
    return this.records.get(key)?.[0] ?? this.named.get(key)
  }

  /** Lines that reads of these very bytes have shown. */
  seen(path: string, blob: BlobId | null): Seen {
    const key = keyOf(path, blob)
    const known = this.seenLines.get(key)
    if (known !== undefined) return known
    const seen = seenIn(this.records.get(key) ?? [])
    this.seenLines.set(key, seen)
    return seen
  }

  text(read: ReadRecord, bytes: Uint8Array, work: Work): FileText {
    const known = this.texts.get(read)
    if (known !== undefined) return known
    const text = new FileText(bytes, read.blob, work)
    this.texts.set(read, text)
    return text
  }

  remember(key: string, make: () => readonly string[]): readonly string[] {
    const known = this.notes.get(key)
    if (known !== undefined) return known
    const made = make()
    this.notes.set(key, made)
    return made
  }
}

const keyOf = (path: string, blob: BlobId | null): string => `${path}\0${blob}`

function seenIn(records: readonly ReadRecord[]): Seen {
  if (records.length === 0) return 'none'
  const ranges: LineRange[] = []
  for (const record of records) {
    if (record.lines === undefined) return 'all'
    for (const range of record.lines) ranges.push(range)
  }
  return merged(ranges)
}

/** Sorted, with ranges that overlap or touch made one. */
function merged(ranges: readonly LineRange[]): readonly LineRange[] {
  const result: LineRange[] = []
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = result[result.length - 1]
    if (last !== undefined && range.from <= last.to + 1) {
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, range.to) }
    } else result.push(range)
  }
  return result
}
