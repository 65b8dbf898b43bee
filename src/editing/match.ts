import type { Tier } from '../model/edit.ts'
import { encode } from './bytes.ts'
import type { FileText } from './file-text.ts'
import { type FoldedText, type FoldLevel, fold } from './fold.ts'
import { indentMatches } from './indent.ts'
import type { MatchRequest, Place } from './match-request.ts'
import { rankOf } from './tiers.ts'

export interface Match {
  readonly tier: Tier
  readonly places: readonly Place[]
}

const LF = 10
const levels = ['eol', 'trailing-space', 'unicode'] as const

/**
 * Finds the text at the strictest tier at which it stands anywhere; null = at none up to the cap.
 *
 * A byte-order mark before the old text is not looked for where the file's own stands aside of its first line.
 */
export function findMatch(file: FileText, request: MatchRequest): Match | null {
  const { old } = request
  if (!old.startsWith('\ufeff')) return findUnmarked(file, request)
  const marked = findUnmarked(file, request)
  const isFirst = marked?.places.some(({ start }) => start < file.lines.contentStart) === true
  return marked === null || isFirst ? findUnmarked(file, { ...request, old: old.slice(1) }) : marked
}

function findUnmarked(file: FileText, request: MatchRequest): Match | null {
  if (request.old === '') return null
  const exact = exactPlaces(file, request)
  if (exact.length > 0) return { tier: 'exact', places: exact }
  for (const level of levels) {
    if (rankOf(level) > rankOf(request.maxTier)) return null
    const places = foldedPlaces(file, request, level)
    if (places.length > 0) return { tier: level, places }
  }
  if (request.maxTier !== 'indent') return null
  const places = indentMatches(file, request)
  return places.length > 0 ? { tier: 'indent', places } : null
}

const placeOf = (start: number, end: number, lacksNewline = false): Place => ({
  start,
  end,
  lacksNewline,
  reindent: null,
})

function exactPlaces(file: FileText, request: MatchRequest): readonly Place[] {
  const needle = encode(request.old)
  const { lines } = file
  const accept = (offset: number): boolean => {
    if (splitsTerminator(file, offset)) return false
    if (!request.wholeLines) return true
    return lines.isLineStart(offset) && lines.isLineEnd(offset + needle.length)
  }
  const range = startRange(file, request.startLine)
  return file.finder
    .find(needle, { limit: request.limit, accept, from: range.from, to: range.lastStart + needle.length })
    .map((start) => placeOf(start, start + needle.length))
}

/** Whether the offset stands inside a CRLF: a match may not begin there. */
const splitsTerminator = (file: FileText, offset: number): boolean =>
  offset > 0 && file.bytes[offset] === 10 && file.bytes[offset - 1] === 13

/** Offsets at which a match may begin. */
interface StartRange {
  readonly from: number
  readonly lastStart: number
}

function startRange(file: FileText, startLine: number | null): StartRange {
  const { lines } = file
  if (startLine === null) return { from: 0, lastStart: file.bytes.length }
  if (startLine < 1 || startLine > lines.count) return { from: file.bytes.length, lastStart: 0 }
  return { from: lines.start(startLine - 1), lastStart: lines.end(startLine - 1) - 1 }
}

/** What to look for in the folded text: the needle, and what must hold of a place besides. */
interface Needle {
  readonly bytes: Buffer
  readonly mustEndLine: boolean
  /** The text's final newline is left out; only the unterminated end of the file will do. */
  readonly lacksNewline: boolean
}

function foldedPlaces(file: FileText, request: MatchRequest, level: FoldLevel): readonly Place[] {
  if (!canDiffer(file, request, level)) return []
  const text = file.folded(level)
  const range = startRange(file, request.startLine)
  const from = text.indexOf(range.from)
  const lastStart = text.indexOf(range.lastStart)
  const places = new Map<number, Place>()
  for (const needle of needlesOf(file, request.old, level)) {
    const found = text.finder.find(needle.bytes, {
      limit: request.limit,
      from,
      to: Math.min(text.bytes.length, lastStart + needle.bytes.length),
      accept: (index) => accepts(text, needle, index, request.wholeLines),
    })
    for (const index of found) {
      const place = originalPlace(file, text, { needle, index, wholeLines: request.wholeLines })
      if (!places.has(place.start)) places.set(place.start, place)
    }
  }
  return [...places.values()].sort((a, b) => a.start - b.start)
}

/**
 * The bytes behind a folded place. Blanks after the last line's text belong to it only where the old text reaches the
 * line's end.
 */
function originalPlace(
  file: FileText,
  text: FoldedText,
  found: { readonly needle: Needle; readonly index: number; readonly wholeLines: boolean },
): Place {
  const { needle, index, wholeLines } = found
  const last = index + needle.bytes.length
  const reachesEnd = needle.mustEndLine || (wholeLines && needle.bytes[needle.bytes.length - 1] !== LF)
  const start = text.startOf(index)
  return placeOf(
    wholeLines ? file.lines.start(file.lines.lineAt(start)) : start,
    reachesEnd ? text.startOf(last) : text.endOf(last),
    needle.lacksNewline,
  )
}

function accepts(text: FoldedText, needle: Needle, index: number, wholeLines: boolean): boolean {
  const end = index + needle.bytes.length
  if (needle.lacksNewline && end !== text.bytes.length) return false
  if (needle.mustEndLine && !text.isTextEnd(end)) return false
  if (needle.mustEndLine && end === text.bytes.length && text.bytes[end - 1] === LF) return false
  if (wholeLines && !text.isLineEnd(end)) return false
  return !wholeLines || text.isLineStart(index)
}

/** Whether folding at this level can bring anything that the level before did not. */
function canDiffer(file: FileText, { old, wholeLines }: MatchRequest, level: FoldLevel): boolean {
  if (level === 'unicode') return hasLikeness(old) || file.folded('unicode').hasFolded
  const hasNewline = old.includes('\n') || (file.lines.usesCr && old.includes('\r'))
  return hasNewline || (level === 'trailing-space' && (wholeLines || /[ \t]$/.test(old)))
}

const hasLikeness = (text: string): boolean =>
  /[\u00a0\u1680\u2000-\u200a\u2010-\u2015\u2018-\u201f\u202f\u205f\u2212\u3000]/.test(text)

function needlesOf(file: FileText, old: string, level: FoldLevel): readonly Needle[] {
  const { usesCr, isUnterminated } = file.lines
  const foldOld = (stripsEnd: boolean): Buffer =>
    fold(encode(old), { level, usesCr, from: 0, stripsEnd }, file.work).bytes
  const bytes = foldOld(false)
  const needles: Needle[] = [{ bytes, mustEndLine: false, lacksNewline: false }]
  const stripped = level === 'eol' ? bytes : foldOld(true)
  if (stripped.length < bytes.length)
    needles.push({ bytes: stripped, mustEndLine: true, lacksNewline: false })
  if (isUnterminated && bytes[bytes.length - 1] === LF) {
    needles.push({ bytes: bytes.subarray(0, -1), mustEndLine: true, lacksNewline: true })
  }
  return needles
}
