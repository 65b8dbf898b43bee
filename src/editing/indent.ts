import { limits } from '../model/limits.ts'
import { encode } from './bytes.ts'
import type { FileText } from './file-text.ts'
import { fold } from './fold.ts'
import type { LineIndex } from './line-index.ts'
import { trimmed } from './line-index.ts'
import type { MatchRequest, Place, Reindent } from './match-request.ts'
import { type Piece, splitPieces } from './pieces.ts'

/** A line of the old text is looked for at no more places than this; a commoner one proves nothing. */
const PLACES_MAX = 2000
/** Deeper indentation is left alone: put before every new line it could make a file of any size. */
const INDENT_MAX = 400

/**
 * Places where the old text stands as whole lines with another indentation.
 *
 * One rule must turn the old text's indentation into the file's on every line: the same prefix added, the same prefix
 * removed, or tabs for a fixed number of spaces (either way). The same rule then moves the new text.
 */
export function indentMatches(file: FileText, request: MatchRequest): readonly Place[] {
  const old = oldLines(file, request.old)
  const anchor = rarest(file.lineIndex, old)
  if (anchor === null) return []
  const places: Place[] = []
  for (const line of file.lineIndex.linesWith(anchor.content, PLACES_MAX)) {
    if (places.length >= request.limit) break
    const place = placeAt(file, request, { old, first: line - anchor.index })
    if (place !== null) places.push(place)
  }
  return places
}

interface OldLine {
  readonly indent: string
  readonly content: Buffer
}

function oldLines(file: FileText, old: string): readonly OldLine[] {
  return splitPieces(old, file.lines.usesCr).map((piece) => {
    const options = { level: 'unicode', usesCr: false, from: 0, stripsEnd: true } as const
    const folded = fold(encode(piece.text), options, file.work).bytes
    const content = trimmed(folded)
    return { indent: folded.toString('latin1', 0, folded.length - content.length), content }
  })
}

function rarest(
  index: LineIndex,
  old: readonly OldLine[],
): { readonly index: number; readonly content: Buffer } | null {
  let best: { readonly index: number; readonly content: Buffer } | null = null
  let least = PLACES_MAX + 1
  old.forEach(({ content }, i) => {
    const count = content.length === 0 ? least : index.countOf(content)
    if (count < least) {
      least = count
      best = { index: i, content }
    }
  })
  return best
}

interface Alignment {
  readonly old: readonly OldLine[]
  /** Index of the file's line where the old text would begin. */
  readonly first: number
}

function placeAt(file: FileText, request: MatchRequest, { old, first }: Alignment): Place | null {
  const { lines, lineIndex } = file
  if (first < 0 || first + old.length > lines.count) return null
  if (request.startLine !== null && request.startLine !== first + 1) return null
  file.work.spend(64 * old.length)
  if (!old.every(({ content }, i) => lineIndex.line(first + i).equals(content))) return null
  const reindent = ruleFor(
    old.flatMap(({ indent, content }, i) =>
      content.length === 0 ? [] : [{ old: indent, file: indentOf(file, first + i) }],
    ),
  )
  if (reindent === null) return null
  file.work.spend(8 * request.new.length)
  if (!canReindent(splitPieces(request.new, lines.usesCr), reindent)) return null
  const last = first + old.length - 1
  const isTerminated = request.old.endsWith('\n') || (lines.usesCr && request.old.endsWith('\r'))
  return {
    start: lines.start(first),
    end: isTerminated ? lines.end(last) : lines.textEnd(last),
    lacksNewline: isTerminated && lines.ending(last) === '',
    reindent,
  }
}

/** Whether every line takes the new indentation, and all together still fit in a file. */
function canReindent(pieces: readonly Piece[], reindent: Reindent): boolean {
  let characters = 0
  for (const { text } of pieces) {
    const moved = reindent(text)
    if (moved === null) return false
    characters += moved.length
    if (characters > limits.fileMaxBytes) return false
  }
  return true
}

function indentOf(file: FileText, line: number): string {
  const whole = file.foldedLines('unicode').line(line)
  return whole.toString('latin1', 0, whole.length - trimmed(whole).length)
}

interface IndentPair {
  readonly old: string
  readonly file: string
}

function ruleFor(pairs: readonly IndentPair[]): Reindent | null {
  if (pairs.some(({ old, file }) => Math.max(old.length, file.length) > INDENT_MAX)) return null
  return prefixRule(pairs) ?? unitRule(pairs)
}

function prefixRule(pairs: readonly IndentPair[]): Reindent | null {
  const added = commonPrefix(pairs.map(({ old, file }) => ({ longer: file, shorter: old })))
  if (added !== null) return (line) => (isBlankLine(line) ? line : added + line)
  const removed = commonPrefix(pairs.map(({ old, file }) => ({ longer: old, shorter: file })))
  if (removed === null) return null
  return (line) => {
    if (isBlankLine(line)) return line
    return line.startsWith(removed) ? line.slice(removed.length) : null
  }
}

/** The text that, put before each shorter one, gives the longer one; null where it is not the same throughout. */
function commonPrefix(
  pairs: readonly { readonly longer: string; readonly shorter: string }[],
): string | null {
  const [first] = pairs
  if (first === undefined || first.longer.length <= first.shorter.length) return null
  const prefix = first.longer.slice(0, first.longer.length - first.shorter.length)
  return pairs.every(({ longer, shorter }) => longer === prefix + shorter) ? prefix : null
}

function unitRule(pairs: readonly IndentPair[]): Reindent | null {
  const toTabs = unitOf(pairs.map(({ old, file }) => ({ spaces: old, tabs: file })))
  if (toTabs !== null) return (line) => withTabs(line, toTabs)
  const toSpaces = unitOf(pairs.map(({ old, file }) => ({ spaces: file, tabs: old })))
  return toSpaces === null ? null : (line) => withSpaces(line, toSpaces)
}

/** Spaces for one tab, where that turns each pair's one side into the other; null where there is no such number. */
function unitOf(pairs: readonly { readonly spaces: string; readonly tabs: string }[]): number | null {
  const indented = pairs.find(({ tabs }) => tabs.length > 0)
  if (indented === undefined) return null
  const unit = indented.spaces.length / indented.tabs.length
  if (!Number.isInteger(unit) || unit < 1) return null
  const fits = pairs.every(
    ({ spaces, tabs }) =>
      tabs === '\t'.repeat(tabs.length) &&
      spaces === ' '.repeat(spaces.length) &&
      spaces.length === unit * tabs.length,
  )
  return fits ? unit : null
}

const isBlankLine = (line: string): boolean => line.trim() === ''

function withTabs(line: string, unit: number): string {
  let spaces = 0
  while (line[spaces] === ' ') spaces++
  return '\t'.repeat(Math.floor(spaces / unit)) + ' '.repeat(spaces % unit) + line.slice(spaces)
}

function withSpaces(line: string, unit: number): string | null {
  let tabs = 0
  while (line[tabs] === '\t') tabs++
  return unit * tabs > INDENT_MAX ? null : ' '.repeat(unit * tabs) + line.slice(tabs)
}
