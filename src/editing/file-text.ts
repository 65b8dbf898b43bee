import type { BlobId } from '../model/ids.ts'
import { asBuffer, hasNul, isLfsPointer } from './bytes.ts'
import { ByteFinder } from './find-bytes.ts'
import { type FoldedText, type FoldLevel, fold } from './fold.ts'
import { LineIndex } from './line-index.ts'
import { type ChangedStretch, LineTable } from './lines.ts'
import type { Work } from './work.ts'

/** The bytes of one file at one step, with the indexes that all edits of the step share. Each is built when first asked for. */
export class FileText {
  readonly bytes: Buffer
  /** null = not known: the bytes came out of an earlier step of the batch. */
  readonly blob: BlobId | null
  readonly work: Work
  private lineTable: LineTable | undefined
  private byteFinder: ByteFinder | undefined
  private readonly foldedTexts = new Map<FoldLevel, FoldedText>()
  private index: LineIndex | undefined
  private nul: boolean | undefined

  constructor(bytes: Uint8Array, blob: BlobId | null, work: Work) {
    this.bytes = asBuffer(bytes)
    this.blob = blob
    this.work = work
  }

  get lines(): LineTable {
    this.lineTable ??= new LineTable(this.bytes)
    return this.lineTable
  }

  /** The text after a step that changed one stretch of it: its lines are made of those known here. */
  after(bytes: Buffer, stretch: ChangedStretch): FileText {
    const text = new FileText(bytes, null, this.work)
    if (this.lineTable !== undefined)
      text.lineTable = new LineTable(bytes, { table: this.lineTable, stretch })
    return text
  }

  get finder(): ByteFinder {
    this.byteFinder ??= new ByteFinder(this.bytes, this.work)
    return this.byteFinder
  }

  /** The text as it is compared at this tier. */
  folded(level: FoldLevel): FoldedText {
    const known = this.foldedTexts.get(level)
    if (known !== undefined) return known
    const { usesCr, contentStart } = this.lines
    const folded = fold(this.bytes, { level, usesCr, from: contentStart, stripsEnd: true }, this.work)
    this.foldedTexts.set(level, folded)
    return folded
  }

  /** The lines by content, indentation and likeness aside. */
  get lineIndex(): LineIndex {
    this.index ??= new LineIndex(this.folded('unicode'))
    return this.index
  }

  get hasNul(): boolean {
    this.nul ??= hasNul(this.bytes)
    return this.nul
  }

  get isLfsPointer(): boolean {
    return isLfsPointer(this.bytes)
  }
}
