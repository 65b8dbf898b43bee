import type { Edit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { Failure, ItemResult, Remark } from '../model/resolution.ts'
import type { DraftFile } from './draft.ts'
import type { JudgeContext } from './judge-context.ts'
import { judgeTextEdit, type TextEdit } from './judge-edit.ts'
import type { ChangedRegion } from './line-origins.ts'
import { type ChangedLines, changedLines } from './line-results.ts'
import type { Claim, Outcome } from './outcome.ts'
import { textRemarks } from './remarks.ts'
import { collisions, sortClaims } from './splice.ts'
import { moreLenient } from './tiers.ts'

/** A refusal as a failure of its edit; nothing where there is none. */
export const failureOf = (edit: Edit, refused: Refusal | null): readonly Failure[] =>
  refused === null ? [] : [{ ...refused, item: edit.item, path: edit.path }]

/** What the text edits of one path and step come to, taken together. */
export interface Texts {
  readonly failures: readonly Failure[]
  readonly claims: readonly Claim[]
  readonly regions: readonly ChangedRegion[]
  readonly results: readonly ItemResult[]
  readonly remarks: readonly Remark[]
  readonly tier: ItemResult['tier']
}

export const noTexts: Texts = {
  failures: [],
  claims: [],
  regions: [],
  results: [],
  remarks: [],
  tier: 'exact',
}

/** Judges text edits of one file that all refer to its bytes before the step; their claims may not overlap. */
export function judgeTexts(context: JudgeContext, file: DraftFile, edits: readonly TextEdit[]): Texts {
  const judged = edits.map((edit) => ({ edit, outcome: judgeTextEdit(context, file, edit) }))
  const failures = judged.flatMap(({ edit, outcome }) =>
    outcome.kind === 'failed' ? failureOf(edit, outcome.refusal) : [],
  )
  const taken = judged.flatMap(({ edit, outcome }) => (outcome.kind === 'claims' ? [{ edit, outcome }] : []))
  const claims = sortClaims(taken.flatMap(({ outcome }) => outcome.claims))
  const overlaps = overlapFailures(file, claims, edits)
  if (failures.length + overlaps.length > 0) return { ...noTexts, failures: [...failures, ...overlaps] }
  const lines = changedLines(file.text.lines, claims)
  const reported = taken.map(({ edit, outcome }) => ({
    edit,
    outcome,
    result: resultOf(edit, outcome, lines.byClaim),
  }))
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

function overlapFailures(
  file: DraftFile,
  claims: readonly Claim[],
  edits: readonly TextEdit[],
): readonly Failure[] {
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
    ...(outcome.places === undefined ? {} : { places: outcome.places }),
  }
}

type LineSpan = { readonly from: number; readonly to: number }

function hull(spans: readonly LineSpan[]): LineSpan | null {
  const [first, ...rest] = spans
  if (first === undefined) return null
  return rest.reduce(
    (all, next) => ({ from: Math.min(all.from, next.from), to: Math.max(all.to, next.to) }),
    first,
  )
}
