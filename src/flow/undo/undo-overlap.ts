import { parseCommit } from '../../git/commit.ts'
import { type ChainLink, newestFirst } from '../../git/commit-chain.ts'
import { findRenames } from '../../git/diff-tree.ts'
import { locateConflicts } from '../../git/merge-file.ts'
import type { Refusal } from '../../model/error.ts'
import type { ChangeId, CommitId, TreeId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { type ConflictFact, type LaterFact, overlapRefusal } from '../../policy/undo-text.ts'
import { readChangeRefs } from '../../store/change-refs.ts'
import type { ObjectsAside } from '../../store/objects-aside.ts'
import { bytesAt, type ConflictPaths, drawConflicts } from '../draw-conflicts.ts'
import { changeIdIn } from '../mark-undone.ts'
import { findLater, type LaterCommit } from './undo-later.ts'
import {
  type ChainOutcome,
  type MergeMemory,
  mergeSteps,
  type PreparedStep,
  prepareWhole,
} from './undo-merge.ts'
import type { UndoPlan, UndoStep } from './undo-target.ts'

export type TakenBack =
  | {
      readonly kind: 'clean'
      readonly tree: TreeId
      /** Newest first; those of the plan, and the later ones that had to go with them. */
      readonly steps: readonly PreparedStep[]
      readonly later: readonly LaterFact[]
    }
  | { readonly kind: 'overlap'; readonly refusal: Refusal }

type Conflict = Extract<ChainOutcome, { kind: 'conflict' }>

/**
 * Undoes a plan's steps in objects. Where later commits stand in the way they are found, and what stands in theirs, until it
 * works or nobody more is found; with `withLater` they are undone too.
 */
export async function takeBack(
  aside: ObjectsAside,
  plan: UndoPlan,
  prepared: readonly PreparedStep[],
  withLater: boolean,
): Promise<TakenBack> {
  const tip = await aside.stored.commitTree(plan.tip)
  const memory: MergeMemory = new Map()
  const later: LaterFact[] = []
  let steps = prepared
  let first: Conflict | null = null
  for (;;) {
    const outcome = await mergeSteps(aside, steps, tip, memory)
    if (outcome.kind === 'clean') {
      if (first === null || withLater)
        return { kind: 'clean', tree: outcome.tree, steps, later: inOrder(steps, later) }
      return overlap(aside, plan, { first, later: inOrder(steps, later), isSolvable: true })
    }
    first ??= outcome
    const found = await newInTheWay(aside, plan, steps, outcome)
    if (found.length === 0 || steps.length + found.length > limits.undoMaxCommits)
      return overlap(aside, plan, { first, later: inOrder(steps, later), isSolvable: false })
    for (const commit of found) later.push(await factOf(aside, commit))
    steps = await withSteps(aside, plan, steps, found, later)
  }
}

/** Later commits in the way of the step at which the chain stopped, that are not undone yet. */
async function newInTheWay(
  aside: ObjectsAside,
  plan: UndoPlan,
  steps: readonly PreparedStep[],
  { at, merge }: Conflict,
): Promise<readonly LaterCommit[]> {
  const { step, searched } = at
  const canRename =
    searched.some((t) => t.newMode === '000000') && searched.some((t) => t.oldMode === '000000')
  const renames = canRename ? await findRenames(aside.door, step.since.parent, step.since.commit) : new Map()
  const found = await findLater(aside, {
    step,
    own: searched,
    renames,
    conflictPaths: merge.paths,
    tip: plan.tip,
  })
  const known = new Set(steps.map((s) => s.step.commit))
  return found.filter(({ link }) => !known.has(link.commit))
}

async function factOf(aside: ObjectsAside, { link, paths, how }: LaterCommit): Promise<LaterFact> {
  const { message } = await parseCommit(aside.stored, link.commit)
  return {
    commit: link.commit,
    title: link.title,
    id: await knownChange(aside, changeIdIn(message)),
    paths,
    how,
  }
}

/** A trailer is only text: the change must be there. */
async function knownChange({ door }: ObjectsAside, id: ChangeId | null): Promise<ChangeId | null> {
  if (id === null) return null
  return (await readChangeRefs({ door }, id)).log === null ? null : id
}

async function withSteps(
  aside: ObjectsAside,
  plan: UndoPlan,
  steps: readonly PreparedStep[],
  found: readonly LaterCommit[],
  facts: readonly LaterFact[],
): Promise<readonly PreparedStep[]> {
  const ids = new Map(facts.map((fact) => [fact.commit, fact.id]))
  const added = await Promise.all(
    found.map(({ link }) => prepareWhole(aside, laterStep(link, ids.get(link.commit) ?? null))),
  )
  const all = new Map([...steps, ...added].map((s) => [s.step.commit, s]))
  const hint = plan.steps.at(-1)?.parent ?? null
  const order = await newestFirst(aside.door, [...all.keys()], { tip: plan.tip, hint })
  return order.flatMap((commit) => all.get(commit) ?? [])
}

const laterStep = (link: ChainLink, id: ChangeId | null): UndoStep => ({
  commit: link.commit,
  parent: link.parent,
  direction: 'back',
  since: link,
  title: link.title,
  id,
  change: null,
  isMerge: link.isMerge,
  takesBack: false,
  isLater: true,
})

/** Newest first, as they are undone. */
const inOrder = (steps: readonly PreparedStep[], later: readonly LaterFact[]): readonly LaterFact[] =>
  steps.flatMap(({ step }) => later.filter((fact) => fact.commit === step.commit))

async function overlap(
  aside: ObjectsAside,
  plan: UndoPlan,
  found: { readonly first: Conflict; readonly later: readonly LaterFact[]; readonly isSolvable: boolean },
): Promise<TakenBack> {
  const { at, merge } = found.first
  const asked = plan.steps[0]?.id
  const what = plan.session === null && asked ? asked : (at.step.id ?? at.step.commit.slice(0, 12))
  const refusal = overlapRefusal({
    what,
    commit: at.step.commit,
    paths: merge.paths,
    messages: merge.messages.map((text) => readable(text, merge.sides)),
    conflicts: await drawn(aside, found.first, plan.tip),
    later: found.later,
    isSolvable: found.isSolvable,
    partOptions: plan.isRedo ? [] : plan.session === null ? ['--path', '--hunk'] : ['--path'],
  })
  return { kind: 'overlap', refusal }
}

/** git names the passing commits, which nobody knows. */
const readable = (text: string, sides: { readonly ours: CommitId; readonly theirs: CommitId }): string =>
  text.replaceAll(sides.ours, 'the branch').replaceAll(sides.theirs, 'the undo')

async function drawn(
  aside: ObjectsAside,
  conflict: Conflict,
  tip: CommitId,
): Promise<readonly ConflictFact[]> {
  const { at, ours, merge } = conflict
  const since = await findRenames(aside.door, at.step.commit, tip)
  const before = await findRenames(aside.door, at.step.parent, at.step.commit)
  const own = new Set(at.own.map((t) => t.path))
  const names = merge.paths.map((path): ConflictPaths => {
    const base = own.has(path) ? path : (since.get(path) ?? path)
    return { path, ours: path, base, theirs: before.get(base) ?? base }
  })
  const drawings = await drawConflicts(aside.reader, names, { base: at.base, ours, theirs: at.theirs })
  return Promise.all(
    drawings.map(async ({ path, drawing }) => ({
      path,
      lines: await linesAt(aside, conflict, path),
      drawing,
    })),
  )
}

/** Lines of the branch's file between git's conflict markers. */
async function linesAt(
  aside: ObjectsAside,
  { ours, merge }: Conflict,
  path: string,
): Promise<ConflictFact['lines']> {
  const [mine, merged] = await Promise.all([
    bytesAt(aside.reader, ours, path),
    bytesAt(aside.reader, merge.tree, path),
  ])
  if (mine === null || merged === null) return []
  return locateConflicts(mine, merged, { open: `<<<<<<< ${merge.sides.ours}`, middle: '=======' })
}
