import type { Edit, InsertEdit, LinesEdit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { FileState, ReadRecord } from '../model/file-state.ts'
import type { BlobId } from '../model/ids.ts'
import { distanceMoved } from './carried-lines.ts'
import { changedSince } from './changed-since.ts'
import type { DraftState } from './draft.ts'
import type { LineRange } from './edit-lines.ts'
import type { JudgeContext } from './judge-edit.ts'
import { refusal } from './outcome.ts'

/** Lines known to the requester: ranges that are sorted and do not touch, or all, or none. */
export type Seen = 'all' | 'none' | readonly LineRange[]

/** Whether what the requester knew of a file still holds. */
export type Freshness =
  /** `seen`: the lines known to be as shown; `all` also where the blob itself was named. */
  | { readonly kind: 'fresh'; readonly seen: 'all' | 'none' | readonly LineRange[] }
  | { readonly kind: 'stale'; readonly refusal: Refusal; readonly moved: number | null }

/**
 * Judges an edit's `blob`, or else the reads recorded for its path, against the file at the batch's beginning.
 *
 * A file that the batch itself made is known to it. Where several reads of one path are recorded, one that holds is
 * enough.
 */
export function judgeFreshness(context: JudgeContext, state: DraftState, edit: Edit): Freshness {
  const origin = state.kind === 'file' ? state.origin : edit.path
  if (origin === null) return { kind: 'fresh', seen: 'all' }
  const before = context.draft.before(origin)
  const blob = before.kind === 'file' ? before.blob : null
  const records = context.reads.byPath(origin)
  if (edit.blob !== undefined) {
    if (edit.blob === blob) return { kind: 'fresh', seen: 'all' }
    return stale(context, state, edit, {
      read: records.find((r) => r.blob === edit.blob),
      blob: edit.blob,
      before,
    })
  }
  const seen = context.reads.seen(origin, blob)
  if (seen !== 'none') return { kind: 'fresh', seen }
  const last = records[records.length - 1]
  if (last === undefined) return { kind: 'fresh', seen: 'none' }
  return stale(context, state, edit, { read: last, blob: last.blob, before })
}

interface StaleRead {
  readonly read: ReadRecord | undefined
  readonly blob: BlobId | null
  readonly before: FileState
}

function stale(
  context: JudgeContext,
  state: DraftState,
  edit: Edit,
  { read, blob, before }: StaleRead,
): Freshness {
  const actual = before.kind === 'file' ? before.blob : null
  const known = blob === null ? 'it was absent when it was read' : `it was read as ${blob}`
  const now = actual === null ? 'and does not exist now' : `and is ${actual} now`
  const moved = distance(context, state, edit, read)
  const suggestion = moved === null ? null : movedLines(edit, moved)
  const changes =
    read?.bytes === undefined || before.kind === 'absent' ? null : changesOf(context, read, before)
  return {
    kind: 'stale',
    moved,
    refusal: refusal(
      edit.op === 'write' && blob === null ? 'exists' : 'stale-read',
      `${edit.op} of ${edit.path}: ${known} ${now}`,
      {
        expected: blob,
        actual,
        ...(changes === null ? {} : { changes }),
        ...(suggestion === null ? {} : { suggestion }),
      },
      suggestion === null
        ? undefined
        : `The lines stand unchanged at ${suggestion.from} to ${suggestion.to} now; use these numbers and the new blob.`,
    ),
  }
}

function changesOf(
  context: JudgeContext,
  read: ReadRecord,
  before: Extract<FileState, { kind: 'file' }>,
): readonly string[] {
  return context.reads.remember(`${read.path}\0${read.blob}`, () =>
    changedSince(read.bytes ?? new Uint8Array(0), before.bytes),
  )
}

/** How far the lines of an edit by numbers have moved; null where that cannot be said. */
function distance(
  context: JudgeContext,
  state: DraftState,
  edit: Edit,
  read: ReadRecord | undefined,
): number | null {
  if (edit.op !== 'lines' && edit.op !== 'insert') return null
  if (read?.bytes === undefined || state.kind === 'absent' || state.past.length > 0) return null
  const text = context.reads.text(read, read.bytes, state.text.work)
  const named = namedLines(edit, text.lines.count)
  if (named === null || firstUnseen(context.reads.seen(read.path, read.blob), named) !== null) return null
  return distanceMoved(text, state.text, named)
}

function movedLines(edit: Edit, moved: number): LineRange | null {
  if (edit.op === 'insert') return { from: edit.after + moved, to: edit.after + moved }
  if (edit.op !== 'lines') return null
  return { from: edit.from + moved, to: (edit.to ?? edit.from) + moved }
}

/** The lines that an edit by numbers rests on; null = none (the top, or a file without lines). */
export function namedLines(edit: LinesEdit | InsertEdit, totalLines: number): LineRange | null {
  if (edit.op === 'insert') return edit.after === 0 ? null : { from: edit.after, to: edit.after }
  if (edit.to !== null) return { from: edit.from, to: edit.to }
  const line = edit.content === null ? edit.from : Math.min(edit.from, totalLines)
  return line === 0 ? null : { from: line, to: line }
}

/** The first line of the range that was not shown; null = all were. */
export function firstUnseen(seen: Seen, { from, to }: LineRange): number | null {
  if (seen === 'all') return null
  if (seen === 'none') return from
  let low = 0
  let high = seen.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seen[middle]?.to ?? 0) < from) low = middle + 1
    else high = middle
  }
  const range = seen[low]
  if (range === undefined || range.from > from) return from
  return range.to >= to ? null : range.to + 1
}

/** The edit at the lines to which its old ones have moved. */
export function movedBy<T extends LinesEdit | InsertEdit>(edit: T, moved: number): T {
  if (edit.op === 'insert') return { ...edit, after: edit.after + moved }
  return { ...edit, from: edit.from + moved, to: edit.to === null ? null : edit.to + moved }
}
