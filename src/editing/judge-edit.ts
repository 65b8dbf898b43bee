import type { Edit, Tier } from '../model/edit.ts'
import { assertNever } from '../model/error.ts'
import type { ReadRecord } from '../model/file-state.ts'
import { hasLoneSurrogate, sameBytes } from './bytes.ts'
import type { Draft, DraftFile } from './draft.ts'
import { resolveHunks } from './edit-hunks.ts'
import { resolveAppend, resolveInsert, resolveLines } from './edit-lines.ts'
import { resolveReplace } from './edit-replace.ts'
import { type Claim, failed, type Outcome, refusal } from './outcome.ts'
import { stricter } from './tiers.ts'
import type { Refusal } from '../model/error.ts'

/** What judging needs besides the edit and its file. */
export interface JudgeContext {
  readonly draft: Draft
  readonly reads: readonly ReadRecord[]
  readonly maxTier: Tier
  readonly carry: boolean
  readonly fileMaxBytes: number
}

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
  const unfit = unfitForText(context, file, edit) ?? unfitText(edit)
  if (unfit !== null) return { kind: 'failed', refusal: unfit }
  const outcome = resolveTextEdit(context, file, edit)
  if (outcome.kind === 'claims' && changesNothing(file, outcome.claims)) {
    return failed('no-change', `${edit.op} in ${edit.path}: the file says exactly this already`)
  }
  return outcome
}

function resolveTextEdit(context: JudgeContext, file: DraftFile, edit: TextEdit): Outcome {
  switch (edit.op) {
    case 'replace':
      return resolveReplace(file.text, edit, stricter(context.maxTier, edit.maxTier ?? context.maxTier))
    case 'lines':
      return resolveLines(file.text, edit)
    case 'insert':
      return resolveInsert(file.text, edit)
    case 'append':
      return resolveAppend(file.text, edit)
    case 'hunks':
      return resolveHunks(file.text, edit, stricter(context.maxTier, edit.maxTier ?? context.maxTier))
    case 'cell':
      return failed('internal', `${edit.op} in ${edit.path}: not built yet`)
    default:
      return assertNever(edit)
  }
}

function unfitForText(context: JudgeContext, file: DraftFile, edit: TextEdit): Refusal | null {
  const { bytes } = file.text
  const what = `${edit.op} in ${edit.path}`
  if (bytes.length > context.fileMaxBytes) {
    return refusal('too-large', `${what}: the file has ${bytes.length} bytes, ${context.fileMaxBytes} are allowed`, {
      bytes: bytes.length,
      maxBytes: context.fileMaxBytes,
    })
  }
  if (file.text.isLfsPointer) return refusal('lfs-pointer', `${what}: the file is a Git LFS pointer`)
  if (file.text.hasNul) return refusal('binary', `${what}: the file holds NUL bytes`)
  return null
}

function textsOf(edit: TextEdit): readonly string[] {
  switch (edit.op) {
    case 'replace':
      return [edit.old, edit.new]
    case 'lines':
      return [edit.content ?? '', edit.expected ?? '']
    case 'insert':
    case 'append':
      return [edit.content]
    case 'cell':
      return [edit.source]
    case 'hunks':
      return edit.hunks.flatMap((hunk) => hunk.anchors)
    default:
      return assertNever(edit)
  }
}

function unfitText(edit: TextEdit): Refusal | null {
  const bad = textsOf(edit).some(hasLoneSurrogate)
  return bad
    ? refusal('not-utf8', `${edit.op} in ${edit.path}: the edit's text has half of a surrogate pair`)
    : null
}

const changesNothing = (file: DraftFile, claims: readonly Claim[]): boolean =>
  claims.every((claim) =>
    sameBytes(file.text.bytes.subarray(claim.offset, claim.offset + claim.length), claim.replacement),
  )
