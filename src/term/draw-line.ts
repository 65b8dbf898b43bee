import { visibleParts } from '../review/visible.ts'
import { type Row, type Span, span, styles, withStyle } from './spans.ts'
import { textWidth } from './width.ts'

/** A stretch of a line in UTF-16 units, and its style: of syntax, or a word that differs. */
export interface Paint {
  readonly from: number
  readonly to: number
  readonly style: string
}

export interface LineStyle {
  readonly style: string
  readonly paints: readonly Paint[]
  /** Blanks at the end are marked. */
  readonly marksTrailing: boolean
  readonly showsBlanks: boolean
}

const TAB = 8

/**
 * One line of a file (without its line feed) as it may stand on the screen. Everything unseen or misleading is written out; tabs are
 * blanks.
 */
export function drawContent(bytes: Uint8Array | string, how: LineStyle): Row {
  const row: Span[] = []
  let offset = 0
  let column = 0
  const push = (text: string, style: string) => {
    row.push(span(text, style))
    column += textWidth(text)
  }
  for (const part of visibleParts(bytes)) {
    if (part.kind === 'mark') {
      push(part.text, withStyle(how.style, styles.mark))
      offset += unitsOf(part.text)
      continue
    }
    const isMarked = part.kind === 'trailing-blank' && how.marksTrailing
    for (const piece of stretches(part.text, offset, how)) {
      const style = isMarked ? withStyle(piece.style, styles.mark) : piece.style
      for (const text of tabbed(piece.text, how.showsBlanks, () => column)) push(text, style)
    }
    offset += part.text.length
  }
  return row
}

/** Units that a character which is written out took in the line: `\u{1F600}` stood for two. */
function unitsOf(code: string): number {
  return Number.parseInt(code.slice(3, -1), 16) > 0xffff ? 2 : 1
}

/** The text in stretches of one style each. */
function* stretches(text: string, offset: number, { style, paints }: LineStyle): Generator<Span> {
  const cuts = new Set<number>([0, text.length])
  for (const { from, to } of paints)
    for (const at of [from - offset, to - offset]) if (at > 0 && at < text.length) cuts.add(at)
  const ends = [...cuts].sort((a, b) => a - b)
  for (const [index, from] of ends.entries()) {
    const to = ends[index + 1]
    if (to === undefined) return
    const own = paints.filter((paint) => paint.from - offset <= from && paint.to - offset >= to)
    const painted = own.reduce((sum, paint) => withStyle(sum, paint.style), style)
    yield { text: text.slice(from, to), style: painted }
  }
}

function* tabbed(text: string, showsBlanks: boolean, columnOf: () => number): Generator<string> {
  for (const [index, run] of text.split('\t').entries()) {
    if (index > 0) {
      const width = TAB - (columnOf() % TAB)
      yield showsBlanks ? `→${' '.repeat(width - 1)}` : ' '.repeat(width)
    }
    if (run !== '') yield showsBlanks ? run.replaceAll(' ', '·') : run
  }
}
