import { hasNul } from './bytes.ts'
import { type LineHunk, lineHunks } from './diff-lines.ts'

/** Some neighbouring lines by index from 0; `to` is exclusive. An empty span is a place between two lines. */
export interface LineSpan {
  readonly from: number
  readonly to: number
}

/** Stands for a file as a whole: whatever happens to it touches. */
const WHOLE: LineSpan = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** The lines of `after` that differ from `before`; of a file that is new, gone or not text, all of it. */
export function changedSpans(before: Uint8Array | null, after: Uint8Array | null): readonly LineSpan[] {
  if (before === null || after === null || hasNul(before) || hasNul(after)) return [WHOLE]
  return lineHunks(before, after, 0).map(newSpan)
}

export interface CarriedSpans {
  /** Whether the step changed one of the lines, or a line right beside one: where git's merge would see a conflict. */
  readonly isTouched: boolean
  /** The lines in the file after the step; where it touched them, all lines of the step too. */
  readonly spans: readonly LineSpan[]
}

/** Follows lines through one step of a file's history. Linear in the spans and the step's differences. */
export function carrySpans(
  spans: readonly LineSpan[],
  step: { readonly before: Uint8Array; readonly after: Uint8Array },
): CarriedSpans {
  if (hasNul(step.before) || hasNul(step.after)) return { isTouched: true, spans: [WHOLE] }
  const hunks = lineHunks(step.before, step.after, 0)
  if (spans.some((span) => span.to === WHOLE.to)) return { isTouched: hunks.length > 0, spans: [WHOLE] }
  const carried = carryAll(joined(spans), hunks)
  return carried.isTouched
    ? { ...carried, spans: joined([...carried.spans, ...hunks.map(newSpan)]) }
    : carried
}

function carryAll(spans: readonly LineSpan[], hunks: readonly LineHunk[]): CarriedSpans {
  const carried: LineSpan[] = []
  let isTouched = false
  let next = 0
  let shift = 0
  for (const span of spans) {
    for (let hunk = hunks[next]; hunk !== undefined && oldSpan(hunk).to < span.from; hunk = hunks[++next])
      shift += growth(hunk)
    let { from, to } = span
    let grown = 0
    for (let hunk = hunks[next]; hunk !== undefined && oldSpan(hunk).from <= to; hunk = hunks[++next]) {
      isTouched = true
      from = Math.min(from, oldSpan(hunk).from)
      to = Math.max(to, oldSpan(hunk).to)
      grown += growth(hunk)
    }
    carried.push({ from: from + shift, to: to + shift + grown })
    shift += grown
  }
  return { isTouched, spans: carried }
}

/** The spans in order, those that overlap or touch made one. */
function joined(spans: readonly LineSpan[]): readonly LineSpan[] {
  const result: LineSpan[] = []
  for (const span of [...spans].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const last = result[result.length - 1]
    if (last === undefined || span.from > last.to) result.push(span)
    else result[result.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
  }
  return result
}

const growth = (hunk: LineHunk): number => hunk.newCount - hunk.oldCount

const oldSpan = (hunk: LineHunk): LineSpan => spanOf(hunk.oldStart, hunk.oldCount)
const newSpan = (hunk: LineHunk): LineSpan => spanOf(hunk.newStart, hunk.newCount)

/** A hunk without lines on a side names the line before the place. */
function spanOf(start: number, count: number): LineSpan {
  const from = count > 0 ? start - 1 : start
  return { from, to: from + count }
}
