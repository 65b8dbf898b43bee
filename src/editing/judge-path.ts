import type { DeleteEdit, Edit, WriteEdit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { Failure, ItemResult, Remark } from '../model/resolution.ts'
import { asBuffer, sameBytes } from './bytes.ts'
import { clashesOf } from './clashes.ts'
import { applyDelta } from './delta.ts'
import { absentDraft, type DraftFile, type DraftState } from './draft.ts'
import { judgeFreshness } from './freshness.ts'
import { isTextEdit, type JudgeContext } from './judge-edit.ts'
import { failureOf, judgeTexts, noTexts, type Texts } from './judge-texts.ts'
import { refuseNewText } from './new-text.ts'
import { refusal } from './outcome.ts'
import { writeRemarks } from './remarks.ts'
import { applyClaims } from './splice.ts'
import { moreLenient } from './tiers.ts'
import { WorkExhausted } from './work.ts'

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
  refusal('too-large', `${edit.op} of ${edit.path}: the batch asks for more searching than one batch may`)

function judgeWithinBudget(
  context: JudgeContext,
  state: DraftState,
  edits: readonly Edit[],
): Partial<PathVerdict> {
  const refused = edits.flatMap((edit) => failureOf(edit, refuseWhole(context, state, edit, edits)))
  const texts = state.kind === 'file' ? judgeTexts(context, state, edits.filter(isTextEdit)) : noTexts
  const failures = [...clashesOf(edits), ...refused, ...texts.failures]
  if (failures.length > 0) return { failures }
  const delta = applyDeltas(context, state, edits)
  if (delta.failures.length > 0) return { failures: delta.failures }
  const next = contentAfter(context, delta.state, edits, texts)
  const tooLarge = edits
    .filter(makesContent)
    .slice(-1)
    .flatMap((edit) => failureOf(edit, refuseSize(context, next, edit)))
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
  all: readonly Edit[],
): Refusal | null {
  if (isTextEdit(edit) && state.kind === 'file') return null
  return refuseExistence(state, edit, all) ?? refuseStale(context, state, edit) ?? refuseContent(state, edit)
}

function refuseExistence(state: DraftState, edit: Edit, all: readonly Edit[]): Refusal | null {
  if (edit.op === 'write') return refuseWrite(state, edit)
  const isMade = edit.op === 'chmod' && all.some((other) => other.op === 'write')
  if (state.kind === 'file' || isMade) return null
  return refusal('not-found', `${edit.op} of ${edit.path}: the file does not exist`)
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
  return null
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

function refuseSize(context: JudgeContext, next: DraftState, edit: Edit): Refusal | null {
  if (next.kind === 'absent' || next.text.bytes.length <= context.fileMaxBytes) return null
  const bytes = next.text.bytes.length
  return refusal(
    'too-large',
    `${edit.op} of ${edit.path}: the result has ${bytes} bytes, ${context.fileMaxBytes} are allowed`,
    {
      bytes,
      maxBytes: context.fileMaxBytes,
    },
  )
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
  return { state: { ...state, text, past: [...state.past, { kind: 'whole' }] }, failures: [] }
}

function spliced(context: JudgeContext, state: DraftState, texts: Texts): DraftState {
  if (state.kind === 'absent' || texts.claims.length === 0) return state
  const bytes = applyClaims(state.text.bytes, texts.claims)
  return {
    ...state,
    text: context.draft.spliced(state.text, bytes, texts.claims),
    tier: moreLenient(state.tier, texts.tier),
    past: [...state.past, { kind: 'spliced', regions: texts.regions }],
  }
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
      identity: null,
      tier: 'exact',
      past: [{ kind: 'whole' }],
    }
  }
  return {
    ...state,
    text,
    executable: edit.executable ?? state.executable,
    past: [...state.past, { kind: 'whole' }],
  }
}
