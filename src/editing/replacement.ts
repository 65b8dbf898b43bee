import type { Ending, LineTable } from './lines.ts'
import { joinPieces, type Piece, splitPieces } from './pieces.ts'

export interface Span {
  readonly start: number
  readonly end: number
}

export interface ReplacementRequest {
  readonly table: LineTable
  /** Where the old text stands. */
  readonly span: Span
  readonly old: string
  readonly new: string
  /** The requester's line endings are not the file's: CRLF in the new text is no wish either. */
  readonly adapt: boolean
  /** Moves a line of the new text to the file's indentation. */
  readonly reindent?: (line: string) => string | null
}

export interface Replacement {
  readonly span: Span
  readonly text: string
}

/**
 * Turns "old text → new text" into the smallest run of whole lines to replace.
 *
 * Lines that the new text repeats from the old one, at its beginning and at its end, keep the file's own bytes: their
 * line endings, trailing blanks and quotes are not what the edit is about. The rest is taken verbatim, except that
 * each LF becomes the ending of the line it replaces, one by one; further lines take the last replaced line's.
 */
export function buildReplacement(request: ReplacementRequest): Replacement {
  const { table, span, adapt, reindent } = request
  const old = splitPieces(request.old, table.usesCr)
  const fresh = splitPieces(request.new, table.usesCr)
  const firstLine = table.lineAt(span.start)
  const { head, tail } = repeatedLines(old, fresh, adapt)
  const boundary = (index: number): number => {
    if (index === 0) return span.start
    return index >= old.length ? span.end : table.start(firstLine + index)
  }
  const middle = fresh.slice(head, fresh.length - tail)
  const place = { start: boundary(head), end: boundary(old.length - tail) }
  const replaced = old.slice(head, old.length - tail).filter((piece) => piece.ending !== '').length
  const near = nearEnding(table, { firstLine, head, offset: place.start })
  const endingFor = (index: number): Ending =>
    replaced === 0 ? near : table.ending(firstLine + head + Math.min(index, replaced - 1))
  const lines =
    reindent === undefined
      ? middle
      : middle.map((piece) => ({ ...piece, text: reindent(piece.text) ?? piece.text }))
  return { span: place, text: joinPieces(lines, endingFor, adapt) }
}

function repeatedLines(
  old: readonly Piece[],
  fresh: readonly Piece[],
  adapt: boolean,
): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(old.length, fresh.length)
  let head = 0
  while (head < shorter && isTerminated(old[head]) && isRepeated(old[head], fresh[head], adapt)) head++
  let tail = 0
  while (
    head + tail < shorter &&
    isRepeated(old[old.length - 1 - tail], fresh[fresh.length - 1 - tail], adapt)
  ) {
    tail++
  }
  return { head, tail }
}

const isTerminated = (piece: Piece | undefined): boolean => piece !== undefined && piece.ending !== ''

function isRepeated(old: Piece | undefined, fresh: Piece | undefined, adapt: boolean): boolean {
  if (old === undefined || fresh === undefined || old.text !== fresh.text) return false
  if (old.ending === fresh.ending) return true
  if (old.ending === '' || fresh.ending === '') return false
  return adapt || fresh.ending === '\n'
}

function nearEnding(
  table: LineTable,
  place: { readonly firstLine: number; readonly head: number; readonly offset: number },
): Ending {
  if (place.head > 0) return table.endingNear(place.firstLine + place.head - 1)
  return table.endingNear(table.lineAt(place.offset))
}
