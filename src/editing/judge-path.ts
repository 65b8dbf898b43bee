import type { DeleteEdit, Edit, WriteEdit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { Failure, ItemResult, Remark } from '../model/resolution.ts'
import { sameBytes } from './bytes.ts'
import { clashesOf } from './clashes.ts'
import { absentDraft, type DraftFile, type DraftState } from './draft.ts'
import { judgeFreshness } from './freshness.ts'
import { isTextEdit, type JudgeContext, judgeTextEdit, type TextEdit } from './judge-edit.ts'
import type { ChangedRegion } from './line-history.ts'
import { type ChangedLines, changedLines } from './line-results.ts'
import { refuseNewText } from './new-text.ts'
import { type Claim, type Outcome, refusal } from './outcome.ts'
import { textRemarks, writeRemarks } from './remarks.ts'
import { applyClaims, collisions, sortClaims } from './splice.ts'
import { moreLenient } from './tiers.ts'

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
  const clashes = clashesOf(edits)
  const refused = edits.flatMap((edit) => failureOf(edit, refuseWhole(context, state, edit, edits)))
  const texts = state.kind === 'file' ? judgeTexts(context, state, edits.filter(isTextEdit), refused) : noTexts
  const failures = [...clashes, ...refused, ...texts.failures]
  if (failures.length > 0) return { path, failures, next: state, results: [], remarks: [] }
  const next = contentAfter(context, state, edits, texts)
  const tooLarge = edits.slice(-1).flatMap((edit) => failureOf(edit, refuseSize(context, next, edit)))
  if (tooLarge.length > 0) return { path, failures: tooLarge, next: state, results: [], remarks: [] }
  const others = edits.filter((edit) => !isTextEdit(edit))
  const plain = others.map(({ item }): ItemResult => ({ item, path, tier: 'exact', carried: false }))
  return {
    path,
    failures: [],
    next,
    results: [...texts.results, ...plain],
    remarks: [...texts.remarks, ...edits.flatMap((edit) => (edit.op === 'write' ? writeRemarks(state, edit) : []))],
  }
}

const failureOf = (edit: Edit, refused: Refusal | null): readonly Failure[] =>
  refused === null ? [] : [{ ...refused, item: edit.item, path: edit.path }]

function refuseWhole(context: JudgeContext, state: DraftState, edit: Edit, all: readonly Edit[]): Refusal | null {
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

function refuseSize(context: JudgeContext, next: DraftState, edit: Edit): Refusal | null {
  if (next.kind === 'absent' || next.text.bytes.length <= context.fileMaxBytes) return null
  if (edit.op === 'move' || edit.op === 'chmod' || edit.op === 'copy') return null
  const bytes = next.text.bytes.length
  return refusal('too-large', `${edit.op} of ${edit.path}: the result has ${bytes} bytes, ${context.fileMaxBytes} are allowed`, {
    bytes,
    maxBytes: context.fileMaxBytes,
  })
}

interface Texts {
  readonly failures: readonly Failure[]
  readonly claims: readonly Claim[]
  readonly regions: readonly ChangedRegion[]
  readonly results: readonly ItemResult[]
  readonly remarks: readonly Remark[]
  readonly tier: ItemResult['tier']
}

const noTexts: Texts = { failures: [], claims: [], regions: [], results: [], remarks: [], tier: 'exact' }

function judgeTexts(
  context: JudgeContext,
  file: DraftFile,
  edits: readonly TextEdit[],
  refused: readonly Failure[],
): Texts {
  const judged = edits
    .filter((edit) => !refused.some((failure) => failure.item === edit.item))
    .map((edit) => ({ edit, outcome: judgeTextEdit(context, file, edit) }))
  const failures = judged.flatMap(({ edit, outcome }) =>
    outcome.kind === 'failed' ? failureOf(edit, outcome.refusal) : [],
  )
  const taken = judged.flatMap(({ edit, outcome }) => (outcome.kind === 'claims' ? [{ edit, outcome }] : []))
  const claims = sortClaims(taken.flatMap(({ outcome }) => outcome.claims))
  const overlaps = overlapFailures(file, claims, edits)
  if (failures.length + overlaps.length > 0) return { ...noTexts, failures: [...failures, ...overlaps] }
  const lines = changedLines(file.text.lines, claims)
  const reported = taken.map(({ edit, outcome }) => ({ edit, outcome, result: resultOf(edit, outcome, lines.byClaim) }))
  return {
    failures: [],
    claims,
    regions: lines.regions,
    results: reported.map(({ result }) => result),
    remarks: reported.flatMap(({ edit, outcome, result }) => [
      ...outcome.remarks,
      ...textRemarks(file.text, edit, { claims: outcome.claims, result }),
    ]),
    tier: taken.reduce<ItemResult['tier']>((tier, { outcome }) => moreLenient(tier, outcome.tier), 'exact'),
  }
}

function overlapFailures(file: DraftFile, claims: readonly Claim[], edits: readonly TextEdit[]): readonly Failure[] {
  const table = file.text.lines
  const linesOf = (claim: Claim): string => {
    const from = table.lineAt(claim.claimStart) + 1
    const to = table.lineAt(Math.max(claim.claimStart, claim.claimEnd - 1)) + 1
    return from === to ? `line ${from}` : `lines ${from} to ${to}`
  }
  const path = edits[0]?.path ?? ''
  return collisions(claims).map(({ first, second }) => ({
    code: 'overlap',
    message: `${namesOf(first, second)} of ${path} claim the same bytes: ${linesOf(first)}, and ${linesOf(second)}`,
    data: { items: [first.item, second.item] },
    item: Math.max(first.item, second.item),
    path,
  }))
}

const namesOf = (first: Claim, second: Claim): string =>
  first.item === second.item
    ? `two parts of edit ${first.item + 1}`
    : `edits ${first.item + 1} and ${second.item + 1}`

function resultOf(
  edit: TextEdit,
  outcome: Extract<Outcome, { kind: 'claims' }>,
  lines: ReadonlyMap<Claim, ChangedLines>,
): ItemResult {
  const changed = outcome.claims.flatMap((claim) => lines.get(claim) ?? [])
  const oldLines = hull(changed.flatMap((lines) => lines.oldLines ?? []))
  const newLines = hull(changed.flatMap((lines) => lines.newLines ?? []))
  return {
    item: edit.item,
    path: edit.path,
    tier: outcome.tier,
    carried: outcome.carried,
    ...(oldLines === null ? {} : { oldLines }),
    ...(newLines === null ? {} : { newLines }),
  }
}

type LineSpan = { readonly from: number; readonly to: number }

function hull(spans: readonly LineSpan[]): LineSpan | null {
  const [first, ...rest] = spans
  if (first === undefined) return null
  return rest.reduce((all, next) => ({ from: Math.min(all.from, next.from), to: Math.max(all.to, next.to) }), first)
}

function contentAfter(context: JudgeContext, state: DraftState, edits: readonly Edit[], texts: Texts): DraftState {
  if (edits.some((edit) => edit.op === 'delete')) return absentDraft
  return edits.reduce<DraftState>((current, edit) => withWhole(context, current, edit), spliced(context, state, texts))
}

function spliced(context: JudgeContext, state: DraftState, texts: Texts): DraftState {
  if (state.kind === 'absent' || texts.claims.length === 0) return state
  return {
    ...state,
    text: context.draft.text(applyClaims(state.text.bytes, texts.claims)),
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
    return { kind: 'file', text, executable, origin: null, identity: null, tier: 'exact', past: [{ kind: 'whole' }] }
  }
  return { ...state, text, executable: edit.executable ?? state.executable, past: [...state.past, { kind: 'whole' }] }
}
