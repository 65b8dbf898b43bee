import type { Hunk, HunkLine, HunksEdit, Tier } from '../model/edit.ts'
import type { FileText } from './file-text.ts'
import { type FoldLevel, fold } from './fold.ts'

const LF = Buffer.from('\n')
const LF_BYTE = 10
const CR_BYTE = 13
/** A block of no more bytes than this is looked for line by line. */
const SHORT_BYTES = 8
const MARK = Buffer.from('\ufeff')

/** The old lines of a hunk, as they must stand one below the other in the file. */
export interface Block {
  readonly lines: readonly Buffer[]
  /**
   * How the block's last line must end: with a terminator or with the end of the file where the diff says which
   * (`unified`), either way where the request cannot say it (`envelope`).
   */
  readonly lastLine: 'terminated' | 'open' | 'either'
}

/** The lines that a hunk keeps or removes; `new` = the lines it keeps or adds. */
export function blockOf(flavour: HunksEdit['flavour'], hunk: Hunk, side: 'old' | 'new'): Block {
  const lines = hunk.lines.filter((line) => line.kind !== (side === 'old' ? 'add' : 'remove'))
  const last = lines[lines.length - 1]
  const open = last?.unterminated === true ? 'open' : 'terminated'
  return {
    lines: lines.map((line, index) => (index === 0 ? withoutMark(line.text) : Buffer.from(line.text))),
    lastLine: flavour === 'unified' ? open : 'either',
  }
}

/** The line without a byte-order mark: a first line is compared without. */
export function withoutMark(text: Uint8Array): Buffer {
  const line = Buffer.from(text)
  return hasMark(line) ? line.subarray(MARK.length) : line
}

export const hasMark = (text: Uint8Array): boolean => Buffer.from(text.subarray(0, MARK.length)).equals(MARK)

export interface BlockSearch {
  /** Index of the first line at which the block may begin. */
  readonly fromLine: number
  /** Index of the last line at which the block may begin. */
  readonly toLine: number
  readonly limit: number
  readonly accept?: (line: number) => boolean
}

/** Indexes of the lines at which the block stands, compared as the tier says, ascending. */
export function findBlock(file: FileText, block: Block, tier: Tier, search: BlockSearch): readonly number[] {
  if (block.lines.length === 0 || search.fromLine >= file.lines.count) return []
  if (tier === 'exact') return findIn(file, block, null, search)
  return tier === 'indent' ? [] : findIn(file, block, tier, search)
}

/** The bytes compared: the file's own, or a folded form, with the way from its offsets to the file's. */
interface Searched {
  readonly level: FoldLevel | null
  readonly needle: Buffer
  readonly bytes: Buffer
  readonly toFile: (index: number) => number
  readonly fromFile: (offset: number) => number
  readonly isLineStart: (index: number) => boolean
  /** Whether a line's text ends here: before its terminator or at the end of the file. */
  readonly isTextEnd: (index: number) => boolean
  readonly find: FileText['finder']
}

function findIn(
  file: FileText,
  block: Block,
  level: FoldLevel | null,
  search: BlockSearch,
): readonly number[] {
  const searched = level === null ? exactText(file, block) : foldedText(file, block, level)
  const { needle } = searched
  const lineOf = (index: number): number => file.lines.lineAt(searched.toFile(index))
  const accept = (index: number, line: () => number): boolean =>
    searched.isLineStart(index) &&
    endsRight(file, block, searched, index) &&
    (search.accept === undefined || search.accept(line()))
  const isShort = needle.length <= SHORT_BYTES && !needle.includes(CR_BYTE)
  if (needle.length === 0 || (isShort && file.isSearchedByLine())) {
    return findByLine(file, searched, { ...search, accept })
  }
  const from = searched.fromFile(file.lines.start(search.fromLine))
  const lastStart = searched.fromFile(file.lines.start(Math.min(search.toLine, file.lines.count - 1)))
  return searched.find
    .find(needle, {
      limit: search.limit,
      from,
      to: Math.min(searched.bytes.length, lastStart + needle.length),
      accept: (index) => accept(index, () => lineOf(index)),
    })
    .map(lineOf)
}

/** Finds a block through its first line: what is short stands everywhere in the bytes, and as a line in few places. */
function findByLine(
  file: FileText,
  searched: Searched,
  search: Omit<BlockSearch, 'accept'> & {
    readonly accept: (index: number, line: () => number) => boolean
  },
): readonly number[] {
  const { needle, bytes } = searched
  const newline = needle.indexOf(LF_BYTE)
  const first = newline === -1 ? needle : needle.subarray(0, newline)
  return file.wholeLines(searched.level).linesWith(first, search.limit, {
    from: search.fromLine,
    to: search.toLine,
    accept: (line) => {
      const index = searched.fromFile(file.lines.start(line))
      const end = index + needle.length
      if (end > bytes.length || bytes.compare(needle, 0, needle.length, index, end) !== 0) return false
      return search.accept(index, () => line)
    },
  })
}

function endsRight(file: FileText, block: Block, searched: Searched, index: number): boolean {
  if (block.lastLine === 'terminated') return true
  const { bytes, needle } = searched
  const end = index + needle.length
  if (block.lastLine === 'open') return end === bytes.length && file.lines.isUnterminated
  // Behind a final newline there is no further line, not even a blank one.
  return searched.isTextEnd(end) && (end < bytes.length || end === index || bytes[end - 1] !== LF_BYTE)
}

function joined(block: Block): Buffer {
  const parts = block.lines.flatMap((line, index) => (index === 0 ? [line] : [LF, line]))
  return Buffer.concat(block.lastLine === 'terminated' ? [...parts, LF] : parts)
}

function exactText(file: FileText, block: Block): Searched {
  const same = (offset: number): number => offset
  return {
    level: null,
    needle: joined(block),
    bytes: file.bytes,
    toFile: same,
    fromFile: same,
    isLineStart: (index) => file.lines.isLineStart(index),
    isTextEnd: (index) =>
      index === file.bytes.length || file.lines.textEnd(file.lines.lineAt(index)) === index,
    find: file.finder,
  }
}

function foldedText(file: FileText, block: Block, level: FoldLevel): Searched {
  const text = file.folded(level)
  const options = { level, usesCr: file.lines.usesCr, from: 0, stripsEnd: block.lastLine !== 'terminated' }
  return {
    level,
    needle: fold(withoutFinalCr(joined(block), block), options, file.work).bytes,
    bytes: text.bytes,
    toFile: (index) => text.startOf(index),
    fromFile: (offset) => text.indexOf(offset),
    isLineStart: (index) => text.isLineStart(index),
    isTextEnd: (index) => text.isTextEnd(index),
    find: text.finder,
  }
}

/** A request in CRLF leaves a CR at the end of its last line. */
function withoutFinalCr(bytes: Buffer, block: Block): Buffer {
  return block.lastLine === 'either' && bytes[bytes.length - 1] === CR_BYTE ? bytes.subarray(0, -1) : bytes
}

export const isOld = (line: HunkLine): boolean => line.kind !== 'add'
