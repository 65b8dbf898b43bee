import type { InsertEdit, LinesEdit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import {
  type QuoteWeakness,
  quotedLinesMin,
  quotedLinesMinWithShort,
  shortLineBytes,
} from '../model/quoted-lines.ts'
import type { DraftFile } from './draft.ts'
import { type LineRange, refuseRange, resolveInsert, resolveLines } from './edit-lines.ts'
import { compareEvidence } from './evidence.ts'
import type { FileText } from './file-text.ts'
import { firstUnseen, namedLines, type Seen } from './freshness.ts'
import { type Outcome, refusal } from './outcome.ts'
import { showText } from './show-text.ts'

/** What reading and comparing one line costs beside its bytes. */
const LINE_COST = 512

/**
 * Resolves an edit by line numbers if something proves that its requester knows the lines: a read that showed them, the
 * file's blob, or quoted lines. Quoted lines must hold whatever else proves the place.
 */
export function judgeLines(file: DraftFile, edit: LinesEdit | InsertEdit, seen: Seen): Outcome {
  const refused = refuseRange(file.text, edit) ?? unproven(file, edit, seen)
  if (refused !== null) return { kind: 'failed', refusal: refused }
  return edit.op === 'lines' ? resolveLines(file.text, edit) : resolveInsert(file.text, edit)
}

function unproven(file: DraftFile, edit: LinesEdit | InsertEdit, seen: Seen): Refusal | null {
  const unseen = edit.op === 'insert' && edit.needsNoRead === true ? null : unseenLine(file, edit, seen)
  if (edit.op === 'lines' && edit.expected !== undefined) {
    return refuseEvidence(file.text, edit, edit.expected, unseen !== null)
  }
  if (unseen === null) return null
  const data = { line: unseen, blob: file.text.blob, totalLines: file.text.lines.count }
  return refusal('not-read', `${edit.op} in ${edit.path}: line ${unseen} was never read`, data)
}

/** The first line the edit rests on that nothing shows to be known; null = all are. */
function unseenLine(file: DraftFile, edit: LinesEdit | InsertEdit, seen: Seen): number | null {
  const named = namedLines(edit, file.text.lines.count)
  if (seen === 'all') return null
  const { isUntouched } = file.origins
  if (named === null) return edit.op === 'lines' && seen === 'none' && isUntouched ? 1 : null
  if (isUntouched) return firstUnseen(seen, named)
  for (const stretch of file.origins.originals(named.from, named.to)) {
    file.text.work.spend(64)
    const unseen = firstUnseen(seen, stretch)
    if (unseen !== null) return unseen - stretch.from + stretch.now
  }
  return null
}

function refuseEvidence(
  file: FileText,
  edit: LinesEdit,
  expected: string,
  isOnlyEvidence: boolean,
): Refusal | null {
  const range = quotedRange(file, edit, expected)
  const actual = textOf(file, range)
  const verdict = compareEvidence(expected, actual, edit.expectedOrder)
  const what = `lines in ${edit.path}`
  if (verdict.kind === 'differs') {
    const missing = verdict.missing.slice(0, limits.candidatesShown).map(showText)
    return refusal(
      'no-match',
      `${what}: lines ${range.from} to ${range.to} do not hold ${JSON.stringify(missing[0])}, which "expected" quotes`,
      {
        missing,
        from: range.from,
        to: range.to,
        found: actual.slice(0, limits.candidatesShown).map(showText),
        blob: file.blob,
      },
      outsideHint(file, range, verdict.missing),
    )
  }
  const { weakness } = verdict
  if (weakness === null || !isOnlyEvidence) return null
  const rule = ruleOf(weakness)
  return refusal('weak-evidence', `${what}: the file was not read, and of the lines in "expected" ${rule}`, {
    rule,
    blob: file.blob,
  })
}

const ruleOf = (weakness: QuoteWeakness): string =>
  weakness.rule === 'three-lines'
    ? `${weakness.count} lines that are not blank are quoted, ${quotedLinesMin} are needed`
    : `${weakness.count} lines are quoted and one has fewer than ${shortLineBytes} bytes, then ${quotedLinesMinWithShort} are needed`

/** The lines with which `expected` is compared: those named, or for an insertion as many as it quotes from there on. */
function quotedRange(file: FileText, edit: LinesEdit, expected: string): LineRange {
  if (edit.to !== null || edit.content === null) return { from: edit.from, to: edit.to ?? edit.from }
  const quoted = expected.split('\n').length - (expected.endsWith('\n') ? 1 : 0)
  return { from: edit.from, to: Math.min(edit.from + quoted - 1, file.lines.count) }
}

function textOf(file: FileText, { from, to }: LineRange): readonly string[] {
  const texts: string[] = []
  file.work.spend(8 * (file.lines.end(to - 1) - file.lines.start(from - 1)) + LINE_COST * (to - from + 1))
  for (let line = from; line <= to; line++) texts.push(file.lines.text(line - 1).toString('utf8'))
  return texts
}

/** Advice where the quoted lines stand just beside the lines named. */
function outsideHint(file: FileText, range: LineRange, missing: readonly string[]): string | undefined {
  const from = Math.max(1, range.from - missing.length)
  const to = Math.min(file.lines.count, range.to + missing.length)
  if (compareEvidence(missing.join('\n'), textOf(file, { from, to }), 'any-order').kind === 'differs')
    return undefined
  return `"expected" is compared with lines ${range.from} to ${range.to} only. To quote lines beside them, name those lines too and repeat them in the new content.`
}
