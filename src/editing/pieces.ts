import type { Ending } from './lines.ts'

/** A line of an edit's own text, with the terminator it came with. */
export interface Piece {
  readonly text: string
  readonly ending: Ending
}

/**
 * Splits an edit's text into lines that own their terminators, by the same rule as `LineTable`: a lone CR counts only
 * where the file at hand uses it. The empty text has no line; a final newline begins none.
 */
export function splitPieces(text: string, usesCr: boolean): readonly Piece[] {
  const pieces: Piece[] = []
  let start = 0
  while (start < text.length) {
    const end = nextTerminator(text, start, usesCr)
    if (end === -1) {
      pieces.push({ text: text.slice(start), ending: '' })
      break
    }
    const ending = endingAt(text, end)
    pieces.push({ text: text.slice(start, end), ending })
    start = end + ending.length
  }
  return pieces
}

function nextTerminator(text: string, from: number, usesCr: boolean): number {
  const lf = text.indexOf('\n', from)
  if (usesCr) {
    const cr = text.indexOf('\r', from)
    if (cr !== -1 && (lf === -1 || cr < lf)) return cr
    return lf
  }
  return lf > from && text[lf - 1] === '\r' ? lf - 1 : lf
}

function endingAt(text: string, offset: number): Exclude<Ending, ''> {
  if (text[offset] === '\n') return '\n'
  return text[offset + 1] === '\n' ? '\r\n' : '\r'
}

/**
 * Joins pieces, giving each LF the ending that `endingFor` names for it. An ending that the text spells out (CRLF)
 * stays, unless `adapt` says that the text's endings are only the requester's habit.
 */
export function joinPieces(
  pieces: readonly Piece[],
  endingFor: (index: number) => Ending,
  adapt: boolean,
): string {
  return pieces
    .map(({ text, ending }, index) => {
      if (ending === '') return text
      return text + (ending === '\n' || adapt ? endingFor(index) : ending)
    })
    .join('')
}
