import { encode } from './bytes.ts'
import type { FileText } from './file-text.ts'
import { fold } from './fold.ts'
import { trimmed } from './line-index.ts'
import { type Piece, splitPieces } from './pieces.ts'
import { showText } from './show-text.ts'
import { similarLine } from './similar-line.ts'

/** The place of a file that comes closest to a text that does not stand in it. */
export interface Nearest {
  /** 1-based line at which the text would begin. */
  readonly line: number
  /** 1-based; the first line of the file that differs from the text's. */
  readonly firstDifferingLine: number
  /** Both lines with what cannot be seen written out; null = the file ends before. */
  readonly expected: string
  readonly found: string | null
  /** What the two lines differ in, where that has a name. */
  readonly difference: string | null
}

/** Places that are weighed against one another. */
const PLACES_MAX = 20
/** Lines of the text that are counted to weigh a place. */
const LINES_MAX = 400

/**
 * Finds the place that shares most lines with the text, through its rarest line that the file has; failing that, the
 * line that shares most of its letters. Null where nothing is near.
 */
export function nearestPlace(file: FileText, text: string): Nearest | null {
  const pieces = splitPieces(text, file.lines.usesCr)
  if (pieces.length === 0 || file.lines.count === 0) return null
  const contents = pieces.slice(0, LINES_MAX).map((piece) => contentOf(file, piece))
  const first = bestAlignment(file, contents) ?? alikeAlignment(file, contents)
  return first === null ? null : compareAt(file, pieces, first)
}

/** The line without blanks at its ends, look-alikes folded: as the line index knows it. */
function contentOf(file: FileText, piece: Piece): Buffer {
  const options = { level: 'unicode', usesCr: false, from: 0, stripsEnd: true } as const
  return trimmed(fold(encode(piece.text), options, file.work).bytes)
}

/** Index of the file's line where the text would begin; may be before the file. */
function bestAlignment(file: FileText, contents: readonly Buffer[]): number | null {
  const { lineIndex } = file
  const known = contents
    .map((content, index) => ({
      content,
      index,
      count: content.length === 0 ? 0 : lineIndex.countOf(content),
    }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.count - b.count)
  let best: { readonly first: number; readonly score: number } | null = null
  for (const { content, index } of known.slice(0, 3)) {
    for (const line of lineIndex.linesWith(content, PLACES_MAX)) {
      const first = line - index
      const score = contents.filter(
        (each, i) => each.length > 0 && lineIndex.line(first + i).equals(each),
      ).length
      if (best === null || score > best.score) best = { first, score }
    }
    file.work.spend(64 * PLACES_MAX * contents.length)
  }
  return best === null ? null : best.first
}

function alikeAlignment(file: FileText, contents: readonly Buffer[]): number | null {
  const longest = contents.reduce((a, b) => (b.length > a.length ? b : a))
  const line = similarLine(file.folded('unicode').bytes, longest)
  file.work.spend(file.bytes.length)
  return line === null ? null : line - contents.indexOf(longest)
}

function compareAt(file: FileText, pieces: readonly Piece[], first: number): Nearest {
  const at = pieces.findIndex((piece, index) => !isSame(file, pieces, { piece, index, line: first + index }))
  const index = Math.max(at, 0)
  const piece = pieces[index]
  const line = first + index
  const found = line >= 0 && line < file.lines.count ? file.lines.text(line) : null
  const expected = piece?.text ?? ''
  return {
    line: Math.max(first, 0) + 1,
    firstDifferingLine: Math.max(line, 0) + 1,
    expected: showText(expected),
    found: found === null ? null : showText(found),
    difference:
      at === -1 ? 'line endings' : found === null ? null : differenceOf(expected, found.toString('utf8')),
  }
}

interface ComparedLine {
  readonly piece: Piece
  readonly index: number
  readonly line: number
}

/** Whether the file's line is the text's; the text may begin and end inside a line. */
function isSame(file: FileText, pieces: readonly Piece[], { piece, index, line }: ComparedLine): boolean {
  if (line < 0 || line >= file.lines.count) return false
  const found = file.lines.text(line)
  const wanted = encode(piece.text)
  const opens = index === 0
  const closes = index === pieces.length - 1 && piece.ending === ''
  if (opens && closes) return found.includes(wanted)
  if (opens) return found.subarray(Math.max(0, found.length - wanted.length)).equals(wanted)
  return closes ? found.subarray(0, wanted.length).equals(wanted) : found.equals(wanted)
}

function differenceOf(expected: string, found: string): string | null {
  if (expected.trim() === found.trim()) {
    return expected.trimEnd() === found.trimEnd() ? 'blanks at the end of the line' : 'indentation'
  }
  const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()
  if (plain(expected) === plain(found)) return 'blanks within the line'
  if (plain(expected).toLowerCase() === plain(found).toLowerCase()) return 'letter case'
  const ascii = (text: string): string =>
    plain(text)
      .normalize('NFKC')
      .replace(/[^\x20-\x7e]/g, '')
  return ascii(expected) === ascii(found) && ascii(found) !== ''
    ? 'characters that look alike or cannot be seen'
    : null
}
