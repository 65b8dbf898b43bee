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
  const lf = new Upcoming(text, '\n')
  const cr = usesCr ? new Upcoming(text, '\r') : null
  let start = 0
  while (start < text.length) {
    const end = nextTerminator(text, start, { lf, cr })
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

/** The next place of a character, looked for again only when it has been passed: a text may have none of it. */
class Upcoming {
  private readonly text: string
  private readonly character: string
  private at: number

  constructor(text: string, character: string) {
    this.text = text
    this.character = character
    this.at = text.indexOf(character)
  }

  /** Its offset at or after `from`, which never goes back; -1 = there is none. */
  from(from: number): number {
    if (this.at !== -1 && this.at < from) this.at = this.text.indexOf(this.character, from)
    return this.at
  }
}

function nextTerminator(
  text: string,
  from: number,
  next: { readonly lf: Upcoming; readonly cr: Upcoming | null },
): number {
  const lf = next.lf.from(from)
  if (next.cr === null) return lf > from && text[lf - 1] === '\r' ? lf - 1 : lf
  const cr = next.cr.from(from)
  return cr !== -1 && (lf === -1 || cr < lf) ? cr : lf
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
