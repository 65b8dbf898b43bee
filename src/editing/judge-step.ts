import { type CopyEdit, type Edit, type MoveEdit, wordFor } from '../model/edit.ts'
import type { Failure, ItemResult, Remark } from '../model/resolution.ts'
import { absentDraft, type Draft, type DraftFile, type DraftState } from './draft.ts'
import type { JudgeContext } from './judge-context.ts'
import { judgePath, type PathVerdict } from './judge-path.ts'

export interface StepVerdict {
  readonly failures: readonly Failure[]
  readonly results: readonly ItemResult[]
  readonly remarks: readonly Remark[]
  /** Paths that failed, and those that a failed move or copy was to fill: later steps on them are left unjudged. */
  readonly failedPaths: readonly string[]
}

/** Judges one step and, path by path where nothing failed, carries it out in the draft. */
export function judgeStep(context: JudgeContext, edits: readonly Edit[]): StepVerdict {
  const groups = groupByPath(edits)
  const before = new Map([...groups.keys()].map((path) => [path, context.draft.at(path)]))
  const verdicts = [...groups].map(([path, group]) => judgePath(context, path, group))
  const relocations = edits.filter((edit) => edit.op === 'move' || edit.op === 'copy')
  const failedPaths = new Set(verdicts.filter(hasFailed).map(({ path }) => path))
  const targetFailures = judgeTargets(context.draft, relocations, groups, failedPaths)
  const failures = [...verdicts.flatMap((verdict) => verdict.failures), ...targetFailures]
  for (const failure of targetFailures) failedPaths.add(failure.path)
  for (const edit of relocations) if (failedPaths.has(edit.path)) failedPaths.add(edit.to)
  const taken = verdicts.filter(({ path }) => !failedPaths.has(path))
  carryOut(context.draft, { taken, relocations, before, failedPaths })
  return {
    failures,
    results: taken.flatMap((verdict) => verdict.results),
    remarks: taken.flatMap((verdict) => verdict.remarks),
    failedPaths: [...failedPaths],
  }
}

const hasFailed = (verdict: PathVerdict): boolean => verdict.failures.length > 0

function groupByPath(edits: readonly Edit[]): ReadonlyMap<string, readonly Edit[]> {
  const groups = new Map<string, Edit[]>()
  for (const edit of edits) {
    const group = groups.get(edit.path)
    if (group === undefined) groups.set(edit.path, [edit])
    else group.push(edit)
  }
  return groups
}

/** Moves and copies whose target is taken: by a file that stays, or by another edit of the step. */
function judgeTargets(
  draft: Draft,
  relocations: readonly (MoveEdit | CopyEdit)[],
  groups: ReadonlyMap<string, readonly Edit[]>,
  failedPaths: ReadonlySet<string>,
): readonly Failure[] {
  const filled = new Map<string, MoveEdit | CopyEdit>()
  const failures: Failure[] = []
  for (const edit of relocations) {
    if (failedPaths.has(edit.path) || edit.to === edit.path) continue
    const group = groups.get(edit.to) ?? []
    const rival = filled.get(edit.to) ?? group.find((other) => other.op === 'write')
    if (rival !== undefined) failures.push(targetClash(rival, edit))
    else if (draft.at(edit.to).kind === 'file' && !isVacated(group)) {
      failures.push({
        code: 'exists',
        message: `${wordFor(edit)} ${edit.path} to ${edit.to}: the target exists`,
        data: { to: edit.to },
        item: edit.item,
        path: edit.path,
      })
    }
    filled.set(edit.to, edit)
  }
  return failures
}

const isVacated = (group: readonly Edit[]): boolean =>
  group.some((edit) => edit.op === 'delete' || (edit.op === 'move' && edit.to !== edit.path))

const targetClash = (rival: Edit, edit: MoveEdit | CopyEdit): Failure => ({
  code: 'overlap',
  message: `edits ${rival.item + 1} (${wordFor(rival)}) and ${edit.item + 1} (${wordFor(edit)}) both fill ${edit.to}`,
  data: { items: [rival.item, edit.item] },
  item: edit.item,
  path: edit.path,
})

interface StepOutcome {
  readonly taken: readonly PathVerdict[]
  readonly relocations: readonly (MoveEdit | CopyEdit)[]
  readonly before: ReadonlyMap<string, DraftState>
  readonly failedPaths: ReadonlySet<string>
}

/** Contents first, then the old names of moved files are given up, then the new names are filled. */
function carryOut(draft: Draft, { taken, relocations, before, failedPaths }: StepOutcome): void {
  const next = new Map(taken.map((verdict) => [verdict.path, verdict.next]))
  const valid = relocations.filter((edit) => !failedPaths.has(edit.path) && edit.to !== edit.path)
  for (const [path, state] of next) draft.set(path, state)
  for (const edit of valid) if (edit.op === 'move') draft.set(edit.path, absentDraft)
  for (const edit of valid) {
    const state = edit.op === 'move' ? next.get(edit.path) : before.get(edit.path)
    if (state?.kind === 'file') draft.set(edit.to, edit.op === 'move' ? state : copied(state))
  }
}

/** A copy has the source's bytes and mode and a life of its own. */
const copied = (state: DraftFile): DraftState => ({ ...state, identity: null })
