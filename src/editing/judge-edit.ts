import { type Edit, wordFor } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import { assertNever } from '../model/error.ts'
import { sameBytes } from './bytes.ts'
import type { DraftFile } from './draft.ts'
import { resolveCell } from './edit-cell.ts'
import { resolveHunks } from './edit-hunks.ts'
import { resolveAppend, withinFile } from './edit-lines.ts'
import { resolveReplace } from './edit-replace.ts'
import { judgeFreshness, movedBy } from './freshness.ts'
import type { JudgeContext } from './judge-context.ts'
import { judgeLines } from './judge-lines.ts'
import { markLength } from './lines.ts'
import { refuseNewText } from './new-text.ts'
import { type Claim, failed, type Outcome, refusal } from './outcome.ts'
import type { Seen } from './seen.ts'
import { stricter } from './tiers.ts'
import { WorkExhausted } from './work.ts'

export type TextEdit = Extract<Edit, { op: 'replace' | 'lines' | 'insert' | 'append' | 'hunks' | 'cell' }>

export const isTextEdit = (edit: Edit): edit is TextEdit =>
  edit.op === 'replace' ||
  edit.op === 'lines' ||
  edit.op === 'insert' ||
  edit.op === 'append' ||
  edit.op === 'hunks' ||
  edit.op === 'cell'

/** Judges one text edit against its file as it stands before the step. */
export function judgeTextEdit(context: JudgeContext, file: DraftFile, edit: TextEdit): Outcome {
  try {
    return judgeWithinBudget(context, file, edit)
  } catch (error) {
    if (!(error instanceof WorkExhausted)) throw error
    return failed(
      'too-large',
      `${wordFor(edit)} in ${edit.path}: the batch asks for more searching than one batch may`,
    )
  }
}

function judgeWithinBudget(context: JudgeContext, file: DraftFile, asked: TextEdit): Outcome {
  const edit = asked.op === 'lines' ? withinFile(asked, file.text.lines.count) : asked
  const unfit = unfitForText(context, file, edit) ?? refuseNewText(file, edit)
  if (unfit !== null) return { kind: 'failed', refusal: unfit }
  const freshness = judgeFreshness(context, file, edit)
  if (freshness.kind === 'stale' && !mayCarry(context, edit, freshness.moved)) {
    return { kind: 'failed', refusal: freshness.refusal }
  }
  const outcome =
    freshness.kind === 'stale'
      ? carried(
          resolveTextEdit(context, file, movedEdit(edit, freshness.moved ?? 0), 'all'),
          edit,
          freshness.moved,
        )
      : resolveTextEdit(context, file, edit, freshness.seen)
  if (outcome.kind === 'failed') return outcome
  const kept = { ...outcome, claims: outcome.claims.map((claim) => withOneMark(file, claim)) }
  return changesNothing(file, kept.claims)
    ? failed('no-change', `${wordFor(edit)} in ${edit.path}: the file says exactly this already`)
    : kept
}

/** New text for the first line does not bring a second byte-order mark. */
function withOneMark(file: DraftFile, claim: Claim): Claim {
  const { contentStart } = file.text.lines
  if (contentStart === 0 || claim.offset !== contentStart || markLength(claim.replacement) === 0) return claim
  return { ...claim, replacement: claim.replacement.subarray(contentStart) }
}

/** Edits by line numbers are carried where their lines have moved to, edits by text where the text stands. */
function mayCarry(context: JudgeContext, edit: TextEdit, moved: number | null): boolean {
  if (!context.carry || edit.op === 'cell') return false
  return moved !== null || (edit.op !== 'lines' && edit.op !== 'insert')
}

const movedEdit = (edit: TextEdit, moved: number): TextEdit =>
  edit.op === 'lines' || edit.op === 'insert' ? movedBy(edit, moved) : edit

function carried(outcome: Outcome, edit: TextEdit, moved: number | null): Outcome {
  if (outcome.kind === 'failed') return outcome
  const text =
    moved === null
      ? 'the file changed since it was read; the edit was applied where its text stands now'
      : `the file changed since it was read; the edit was carried by ${moved} lines to where its lines stand now`
  const remark = {
    kind: moved === null ? 'stale-read' : 'carried',
    item: edit.item,
    path: edit.path,
    text,
  } as const
  return { ...outcome, carried: true, remarks: [...outcome.remarks, remark] }
}

function resolveTextEdit(context: JudgeContext, file: DraftFile, edit: TextEdit, seen: Seen): Outcome {
  switch (edit.op) {
    case 'replace':
      return resolveReplace(file.text, edit, stricter(context.maxTier, edit.maxTier ?? context.maxTier))
    case 'lines':
    case 'insert':
      return judgeLines(file, edit, seen)
    case 'append':
      return resolveAppend(file.text, edit)
    case 'hunks':
      return resolveHunks(file.text, edit, stricter(context.maxTier, edit.maxTier ?? context.maxTier))
    case 'cell':
      return resolveCell(file.text, edit)
    default:
      return assertNever(edit)
  }
}

function unfitForText(context: JudgeContext, file: DraftFile, edit: TextEdit): Refusal | null {
  const { bytes } = file.text
  const what = `${wordFor(edit)} in ${edit.path}`
  if (bytes.length > context.fileMaxBytes) {
    return refusal(
      'too-large',
      `${what}: the file has ${bytes.length} bytes, ${context.fileMaxBytes} are allowed`,
      {
        bytes: bytes.length,
        maxBytes: context.fileMaxBytes,
      },
    )
  }
  if (file.text.isLfsPointer) return refusal('lfs-pointer', `${what}: the file is a Git LFS pointer`)
  if (file.text.hasNul) return refusal('binary', `${what}: the file holds NUL bytes`)
  return null
}

const changesNothing = (file: DraftFile, claims: readonly Claim[]): boolean =>
  claims.every((claim) =>
    sameBytes(file.text.bytes.subarray(claim.offset, claim.offset + claim.length), claim.replacement),
  )
