import { oneLine } from '../review/comment-text.ts'
import { isCrlfThroughout } from '../review/unified-diff.ts'
import type { BodyLine } from './body.ts'
import { drawContent, type Paint } from './draw-line.ts'
import { finishRows } from './finish-rows.ts'
import { fileList, foldedList, footRows, headRows, listRow } from './frame-rows.ts'
import { helpRows } from './help-rows.ts'
import {
  bodyFor,
  bodyHeight,
  cursorLine,
  LIST_FROM_COLUMNS,
  type ReviewState,
  shownPieces,
} from './review-state.ts'
import { fitRow, type Row, rowWidth, span, styles, withStyle, wrapRow } from './spans.ts'

/** What colours a line beyond its kind: syntax, and words that differ. */
export type Painter = (state: ReviewState, line: BodyLine, index: number) => readonly Paint[]

/** A screen, and which lines of the scroll stand on it; null = none. */
export interface View {
  readonly rows: readonly Row[]
  readonly lines: { readonly first: number; readonly last: number } | null
}

/** The whole screen: as many rows as it has, each as wide as it is. Content stands in it only as `drawContent` gives it. */
export function viewOf(state: ReviewState, paint: Painter): View {
  const { columns, rows } = state.size
  const rule = span('─'.repeat(columns), styles.faint)
  const height = bodyHeight(state.size)
  const hunks = state.mode === 'hunks' ? hunkRows(state, paint, height) : null
  const other = state.mode === 'help' ? helpRows(columns) : finishRows(state)
  const fold = columns < LIST_FROM_COLUMNS ? [foldedList(state)] : []
  const middle = hunks?.rows ?? padded(scrolledRows(other, state.scrolled, height), height)
  const all = [...headRows(state), [rule], ...fold, ...middle, [rule], ...footRows(state)]
  return { rows: all.slice(0, rows).map((row) => fitRow(row, columns)), lines: hunks?.lines ?? null }
}

/** Rows from a place on; where that leaves rows of the screen empty, from as far up as fills it. */
function scrolledRows(rows: readonly Row[], from: number, height: number): readonly Row[] {
  const first = Math.min(from, Math.max(0, rows.length - height))
  const shown = rows.slice(first, first + height)
  const isLast = first + height >= rows.length
  return isLast ? shown : [...shown.slice(0, -1), [span(' ↓ more: ↓ ↑', styles.faint)]]
}

const padded = (rows: readonly Row[], height: number): readonly Row[] => [
  ...rows.slice(0, height),
  ...Array.from({ length: Math.max(0, height - rows.length) }, (): Row => []),
]

function hunkRows(state: ReviewState, paint: Painter, height: number): View {
  const { columns } = state.size
  if (columns < LIST_FROM_COLUMNS) return scrollRows(state, paint, { width: columns, height })
  const width = Math.min(40, Math.max(24, Math.floor(columns * 0.3)))
  const files = fileList(state)
  const at = files.findIndex(({ isHere }) => isHere)
  const first = Math.max(0, Math.min(at - (height >> 1), files.length - height))
  const scroll = scrollRows(state, paint, { width: columns - width - 1, height })
  const rows = scroll.rows.map((row, index): Row => {
    const file = files[first + index]
    const left: Row = file === undefined ? [] : listRow(file, width)
    return [...fitRow(left, width), span('│', styles.faint), ...row]
  })
  return { ...scroll, rows }
}

interface Area {
  readonly width: number
  readonly height: number
}

/** The part of the scroll that is on the screen, from its top line on. */
function scrollRows(state: ReviewState, paint: Painter, { width, height }: Area): View {
  const { lines } = bodyFor(state)
  const cursor = cursorLine(state)
  // Lines that wrap take several rows: the one under the cursor must be seen all the same.
  for (let top = state.top; ; top++) {
    const rows: Row[] = []
    let last = top - 1
    for (let index = top; rows.length < height; index++) {
      const line = lines[index]
      if (line === undefined) break
      rows.push(...lineRows(state, { line, index, isCursor: index === cursor }, paint, width))
      if (rows.length <= height) last = index
    }
    if (last >= cursor || top >= cursor)
      return { rows: padded(rows, height).map((row) => fitRow(row, width)), lines: { first: top, last } }
  }
}

interface Placed {
  readonly line: BodyLine
  readonly index: number
  readonly isCursor: boolean
}

function lineRows(state: ReviewState, placed: Placed, paint: Painter, width: number): readonly Row[] {
  const { line, isCursor } = placed
  const gutter = gutterOf(state, line, isCursor)
  const room = width - rowWidth(gutter)
  const content = contentOf(state, placed, paint, state.wraps ? Number.POSITIVE_INFINITY : state.left + room)
  const isCode = ['context', 'add', 'remove'].includes(line.kind)
  if (!state.wraps && isCode) return [[...gutter, ...fitRow(content, room, state.left)]]
  const wrapped = wrapRow(content, Math.max(1, room))
  const blank = span(' '.repeat(rowWidth(gutter)))
  return wrapped.map((row, i) => (i === 0 ? [...gutter, ...row] : [blank, ...row]))
}

const SIGNS: Readonly<Partial<Record<BodyLine['kind'], readonly [string, string]>>> = {
  add: ['+', styles.added],
  remove: ['-', styles.removed],
}

/** Cursor, line numbers where there is room for them, and the sign. */
function gutterOf({ size }: ReviewState, line: BodyLine, isCursor: boolean): Row {
  const pointer = span(isCursor ? '▶' : ' ', styles.bold)
  if (line.kind === 'file' || line.kind === 'hunk') return [pointer]
  const [sign, style] = SIGNS[line.kind] ?? [' ', styles.plain]
  const number = (value: number | undefined) => `${value ?? ''}`.padStart(5)
  const numbers =
    size.columns < LIST_FROM_COLUMNS ? [] : [span(`${number(line.old)}${number(line.fresh)} `, styles.faint)]
  return [pointer, ...numbers, span(sign, withStyle(styles.bold, style)), span(' ')]
}

const BASE: Readonly<Partial<Record<BodyLine['kind'], string>>> = {
  add: styles.added,
  remove: styles.removed,
  words: styles.warning,
  'no-newline': styles.faint,
}

function contentOf(state: ReviewState, { line, index }: Placed, paint: Painter, columns: number): Row {
  switch (line.kind) {
    case 'file':
      return [span(oneLine(`${line.text}`), styles.bold)]
    case 'hunk':
      return hunkTitle(state, line.piece)
    case 'comment':
      return [span(`┌ ${oneLine(`${line.text}`)}`, styles.place)]
    case 'words':
      // Names in it are written out already.
      return [span(`${line.text}`, styles.warning)]
    case 'blank':
    case 'no-newline':
      return [span(`${line.text}`, styles.faint)]
    default: {
      const file = shownPieces(state)[line.piece]?.piece.file
      const hides = file !== undefined && isCrlfThroughout(file)
      const how = {
        style: BASE[line.kind] ?? styles.plain,
        paints: paint(state, line, index),
        marksTrailing: line.kind === 'add',
        showsBlanks: state.showsBlanks,
      }
      return drawContent(cutFar(hides ? withoutCr(line.text) : line.text, columns), how)
    }
  }
}

/** Bytes of one column, at the most: a letter of four with marks. More than that of a line of megabytes is not on the screen anyway. */
const BYTES_A_COLUMN = 20

const cutFar = (text: Uint8Array | string, columns: number): Uint8Array | string =>
  text.length > (columns + 8) * BYTES_A_COLUMN ? text.slice(0, (columns + 8) * BYTES_A_COLUMN) : text

const withoutCr = (text: Uint8Array | string): Uint8Array | string =>
  typeof text !== 'string' && text.at(-1) === 13 ? text.subarray(0, -1) : text

/** What a hunk's decision looks like, with a sign besides the colour. */
const DECIDED = {
  accepted: ['✓ accepted', styles.good],
  rejected: ['✗ rejected', styles.bad],
  edited: ['✎ edited', styles.warning],
} as const

function hunkTitle(state: ReviewState, index: number): Row {
  const pieces = shownPieces(state)
  const piece = pieces[index]
  if (piece === undefined) return []
  const own = pieces.filter(({ fileKey }) => fileKey === piece.fileKey)
  const made = state.draft.decided.find(({ key }) => key === piece.key)
  const part = piece.piece.part === undefined ? '' : ` part ${piece.piece.part}`
  const number = piece.piece.hunks[0]?.number
  const place = `hunk ${number}${part} · ${own.indexOf(piece) + 1} of ${own.length} in ${oneLine(piece.piece.file.path)} · `
  if (made === undefined) return [span(place, styles.place), span('undecided')]
  const [words, style] = DECIDED[made.decision.kind]
  const reason =
    made.decision.kind === 'accepted' || made.decision.reason === ''
      ? ''
      : `: ${oneLine(made.decision.reason)}`
  return [
    span(place, styles.place),
    span(`${words}${made.via === 'web' ? ' in the browser' : ''}${reason}`, style),
  ]
}
