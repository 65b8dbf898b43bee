import type { ReadRecord } from '../model/file-state.ts'
import { FileText } from './file-text.ts'
import type { Work } from './work.ts'

/** The reads of one request, by path, with what is worked out of them once for all edits. */
export class Reads {
  private readonly records = new Map<string, ReadRecord[]>()
  private readonly texts = new Map<ReadRecord, FileText>()
  private readonly notes = new Map<string, readonly string[]>()

  constructor(reads: readonly ReadRecord[]) {
    for (const read of reads) {
      const known = this.records.get(read.path)
      if (known === undefined) this.records.set(read.path, [read])
      else known.push(read)
    }
  }

  byPath(path: string): readonly ReadRecord[] {
    return this.records.get(path) ?? []
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
