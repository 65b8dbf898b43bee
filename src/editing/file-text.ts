import type { BlobId, ObjectFormat } from '../model/ids.ts'
import { blobOf } from './blob-of.ts'
import { asBuffer, hasNul, isLfsPointer } from './bytes.ts'
import { Evidence } from './evidence.ts'
import { ByteFinder } from './find-bytes.ts'
import { type FoldedText, type FoldLevel, fold } from './fold.ts'
import { LineIndex, type Lines, SplitLines, trimmed } from './line-index.ts'
import { type ChangedStretch, LineTable } from './lines.ts'
import { type Notebook, type NotebookFault, readNotebook } from './notebook.ts'
import type { Work } from './work.ts'

/** Searches for short lines that pass over the file before its lines are indexed. */
const LINE_SEARCHES_WITHOUT_INDEX = 8
const SHA1_DIGITS = 40

/** The bytes of one file at one step, with the indexes that all edits of the step share. Each is built when first asked for. */
export class FileText {
  readonly bytes: Buffer
  /** null = not known without hashing: the bytes came out of an earlier step of the batch. */
  readonly blob: BlobId | null
  readonly work: Work
  private lineTable: LineTable | undefined
  private byteFinder: ByteFinder | undefined
  private readonly foldedTexts = new Map<FoldLevel, FoldedText>()
  private readonly hashes = new Map<ObjectFormat, string>()
  private readonly foldedLinesByLevel = new Map<FoldLevel | null, Lines>()
  private readonly indexes = new Map<FoldLevel | null, LineIndex>()
  private index: LineIndex | undefined
  private nul: boolean | undefined
  private utf8: boolean | undefined
  private lineSearches = 0
  private gitText: FileText | undefined
  private quotable: Evidence | undefined
  private read: Notebook | NotebookFault | undefined

  constructor(bytes: Uint8Array, blob: BlobId | null, work: Work) {
    this.bytes = asBuffer(bytes)
    this.blob = blob
    this.work = work
  }

  get isUtf8(): boolean {
    this.utf8 ??= Buffer.from(this.bytes.toString('utf8'), 'utf8').equals(this.bytes)
    return this.utf8
  }

  /** A guess for people, where the bytes are not UTF-8. */
  get likelyEncoding(): string {
    return this.bytes.some((byte) => byte >= 0x80 && byte < 0xa0) ? 'windows-1252' : 'ISO-8859-1'
  }

  get lines(): LineTable {
    this.lineTable ??= new LineTable(this.bytes)
    return this.lineTable
  }

  /** The same bytes as git divides them into lines: a lone CR is ordinary text, also where there is no LF at all. */
  get asGit(): FileText {
    if (!this.lines.usesCr) return this
    if (this.gitText === undefined) {
      this.gitText = new FileText(this.bytes, this.blob, this.work)
      this.gitText.lineTable = new LineTable(this.bytes, { usesCr: false })
    }
    return this.gitText
  }

  /** The text after a step that changed one stretch of it: its lines are made of those known here. */
  after(bytes: Buffer, stretch: ChangedStretch): FileText {
    const text = new FileText(bytes, null, this.work)
    if (this.lineTable !== undefined) {
      this.work.spend(4 * this.lineTable.count)
      text.lineTable = new LineTable(bytes, { known: { table: this.lineTable, stretch } })
    }
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

  /** The lines as they are compared at this tier; null = exactly. Indexes count as those of `lines` do. */
  foldedLines(level: FoldLevel | null): Lines {
    const known = this.foldedLinesByLevel.get(level)
    if (known !== undefined) return known
    const lines =
      level === null || level === 'eol'
        ? { count: this.lines.count, line: (index: number) => this.lines.text(index) }
        : new SplitLines(this.folded(level).bytes)
    this.foldedLinesByLevel.set(level, lines)
    return lines
  }

  /** Finds lines by their whole content, as it is compared at this tier. */
  wholeLines(level: FoldLevel | null): LineIndex {
    const known = this.indexes.get(level)
    if (known !== undefined) return known
    const index = new LineIndex(this.foldedLines(level), this.bytes.length, this.work)
    this.indexes.set(level, index)
    return index
  }

  /** Finds lines by content, indentation and likeness aside. */
  get lineIndex(): LineIndex {
    if (this.index === undefined) {
      const lines = this.foldedLines('unicode')
      const contents = { count: lines.count, line: (index: number) => trimmed(lines.line(index)) }
      this.index = new LineIndex(contents, this.bytes.length, this.work)
    }
    return this.index
  }

  /** Counts a search for a short line; after a few, an index of lines is worth its cost. */
  isSearchedByLine(): boolean {
    this.lineSearches++
    return this.lineSearches > LINE_SEARCHES_WITHOUT_INDEX
  }

  /** Compares quoted lines with those that stand here. */
  get evidence(): Evidence {
    this.quotable ??= new Evidence(this.lines, this.work)
    return this.quotable
  }

  /** The file as a notebook, or why it is none. */
  get notebook(): Notebook | NotebookFault {
    this.read ??= readNotebook(this.bytes, this.work)
    return this.read
  }

  /** Whether the file's blob id begins with these hex digits. */
  isBlob(digits: string): boolean {
    if (this.blob !== null) return this.blob.startsWith(digits)
    return this.hash('sha1').startsWith(digits) || this.hash('sha256').startsWith(digits)
  }

  /** The file's blob id, for a message that compares it with these digits. */
  blobBeside(digits: string): string {
    return this.blob ?? this.hash(digits.length > SHA1_DIGITS ? 'sha256' : 'sha1')
  }

  get hasNul(): boolean {
    this.nul ??= hasNul(this.bytes)
    return this.nul
  }

  get isLfsPointer(): boolean {
    return isLfsPointer(this.bytes)
  }

  private hash(format: ObjectFormat): string {
    const known = this.hashes.get(format)
    if (known !== undefined) return known
    this.work.spend(4 * this.bytes.length)
    const hash = blobOf(this.bytes, format)
    this.hashes.set(format, hash)
    return hash
  }
}
