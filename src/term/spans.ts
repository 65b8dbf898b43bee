import { clustersOf, textWidth } from './width.ts'

/** A stretch of text in one style: parameters of the terminal's `SGR` code, `''` = plain. */
export interface Span {
  readonly text: string
  readonly style: string
}

export type Row = readonly Span[]

export const styles = {
  plain: '',
  bold: '1',
  faint: '2',
  mark: '7',
  added: '32',
  removed: '31',
  place: '36',
  good: '32',
  bad: '31',
  warning: '33',
} as const

export const span = (text: string, style: string = styles.plain): Span => ({ text, style })

export const rowWidth = (row: Row): number => row.reduce((sum, { text }) => sum + textWidth(text), 0)

/** Both styles at once. */
export const withStyle = (style: string, more: string): string =>
  style === '' || more === '' ? `${style}${more}` : `${style};${more}`

/** Stands where a row goes on beyond its cut. */
const MORE = '›'

/**
 * The columns of a row from `left` on, exactly `width` of them: cut between clusters, a `›` where there is more, blanks where there is
 * less.
 */
export function fitRow(row: Row, width: number, left = 0): Row {
  const fitted: Span[] = []
  const end = left + width
  let column = 0
  let filled = 0
  let isCut = false
  for (const { text, style } of row) {
    let kept = ''
    for (const cluster of clustersOf(text)) {
      const from = column
      column += cluster.width
      if (from < left || column > end) {
        isCut ||= column > end
        // Half of a wide cluster is a blank.
        if (from < left && column > left) kept += ' '.repeat(Math.min(column, end) - left)
        continue
      }
      kept += cluster.text
    }
    filled += textWidth(kept)
    if (kept !== '') fitted.push({ text: kept, style })
    if (isCut) break
  }
  if (isCut && width > 0) return [...shortened(fitted, width - 1), { text: MORE, style: styles.mark }]
  return filled < width ? [...fitted, span(' '.repeat(width - filled))] : fitted
}

function shortened(row: Row, width: number): Row {
  const kept: Span[] = []
  let column = 0
  for (const { text, style } of row) {
    let own = ''
    for (const cluster of clustersOf(text)) {
      if (column + cluster.width > width) {
        kept.push({ text: own, style }, span(' '.repeat(width - column)))
        return kept
      }
      column += cluster.width
      own += cluster.text
    }
    kept.push({ text: own, style })
  }
  return column < width ? [...kept, span(' '.repeat(width - column))] : kept
}

/** A row in lines of at most `width` columns. A row of nothing is one line. */
export function wrapRow(row: Row, width: number): readonly Row[] {
  const lines: Span[][] = [[]]
  let column = 0
  for (const { text, style } of row) {
    let own = ''
    for (const cluster of clustersOf(text)) {
      if (column + cluster.width > width) {
        if (own !== '') lines.at(-1)?.push({ text: own, style })
        lines.push([])
        own = ''
        column = 0
      }
      own += cluster.text
      column += cluster.width
    }
    if (own !== '') lines.at(-1)?.push({ text: own, style })
  }
  return lines
}

/** Nothing of a text may reach the terminal as a command, whatever went wrong before. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g
const ASCII = /^[\x20-\x7e]*$/

/**
 * A row as it is written at the beginning of a line of the terminal. After text whose width terminals disagree about, the column is said
 * anew, so that one cluster drawn wider than expected moves nothing behind it.
 */
export function encodeRow(row: Row, isColoured: boolean): string {
  let column = 0
  let written = ''
  for (const { text, style } of row) {
    const clean = text.replaceAll(CONTROL, '\ufffd')
    const own = isColoured
      ? style
      : style
          .split(';')
          .filter((one) => one === '1' || one === '7')
          .join(';')
    written += own === '' ? clean : `\u001b[${own}m${clean}\u001b[m`
    column += textWidth(clean)
    if (!ASCII.test(clean)) written += `\u001b[${column + 1}G`
  }
  return written
}
