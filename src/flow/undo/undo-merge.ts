import { findRenames } from '../../git/diff-tree.ts'
import { mergeTrees, type TreeMerge } from '../../git/merge-trees.ts'
import { walkTrees } from '../../git/walk-trees.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { Policy } from '../../model/policy.ts'
import { pathsOutside, type UndoWish } from '../../policy/undo-decision.ts'
import type { ObjectsAside } from '../../store/objects-aside.ts'
import { choosePart } from './undo-part.ts'
import type { UndoPlan, UndoStep } from './undo-target.ts'

/** A step with the trees to merge. */
export interface PreparedStep {
  readonly step: UndoStep
  readonly base: TreeId
  /** A commit that holds `base`. */
  readonly baseCommit: CommitId
  readonly theirs: TreeId
  /** What it takes back: transitions from the commit's parent to the commit, of the part alone where it is one. */
  readonly own: Manifest
  /** What made the lines as this step expects them, on the same paths. */
  readonly searched: Manifest
  /** Paths, where only a part is taken back. */
  readonly part: readonly string[] | null
}

export type ChainOutcome =
  | { readonly kind: 'clean'; readonly tree: TreeId }
  | {
      readonly kind: 'conflict'
      readonly at: PreparedStep
      /** What the branch would be when the newer steps are undone. */
      readonly ours: TreeId
      readonly merge: Extract<TreeMerge, { kind: 'conflict' }>
    }

/** Merges that were made before: a search for what is in the way makes the same ones again and again. */
export type MergeMemory = Map<string, TreeMerge>

/** Undoes the steps one after another, newest first, in the object store: each is one three-way merge onto the result of the last. */
export async function mergeSteps(
  aside: ObjectsAside,
  steps: readonly PreparedStep[],
  tip: TreeId,
  memory: MergeMemory,
): Promise<ChainOutcome> {
  let ours = tip
  for (const at of steps) {
    const merge = await mergeOne(aside, at, ours, memory)
    if (merge.kind === 'conflict') return { kind: 'conflict', at, ours, merge }
    ours = merge.tree
  }
  return { kind: 'clean', tree: ours }
}

async function mergeOne(
  aside: ObjectsAside,
  { base, baseCommit, theirs }: PreparedStep,
  ours: TreeId,
  memory: MergeMemory,
): Promise<TreeMerge> {
  // Where only one side differs from the base there is nothing to merge.
  if (ours === base) return { kind: 'clean', tree: theirs }
  if (theirs === base || theirs === ours) return { kind: 'clean', tree: ours }
  const key = `${base} ${ours} ${theirs}`
  const known = memory.get(key)
  if (known !== undefined) return known
  const { makeCommit } = aside
  const merge = await mergeTrees(aside.door, { base, baseCommit, ours, theirs, makeCommit })
  memory.set(key, merge)
  return merge
}

/** The trees of a step taken back, or applied again, as a whole. */
export async function prepareWhole({ stored: reader }: ObjectsAside, step: UndoStep): Promise<PreparedStep> {
  const treesOf = async (commit: CommitId, parent: CommitId) =>
    Promise.all([reader.commitTree(commit), reader.commitTree(parent)])
  const [after, before] = await treesOf(step.commit, step.parent)
  const own = await walkTrees(reader, before, after)
  if (step.direction === 'back')
    return { step, base: after, baseCommit: step.commit, theirs: before, own, searched: own, part: null }
  const [sinceAfter, sinceBefore] = await treesOf(step.since.commit, step.since.parent)
  const paths = new Set(own.map((t) => t.path))
  const searched = (await walkTrees(reader, sinceBefore, sinceAfter)).filter((t) => paths.has(t.path))
  return { step, base: before, baseCommit: step.parent, theirs: after, own, searched, part: null }
}

/**
 * The trees of all steps of a plan, each cut down to the part that is wished. A step of which nothing is wished is left out.
 *
 * @throws GalleyError `not-found`, if a path names nothing in any of them; `out-of-range`.
 */
export async function prepareSteps(
  aside: ObjectsAside,
  plan: UndoPlan,
  wish: Pick<UndoWish, 'paths' | 'hunks'>,
  policy: Policy,
): Promise<readonly PreparedStep[]> {
  const whole: PreparedStep[] = []
  for (const step of plan.steps) whole.push(await prepareWhole(aside, step))
  if (wish.paths.length + wish.hunks.length === 0) return whole
  const unknown = new Set(wish.paths)
  const cut: PreparedStep[] = []
  for (const prepared of whole) {
    const { step, own } = prepared
    const laterNames = await namesSince(aside, step.commit, plan.tip, own, wish.paths)
    const part = await choosePart(aside, {
      step,
      manifest: own,
      before: prepared.theirs,
      wish,
      policy,
      laterNames,
    })
    for (const path of wish.paths) if (!part.unknownPaths.includes(trimmed(path))) unknown.delete(path)
    if (part.kind === 'whole') cut.push(prepared)
    if (part.kind !== 'part') continue
    const chosen = new Set(part.paths)
    const some = own.filter((t) => chosen.has(t.path))
    cut.push({ ...prepared, theirs: part.theirs, own: some, searched: some, part: part.paths })
  }
  refuseUnknown([...unknown], whole)
  return cut
}

const trimmed = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path)

function refuseUnknown(unknown: readonly string[], steps: readonly PreparedStep[]): void {
  if (unknown.length === 0) return
  const paths = [...new Set(steps.flatMap((s) => s.own.map((t) => t.path)))].sort()
  const shown = paths.slice(0, 10).map((path) => JSON.stringify(path))
  const more = paths.length > shown.length ? ` and ${paths.length - shown.length} more` : ''
  refuse(
    'not-found',
    `undo ${unknown.map((path) => JSON.stringify(path)).join(', ')}: what is to be undone changes ${shown.join(', ')}${more}`,
    { unknown, paths: paths.slice(0, 200) },
    'Name paths from the root of the work tree, files or directories.',
  )
}

/** Path in the commit to its name now, where one of the paths wished for is no path of the commit. */
async function namesSince(
  aside: ObjectsAside,
  commit: CommitId,
  tip: CommitId,
  own: Manifest,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const isOld = (path: string) => own.some((t) => t.path === path || t.path.startsWith(`${trimmed(path)}/`))
  if (paths.every(isOld) || commit === tip) return new Map()
  const renames = await findRenames(aside.door, commit, tip)
  return new Map([...renames].map(([now, then]) => [then, now]))
}

/**
 * Refuses an undo that would change a path which nothing it takes back had touched, under any name. git's merge gives none; this is
 * the promise held against the result.
 */
export async function confirmPaths(
  aside: ObjectsAside,
  steps: readonly PreparedStep[],
  manifest: Manifest,
  tip: CommitId,
): Promise<void> {
  const own = new Set(steps.flatMap((s) => s.own.map((t) => t.path)))
  if (pathsOutside(manifest, own, new Map()).length === 0) return
  const laterNames = new Map<string, string>()
  for (const { step } of steps) {
    const renames = await findRenames(aside.door, step.commit, tip)
    for (const [now, then] of renames) if (own.has(then)) laterNames.set(now, then)
  }
  const outside = pathsOutside(manifest, own, laterNames)
  if (outside.length === 0) return
  throw new GalleyError({
    code: 'conflict',
    message: `the undo would also change ${outside.slice(0, 5).join(', ')}, which what it takes back never touched`,
    data: { paths: outside },
    hint: 'Take back a part with `--path`, or edit by hand.',
  })
}
