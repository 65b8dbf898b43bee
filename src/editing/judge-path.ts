import { type DeleteEdit, type Edit, type WriteEdit, wordFor } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { Failure, ItemResult, Remark } from '../model/resolution.ts'
import { asBuffer, sameBytes } from './bytes.ts'
import { clashesOf } from './clashes.ts'
import { applyDelta } from './delta.ts'
import { absentDraft, type DraftFile, type DraftState } from './draft.ts'
import type { FileText } from './file-text.ts'
import { judgeFreshness } from './freshness.ts'
import type { JudgeContext } from './judge-context.ts'
import { isTextEdit } from './judge-edit.ts'
import { failureOf, judgeTexts, noTexts, type Texts } from './judge-texts.ts'
import { LineOrigins } from './line-origins.ts'
import { refuseNewText } from './new-text.ts'
import { refusal } from './outcome.ts'
import { writeRemarks } from './remarks.ts'
import { applyClaims } from './splice.ts'
import { moreLenient } from './tiers.ts'
import { WorkExhausted } from './work.ts'

/** What each stretch of lines costs whose origin is worked out. */
const SEGMENT_COST = 64

/** What one step's edits of one path come to. */
export interface PathVerdict {
  readonly path: string
  readonly failures: readonly Failure[]
  /** The path's content after its edits, before any move. */
  readonly next: DraftState
  readonly results: readonly ItemResult[]
  readonly remarks: readonly Remark[]
}

/** Judges all edits of one path in one step. Every failing edit is reported, not only the first. */
export function judgePath(context: JudgeContext, path: string, edits: readonly Edit[]): PathVerdict {
  const state = context.draft.at(path)
  const verdict = { path, failures: [], next: state, results: [], remarks: [] }
  try {
    return { ...verdict, ...judgeWithinBudget(context, state, edits) }
  } catch (error) {
    if (!(error instanceof WorkExhausted)) throw error
    return { ...verdict, failures: edits.flatMap((edit) => failureOf(edit, tooMuchWork(edit))) }
  }
}

const tooMuchWork = (edit: Edit): Refusal =>
  refusal(
    'too-large',
    `${wordFor(edit)} of ${edit.path}: the batch asks for more searching than one batch may`,
  )

function judgeWithinBudget(
  context: JudgeContext,
  state: DraftState,
  edits: readonly Edit[],
): Partial<PathVerdict> {
  const isWritten = edits.some((edit) => edit.op === 'write')
  const refused = edits.flatMap((edit) => failureOf(edit, refuseWhole(context, state, edit, isWritten)))
  const texts = state.kind === 'file' ? judgeTexts(context, state, edits.filter(isTextEdit)) : noTexts
  const failures = [...clashesOf(edits), ...refused, ...texts.failures]
  if (failures.length > 0) return { failures }
  const swollen = refuseSwollen(context, state, edits, texts)
  if (swollen.length > 0) return { failures: swollen }
  const delta = applyDeltas(context, state, edits)
  if (delta.failures.length > 0) return { failures: delta.failures }
  const next = contentAfter(context, delta.state, edits, texts)
  const tooLarge = next.kind === 'absent' ? [] : refuseSize(context, next.text.bytes.length, edits)
  if (tooLarge.length > 0) return { failures: tooLarge }
  const whole = edits.filter((edit) => !isTextEdit(edit))
  return {
    next,
    results: [
      ...texts.results,
      ...whole.map(({ item, path }): ItemResult => ({ item, path, tier: 'exact', carried: false })),
    ],
    remarks: [
      ...texts.remarks,
      ...edits.flatMap((edit) => (edit.op === 'write' ? writeRemarks(state, edit) : [])),
    ],
  }
}

function refuseWhole(
  context: JudgeContext,
  state: DraftState,
  edit: Edit,
  isWritten: boolean,
): Refusal | null {
  if (isTextEdit(edit) && state.kind === 'file') return null
  return (
    refuseExistence(state, edit, isWritten) ?? refuseStale(context, state, edit) ?? refuseContent(state, edit)
  )
}

function refuseExistence(state: DraftState, edit: Edit, isWritten: boolean): Refusal | null {
  if (edit.op === 'write') return refuseWrite(state, edit)
  const isMade = edit.op === 'chmod' && isWritten
  if (state.kind === 'file' || isMade) return null
  return refusal('not-found', `${wordFor(edit)} of ${edit.path}: the file does not exist`)
}

function refuseStale(context: JudgeContext, state: DraftState, edit: Edit): Refusal | null {
  const freshness = judgeFreshness(context, state, edit)
  return freshness.kind === 'stale' ? freshness.refusal : null
}

function refuseContent(state: DraftState, edit: Edit): Refusal | null {
  if (edit.op === 'write') return refuseNewText(state, edit)
  return edit.op === 'delete' && state.kind === 'file' ? refuseDelete(state, edit) : null
}

function refuseWrite(state: DraftState, edit: WriteEdit): Refusal | null {
  if (edit.mode === 'create' && state.kind === 'file') {
    return refusal('exists', `create ${edit.path}: the file exists`, { blob: state.text.blob })
  }
  if (edit.mode === 'overwrite' && state.kind === 'absent') {
    return refusal('not-found', `overwrite ${edit.path}: the file does not exist`)
  }
  return edit.isText && state.kind === 'file' ? refuseAsText(state, edit) : null
}

/** What is no text is not replaced by text: the requester most likely took it for one. */
function refuseAsText({ text }: DraftFile, edit: WriteEdit): Refusal | null {
  const what = `write of ${edit.path}`
  if (text.isLfsPointer) return refusal('lfs-pointer', `${what}: the file is a Git LFS pointer`)
  return text.hasNul ? refusal('binary', `${what}: the file holds NUL bytes`) : null
}

function refuseDelete(state: DraftFile, edit: DeleteEdit): Refusal | null {
  if (edit.expectedContent === undefined || sameBytes(state.text.bytes, edit.expectedContent)) return null
  return refusal('no-match', `delete ${edit.path}: the file does not hold what the request says it deletes`, {
    expectedBytes: edit.expectedContent.length,
    actualBytes: state.text.bytes.length,
    blob: state.text.blob,
  })
}

const makesContent = (edit: Edit): boolean => isTextEdit(edit) || edit.op === 'write' || edit.op === 'delta'

/** The last of the edits that make content answers for its size. */
function refuseSize(context: JudgeContext, bytes: number, edits: readonly Edit[]): readonly Failure[] {
  const edit = edits.findLast(makesContent)
  const maxBytes = context.fileMaxBytes
  if (edit === undefined || bytes <= maxBytes) return []
  const message = `${wordFor(edit)} of ${edit.path}: the result has ${bytes} bytes, ${maxBytes} are allowed`
  return failureOf(edit, refusal('too-large', message, { bytes, maxBytes }))
}

/** Refuses a result that is too large before it is made. */
function refuseSwollen(
  context: JudgeContext,
  state: DraftState,
  edits: readonly Edit[],
  { claims }: Texts,
): readonly Failure[] {
  if (state.kind === 'absent' || claims.length === 0) return []
  const bytes = claims.reduce(
    (sum, claim) => sum + claim.replacement.length - claim.length,
    state.text.bytes.length,
  )
  return refuseSize(context, bytes, edits)
}

function contentAfter(
  context: JudgeContext,
  state: DraftState,
  edits: readonly Edit[],
  texts: Texts,
): DraftState {
  if (edits.some((edit) => edit.op === 'delete')) return absentDraft
  return edits.reduce<DraftState>(
    (current, edit) => withWhole(context, current, edit),
    spliced(context, state, texts),
  )
}

/** At most one edit of a path is a delta: others would clash. */
function applyDeltas(
  context: JudgeContext,
  state: DraftState,
  edits: readonly Edit[],
): { readonly state: DraftState; readonly failures: readonly Failure[] } {
  const edit = edits.find((each) => each.op === 'delta')
  if (edit === undefined || state.kind === 'absent') return { state, failures: [] }
  const result = applyDelta(state.text.bytes, asBuffer(edit.delta), context.fileMaxBytes)
  if (result.kind === 'faulty') {
    const refused = refusal('parse-error', `delta of ${edit.path}: ${result.reason}`)
    return { state, failures: failureOf(edit, refused) }
  }
  const text = context.draft.text(result.bytes)
  return { state: { ...state, text, origins: LineOrigins.own }, failures: [] }
}

function spliced(context: JudgeContext, state: DraftState, texts: Texts): DraftState {
  if (state.kind === 'absent' || texts.claims.length === 0) return state
  const bytes = applyClaims(state.text.bytes, texts.claims)
  const text = context.draft.spliced(state.text, bytes, texts.claims)
  return {
    ...state,
    text,
    tier: moreLenient(state.tier, texts.tier),
    origins: originsAfter(state, text, texts),
  }
}

function originsAfter(state: DraftFile, text: FileText, { regions }: Texts): LineOrigins {
  // Where other bytes end the lines now, numbers before and after have nothing to do with one another.
  if (text.lines.usesCr !== state.text.lines.usesCr) return LineOrigins.own
  text.work.spend(SEGMENT_COST * (state.origins.size + regions.length))
  return state.origins.after(regions, { before: state.text.lines.count, after: text.lines.count })
}

function withWhole(context: JudgeContext, state: DraftState, edit: Edit): DraftState {
  if (edit.op === 'chmod') return state.kind === 'file' ? { ...state, executable: edit.executable } : state
  if (edit.op !== 'write') return state
  const text = context.draft.text(edit.content)
  if (state.kind === 'absent') {
    const executable = edit.executable ?? false
    return {
      kind: 'file',
      text,
      executable,
      origin: null,
      isRewritten: true,
      identity: null,
      tier: 'exact',
      origins: LineOrigins.own,
    }
  }
  return {
    ...state,
    text,
    isRewritten: true,
    executable: edit.executable ?? state.executable,
    origins: LineOrigins.own,
  }
}
