import { h } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Model } from './model.ts'
import type { PageChange } from './page-values.ts'
import { rowView } from './row-view.ts'
import { heightOf, offsetsOf, type Row, rowAt, rowsOf } from './rows.ts'

/** Shorter changes are drawn whole, so that the browser's own search and a screen reader see all of them. */
const DRAWN_WHOLE = 4_000
/** Drawn beyond the edges, in pixels. */
const MARGIN = 800

/** The diff: rows of known heights, of which those near the window are drawn. */
export function Scroll({ model, change }: { readonly model: Model; readonly change: PageChange }) {
  const { isSplit, isText } = model.state.settings
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const rows = useMemo(
    () => rowsOf(change, isSplit),
    [change.pieces, change.draft.comments, change.comments, isSplit],
  )
  const offsets = useMemo(() => offsetsOf(rows), [rows])
  const isWhole = isText || rows.length <= DRAWN_WHOLE
  const from = isWhole ? 0 : rowAt(offsets, view.top - MARGIN)
  const to = isWhole
    ? rows.length
    : Math.min(rows.length, rowAt(offsets, view.top + view.height + MARGIN) + 1)

  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight })
    look()
    element.addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      element.removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [])
  useFocusedPiece(box, { model, rows, offsets })
  useEffect(() => markShown(model, change, { rows, offsets, view }), [view, rows])

  const pad = (pixels: number) => h('div', { style: { height: `${pixels}px` }, 'aria-hidden': 'true' })
  return h(
    'div',
    { ref: box, class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Diff' },
    pad(offsets[from] ?? 0),
    rows.slice(from, to).map((row, index) => rowView({ model, change, row, index: from + index })),
    pad((offsets[rows.length] ?? 0) - (offsets[to] ?? 0)),
  )
}

interface Place {
  readonly model: Model
  readonly rows: readonly Row[]
  readonly offsets: Float64Array
}

/** Brings the piece in focus into view, and the keyboard's focus to it. */
function useFocusedPiece(
  box: { readonly current: HTMLDivElement | null },
  { model, rows, offsets }: Place,
): void {
  const { current, change } = model.state
  useEffect(() => {
    const element = box.current
    const at = rows.findIndex((row) => row.kind === 'hunk' && row.piece === current)
    if (element === null || at === -1) return
    const first = rows[at - 1]?.kind === 'file' ? at - 1 : at
    const [top, bottom] = [offsets[first] ?? 0, (offsets[at] ?? 0) + heightOf(rows[at] as Row) * 4]
    if (top < element.scrollTop || bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = Math.max(0, top - 8)
    requestAnimationFrame(() => document.getElementById(`piece-${current}`)?.focus({ preventScroll: true }))
  }, [current, change?.id, change?.revision])
}

interface Window extends Omit<Place, 'model'> {
  readonly view: { readonly top: number; readonly height: number }
}

const seenEnds = new WeakMap<PageChange['pieces'], Set<number>>()

/** A piece counts as shown once its beginning and its end have been in the window. */
function markShown(model: Model, change: PageChange, { rows, offsets, view }: Window): void {
  const seen = seenEnds.get(change.pieces) ?? new Set<number>()
  seenEnds.set(change.pieces, seen)
  for (
    let at = rowAt(offsets, view.top);
    at < rows.length && (offsets[at + 1] ?? 0) <= view.top + view.height;
    at++
  )
    seen.add(at)
  const shown = new Set(change.draft.shown)
  const ends = endsOf(rows)
  const keys = change.pieces.flatMap(({ key }, piece) => {
    const [first, last] = ends[piece] ?? [-1, -1]
    return !shown.has(key) && seen.has(first) && seen.has(last) ? [key] : []
  })
  if (keys.length > 0) model.act([{ kind: 'shown', keys }])
}

const knownEnds = new WeakMap<readonly Row[], readonly (readonly [number, number])[]>()

function endsOf(rows: readonly Row[]): readonly (readonly [number, number])[] {
  const known = knownEnds.get(rows)
  if (known !== undefined) return known
  const ends: [number, number][] = []
  for (const [index, { kind, piece }] of rows.entries()) {
    if (kind === 'space') continue
    const end = ends[piece]
    if (end === undefined) ends[piece] = [index, index]
    else end[1] = index
  }
  knownEnds.set(rows, ends)
  return ends
}
