import { type AppendEdit, type InsertEdit, type LinesEdit, wordFor } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { encode } from './bytes.ts'
import type { FileText } from './file-text.ts'
import type { LineRange } from './line-range.ts'
import type { Ending, LineTable } from './lines.ts'
import { type Claim, failed, type Outcome, refusal } from './outcome.ts'
import { joinPieces, splitPieces } from './pieces.ts'

/** Refuses line numbers that the file does not have. */
export function refuseRange(file: FileText, edit: LinesEdit | InsertEdit): Refusal | null {
  const { count } = file.lines
  const isInsertion = edit.op === 'insert' || (edit.to === null && edit.content !== null)
  if (edit.op === 'insert') {
    return isBetween(edit.after, 0, count) ? null : outOfRange(edit, `after line ${edit.after}`, count)
  }
  if (isInsertion)
    return isBetween(edit.from, 1, count + 1) ? null : outOfRange(edit, `before line ${edit.from}`, count)
  const to = edit.to ?? edit.from
  const exists = isBetween(edit.from, 1, count) && isBetween(to, edit.from, count)
  return exists ? null : outOfRange(edit, `lines ${edit.from} to ${to}`, count)
}

/** The edit with lines past the end of the file taken as `pastEnd` says; null content past the end stays, to be refused. */
export function withinFile(edit: LinesEdit, totalLines: number): LinesEdit {
  if (edit.pastEnd !== 'clamp') return edit
  if (edit.from > totalLines)
    return edit.content === null ? edit : { ...edit, from: totalLines + 1, to: null }
  return edit.to === null || edit.to <= totalLines ? edit : { ...edit, to: totalLines }
}

/** Resolves an edit by line numbers; its range and its evidence have been judged already. */
export function resolveLines(file: FileText, edit: LinesEdit): Outcome {
  const { lines } = file
  if (edit.to === null && edit.content !== null) {
    const what = `lines in ${edit.path}`
    return insertAt(file, { item: edit.item, after: edit.from - 1, content: edit.content, what })
  }
  const to = edit.to ?? edit.from
  const start = lines.start(edit.from - 1)
  const end = lines.end(to - 1)
  const replacement = encode(contentForLines(lines, { from: edit.from, to }, edit.content ?? ''))
  return claimsOf({
    item: edit.item,
    offset: start,
    length: end - start,
    replacement,
    tier: 'exact',
    claimStart: start,
    claimEnd: end,
    ownLine: null,
  })
}

/** The content as it will stand in place of the lines: their endings one by one, and a final one unless the file ends here without. */
function contentForLines(table: LineTable, range: LineRange, content: string): string {
  const endsFile = range.to === table.count && table.isUnterminated
  const terminated = range.to - range.from + 1 - (endsFile ? 1 : 0)
  const endingFor = (index: number): Ending =>
    terminated === 0
      ? table.endingNear(range.from - 1)
      : table.ending(range.from - 1 + Math.min(index, terminated - 1))
  const pieces = splitPieces(content, table.usesCr)
  const text = joinPieces(pieces, endingFor, false)
  const isOpen = pieces.length > 0 && pieces[pieces.length - 1]?.ending === ''
  return isOpen && !endsFile ? text + endingFor(pieces.length - 1) : text
}

/** Resolves an insertion after a line; `after: 0` = at the top. Its range has been judged already. */
export const resolveInsert = (file: FileText, edit: InsertEdit): Outcome =>
  insertAt(file, {
    item: edit.item,
    after: edit.after,
    content: edit.content,
    what: `insert into ${edit.path}`,
  })

interface Insertion {
  readonly item: number
  /** Line above the place, 1-based; 0 = the top. */
  readonly after: number
  readonly content: string
  readonly what: string
}

function insertAt(file: FileText, { item, after, content, what }: Insertion): Outcome {
  if (content === '') return failed('no-change', `${what}: the content is empty`)
  const { lines } = file
  const offset = lines.start(after)
  const atOpenEnd = after === lines.count && lines.isUnterminated
  const ending = lines.endingNear(Math.max(after - 1, 0))
  const pieces = splitPieces(content, lines.usesCr)
  const text = joinPieces(pieces, () => ending, false)
  const isOpen = pieces[pieces.length - 1]?.ending === ''
  return claimsOf({
    item,
    offset,
    length: 0,
    replacement: encode(isOpen && !atOpenEnd ? text + ending : text),
    tier: 'exact',
    claimStart: offset,
    claimEnd: offset,
    ownLine: encode(ending),
  })
}

/** Resolves an append: an unterminated last line is terminated first; the content's own end stays as it is. */
export function resolveAppend(file: FileText, edit: AppendEdit): Outcome {
  if (edit.content === '') return failed('no-change', `append to ${edit.path}: the content is empty`)
  const { lines } = file
  const ending = lines.endingNear(lines.count - 1)
  const text = joinPieces(splitPieces(edit.content, lines.usesCr), () => ending, false)
  const offset = file.bytes.length
  return claimsOf({
    item: edit.item,
    offset,
    length: 0,
    replacement: encode(text),
    tier: 'exact',
    claimStart: offset,
    claimEnd: offset,
    ownLine: encode(ending),
  })
}

const claimsOf = (claim: Claim): Outcome => ({
  kind: 'claims',
  claims: [claim],
  tier: claim.tier,
  carried: false,
  remarks: [],
})

const isBetween = (value: number, low: number, high: number): boolean =>
  Number.isInteger(value) && value >= low && value <= high

const outOfRange = (edit: LinesEdit | InsertEdit, asked: string, totalLines: number): Refusal =>
  refusal(
    'out-of-range',
    `${wordFor(edit)} in ${edit.path}: asked for ${asked}; the file has ${totalLines} lines`,
    {
      totalLines,
    },
  )
