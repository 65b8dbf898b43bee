import { type InsertEdit, type LinesEdit, wordFor } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import {
  evidenceLines,
  type QuoteWeakness,
  quotedLinesMin,
  quotedLinesMinWithShort,
  shortLineBytes,
  weaknessOf,
} from '../model/quoted-lines.ts'
import type { DraftFile } from './draft.ts'
import { refuseRange, resolveInsert, resolveLines } from './edit-lines.ts'
import type { FileText } from './file-text.ts'
import { firstUnseen, namedLines } from './freshness.ts'
import type { LineRange } from './line-range.ts'
import { type Outcome, refusal } from './outcome.ts'
import type { Seen } from './seen.ts'
import { showText } from './show-text.ts'

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
  return refusal('not-read', `${wordFor(edit)} in ${edit.path}: line ${unseen} was never read`, data)
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
  const quoted = evidenceLines(expected.split('\n'))
  const what = `lines in ${edit.path}`
  const missing = file.evidence.missing(quoted, range, edit.expectedOrder)
  if (missing.length > 0) {
    const shown = missing.slice(0, limits.candidatesShown).map(showText)
    const { from, to } = range
    return refusal(
      'no-match',
      `${what}: lines ${from} to ${to} do not hold ${JSON.stringify(shown[0])}, which "expected" quotes`,
      { missing: shown, from, to, found: foundIn(file, range), blob: file.blob },
      outsideHint(file, range, missing),
    )
  }
  const weakness = weaknessOf(quoted)
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

/** The first lines of the range, for a message. */
function foundIn({ lines }: FileText, { from, to }: LineRange): readonly string[] {
  const count = Math.min(to - from + 1, limits.candidatesShown)
  return Array.from({ length: count }, (_, index) => showText(lines.text(from - 1 + index)))
}

/** Advice where the quoted lines stand just beside the lines named. */
function outsideHint(file: FileText, range: LineRange, missing: readonly string[]): string | undefined {
  const from = Math.max(1, range.from - missing.length)
  const to = Math.min(file.lines.count, range.to + missing.length)
  if (file.evidence.missing(missing, { from, to }, 'any-order').length > 0) return undefined
  return `"expected" is compared with lines ${range.from} to ${range.to} only. To quote lines beside them, name those lines too and repeat them in the new content.`
}
