import { type Edit, type InsertEdit, type LinesEdit, wordFor } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { absent, type FileState, type ReadRecord } from '../model/file-state.ts'
import type { BlobId } from '../model/ids.ts'
import { distanceMoved } from './carried-lines.ts'
import { changedSince } from './changed-since.ts'
import type { DraftFile, DraftState } from './draft.ts'
import type { JudgeContext } from './judge-context.ts'
import type { LineRange } from './line-range.ts'
import { refusal } from './outcome.ts'
import type { Seen } from './seen.ts'

/** Whether what the requester knew of a file still holds. */
export type Freshness =
  /** `seen`: the lines known to be as shown; `all` also where the blob itself was named. */
  | { readonly kind: 'fresh'; readonly seen: 'all' | 'none' | readonly LineRange[] }
  | { readonly kind: 'stale'; readonly refusal: Refusal; readonly moved: number | null }

/**
 * Judges an edit's `blob` against the file as its step sees it, or else the reads recorded for its path against the
 * file at the batch's beginning.
 *
 * A file that the batch itself made is known to it, unless the edit names a blob. Where several reads of one path are
 * recorded, one that holds is enough.
 */
export function judgeFreshness(context: JudgeContext, state: DraftState, edit: Edit): Freshness {
  const origin = state.kind === 'file' ? state.origin : edit.path
  if (edit.blob !== undefined) return judgeBlob(context, state, { edit, blob: edit.blob, origin })
  if (origin === null) return { kind: 'fresh', seen: 'all' }
  const before = context.draft.before(origin)
  const blob = before.kind === 'file' ? before.blob : null
  const seen = context.reads.seen(origin, blob)
  if (seen !== 'none') return { kind: 'fresh', seen }
  const last = context.reads.lastOf(origin)
  if (last === undefined) return { kind: 'fresh', seen: 'none' }
  return stale(context, state, edit, { read: last, blob: last.blob, before, actual: blob })
}

interface NamedBlob {
  readonly edit: Edit
  readonly blob: BlobId | null
  /** The path at the beginning; null where the batch made the file. */
  readonly origin: string | null
}

function judgeBlob(context: JudgeContext, state: DraftState, { edit, blob, origin }: NamedBlob): Freshness {
  const holds = state.kind === 'absent' ? blob === null : blob !== null && state.text.isBlob(blob)
  if (holds) return { kind: 'fresh', seen: 'all' }
  const before = origin === null ? absent : context.draft.before(origin)
  if (state.kind === 'file' && before.kind === 'file' && before.blob === blob) {
    return judgeOwnChange(state, edit, blob)
  }
  const read = origin === null ? undefined : context.reads.of(origin, blob)
  const actual = state.kind === 'file' ? state.text.blobBeside(blob ?? '') : null
  return stale(context, state, edit, { read, blob, before, actual })
}

/**
 * The blob named is the file's at the beginning, and the batch itself has changed it since. Text is found where it now
 * stands. Line numbers must have stayed what they were; a whole file must be the one named.
 */
function judgeOwnChange(state: DraftFile, edit: Edit, blob: BlobId): Freshness {
  if (!restsOnWhole(edit) && keepsLines(state, edit)) return { kind: 'fresh', seen: 'all' }
  const named = isByLine(edit) ? namedLines(edit, state.text.lines.count) : null
  const moved = named === null ? null : state.origins.moveOf(named.from, named.to)
  const suggestion = moved === null ? null : movedLines(edit, moved)
  const actual = state.text.blobBeside(blob)
  return {
    kind: 'stale',
    moved,
    refusal: refusal(
      'stale-read',
      `${wordFor(edit)} of ${edit.path}: it was read as ${blob}; edits of this batch that apply before have made it ${actual}`,
      { expected: blob, actual, ...(suggestion === null ? {} : { suggestion }) },
      suggestion === null
        ? 'Each edit sees the result of those before it; with "order": "original" all refer to the file as it was.'
        : `The lines stand unchanged at ${suggestion.from} to ${suggestion.to} by then.`,
    ),
  }
}

const isByLine = (edit: Edit): edit is LinesEdit | InsertEdit => edit.op === 'lines' || edit.op === 'insert'

const restsOnWhole = (edit: Edit): boolean =>
  edit.op === 'write' || edit.op === 'delete' || edit.op === 'delta'

function keepsLines(state: DraftFile, edit: Edit): boolean {
  if (!isByLine(edit)) return true
  state.text.work.spend(16 * state.origins.size)
  const named = namedLines(edit, state.text.lines.count)
  return named === null || state.origins.keepsNumbersTo(named.to)
}

interface StaleRead {
  readonly read: ReadRecord | undefined
  readonly blob: BlobId | null
  readonly before: FileState
  /** The blob that was found in place of the one read. */
  readonly actual: string | null
}

function stale(
  context: JudgeContext,
  state: DraftState,
  edit: Edit,
  { read, blob, before, actual }: StaleRead,
): Freshness {
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
      `${wordFor(edit)} of ${edit.path}: ${known} ${now}`,
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
  if (!isByLine(edit)) return null
  if (read?.bytes === undefined || state.kind === 'absent' || !state.origins.isUntouched) return null
  const text = context.reads.text(read, read.bytes, state.text.work)
  const named = namedLines(edit, text.lines.count)
  // Whoever names the blob knows all of it, as where it still is the file's.
  const seen = edit.blob === undefined ? context.reads.seen(read.path, read.blob) : 'all'
  if (named === null || firstUnseen(seen, named) !== null) return null
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
