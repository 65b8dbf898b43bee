import { sha256Hex } from '../../git/blob-id.ts'
import { diffTrees, findRenames, isUncertainName } from '../../git/diff-tree.ts'
import type { FileChange } from '../../git/fast-import.ts'
import type { ObjectReader } from '../../git/objects.ts'
import type { FileSummary } from '../../model/change.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { CommitId, RefName, TreeId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import { judgeManifest } from '../../policy/judge.ts'
import { quote } from '../../policy/quote.ts'
import { type UndoWish, wishRefusal } from '../../policy/undo-decision.ts'
import { type LaterFact, undoText } from '../../policy/undo-text.ts'
import type { DiffFile } from '../../review/diff-file.ts'
import { type ObjectsAside, withObjectsAside } from '../../store/objects-aside.ts'
import type { Store } from '../../store/open-store.ts'
import { repackWhenDue } from '../../store/repack.ts'
import { type ChangeView, summariseFiles, viewChange } from '../change-view.ts'
import { checkRevision } from '../check.ts'
import { countFiles } from '../count-files.ts'
import { makesLinks, refuseLinksOut } from '../judge-links.ts'
import { pairFiles } from '../pair-files.ts'
import { type PolicyInForce, readPolicy } from '../read-policy.ts'
import { finishInterrupted } from '../recover.ts'
import { refuseBatch } from '../refuse-batch.ts'
import { digestOf, type ProposalFacts, stageNewChange } from '../stage.ts'
import { storedChanges } from '../stored-changes.ts'
import type { World } from '../world.ts'
import { keptRemarks } from './kept-remarks.ts'
import { confirmPaths, type PreparedStep, prepareSteps } from './undo-merge.ts'
import { takeBack } from './undo-overlap.ts'
import { planUndo, type QuickPlan, type UndoPlan } from './undo-target.ts'

/** What is to be taken back: a change or commit (`target`), or all that a `session` landed and that stands. */
export interface UndoRequest {
  /** The id of a landed change, or a revision expression. */
  readonly target?: string
  readonly session?: string
  /** For a merge commit: the parent to go back to, from 1. */
  readonly mainline?: number
  /** Only these files and directories. */
  readonly paths?: readonly string[]
  /** Only these hunks, by the numbers that the change's diff shows. Paths and hunks add up. */
  readonly hunks?: readonly number[]
  /** Undoes what stands in the way too, in the same change. */
  readonly withLater?: boolean
  /** `later`: the scratch tree and the checks wait until someone asks for them. */
  readonly checks?: 'now' | 'later'
}

export interface Undone {
  readonly change: ChangeView
  /** Later commits that are taken back too, because they stand in the way; newest first. */
  readonly later: readonly LaterFact[]
}

/** What an undo would be. */
export interface UndoPreview {
  readonly title: string
  readonly body: string
  readonly onto: RefName
  readonly base: CommitId
  readonly undoes: readonly CommitId[]
  readonly undoesPartly: readonly CommitId[]
  readonly later: readonly LaterFact[]
  readonly files: readonly FileSummary[]
  /** Both sides of every file. */
  readonly pairs: readonly DiffFile[]
}

/**
 * Stages the inverse of landed changes, or of any commit, as a new change, by three-way merges in the object store. It goes
 * through review, checks and landing like any other.
 *
 * @throws GalleyError `usage`, `unknown-change`, `ambiguous-name`, `wrong-state`, `root-commit`, `needs-mainline`, `not-found`,
 * `out-of-range`, `overlaps-later`, `no-change`, and what the policy says of the paths.
 */
export async function undo(world: World, request: UndoRequest): Promise<Undone> {
  const wish = wishOf(request)
  await finishInterrupted(world)
  const store = await world.store()
  return stageUndo(world, store, await planUndo(world, store, wish), request)
}

/** Shows what `undo` would stage. Leaves nothing: no change, no ref, no object. */
export async function previewUndo(world: World, request: UndoRequest): Promise<UndoPreview> {
  const wish = wishOf(request)
  // It merges aside, and that is taken away where nobody says that it is being made.
  await world.atWork()
  const store = await world.store()
  return preview(world, store, await planUndo(world, store, wish), request)
}

function wishOf(request: UndoRequest): UndoWish {
  const { target, session, mainline, paths = [], hunks = [] } = request
  const wish = {
    ...(target === undefined ? {} : { target }),
    ...(session === undefined ? {} : { session }),
    ...(mainline === undefined ? {} : { mainline }),
    paths,
    hunks,
  }
  const refusal = wishRefusal(wish)
  if (refusal !== null) throw new GalleyError(refusal)
  return wish
}

/** Merges a plan and stages the result. */
export async function stageUndo(
  world: World,
  store: Store,
  quick: QuickPlan,
  request: UndoRequest,
): Promise<Undone> {
  const staged = await withObjectsAside(store, await world.reader(), async (aside) => {
    const result = await mergePlan(world, aside, quick, request)
    const { manifest, tree, plan } = result
    const changes = await changesOf(aside, manifest)
    const reader = changes.some((c) => c.kind === 'bytes') ? aside.reader : aside.stored
    const [identity, files, remarks] = await Promise.all([
      world.identity(),
      countedFiles(reader, result),
      keptRemarks(
        world,
        store,
        result.steps.map((one) => one.step),
        manifest,
      ),
    ])
    const revision = {
      base: plan.tip,
      content: { kind: 'changes', changes, manifest, confirmedTree: tree },
      files,
      remarks,
      reads: [],
      author: identity,
      committer: identity,
    } as const
    const staging = stageNewChange(world, store, proposalOf(result), revision, () => [])
    const [logged] = await Promise.all([staging, aside.close()])
    return { logged, result }
  })
  const { logged, result } = staged
  await repackWhenDue(store, world.clock)
  world.log.note('undo staged', { change: logged.change.id, undoes: logged.change.undoes.length })
  const checked =
    request.checks === 'later' ? logged : await checkRevision(world, store, logged, result.inForce)
  return { change: viewChange(checked.change), later: result.later }
}

/** Merges a plan aside and shows the result. */
export async function preview(
  world: World,
  store: Store,
  quick: QuickPlan,
  request: UndoRequest,
): Promise<UndoPreview> {
  return withObjectsAside(store, await world.reader(), async (aside) => {
    const result = await mergePlan(world, aside, quick, request)
    const { title, body, undoes, undoesPartly } = proposalOf(result)
    const { manifest, plan, later, renames } = result
    return {
      title,
      body,
      onto: plan.onto,
      base: plan.tip,
      undoes,
      undoesPartly,
      later,
      files: summariseFiles({ manifest, files: await countedFiles(aside.reader, result) }),
      pairs: await pairFiles(aside.reader, manifest, renames),
    }
  })
}

interface MergedPlan {
  readonly plan: UndoPlan
  readonly steps: readonly PreparedStep[]
  readonly later: readonly LaterFact[]
  readonly tree: TreeId
  readonly manifest: Manifest
  readonly renames: ReadonlyMap<string, string>
  readonly inForce: PolicyInForce
}

/** The merge runs beside the look whether the commit is in the branch at all; where it is not, another place is looked for. */
async function mergePlan(
  world: World,
  aside: ObjectsAside,
  quick: QuickPlan,
  request: UndoRequest,
): Promise<MergedPlan> {
  const attempt = tryPlan(world, aside, quick.plan, request)
  // Looked at below: until then a failure must not count as unhandled.
  attempt.catch(() => undefined)
  if (await quick.isInHistory) return attempt
  await attempt.catch(() => undefined)
  return tryPlan(world, aside, await quick.elsewhere(), request)
}

async function tryPlan(
  world: World,
  aside: ObjectsAside,
  plan: UndoPlan,
  request: UndoRequest,
): Promise<MergedPlan> {
  const tip = await aside.stored.commitTree(plan.tip)
  const inForce = await readPolicy(world, tip)
  const wish = { paths: request.paths ?? [], hunks: request.hunks ?? [] }
  const prepared = await prepareSteps(aside, plan, wish, inForce.policy)
  const taken = await takeBack(aside, plan, prepared, request.withLater === true)
  if (taken.kind === 'overlap') throw new GalleyError(taken.refusal)
  const manifest = await diffTrees(aside.door, tip, taken.tree)
  if (manifest.length === 0) {
    const what = plan.session === null ? (plan.steps[0]?.commit ?? '') : 'the session'
    refuse('no-change', `nothing of ${what} is left to undo`, { commit: plan.steps[0]?.commit ?? null })
  }
  refuseUncertainNames(manifest)
  await confirmPaths(aside, taken.steps, manifest, plan.tip)
  const facts = { mode: inForce.policy.mode, itemOf: () => 0 }
  const { denied } = judgeManifest(inForce.policy, manifest, facts)
  if (denied.length > 0) refuseBatch(denied)
  if (makesLinks(manifest)) {
    const restores = taken.steps.flatMap(({ base, theirs }) => [base, theirs])
    await refuseLinksOut({ reader: aside.reader, tree: tip, manifest, restores })
  }
  const canRename =
    manifest.some((t) => t.oldMode === '000000') && manifest.some((t) => t.newMode === '000000')
  const renames = canRename ? await findRenames(aside.door, tip, taken.tree) : new Map<string, string>()
  return { plan, steps: taken.steps, later: taken.later, tree: taken.tree, manifest, renames, inForce }
}

/** A commit is written from names as text, and such a name as text would be another file's. */
function refuseUncertainNames(manifest: Manifest): void {
  const odd = manifest.find(({ path }) => isUncertainName(path))
  if (odd === undefined) return
  const hint = 'Take the other paths back with `--path`, and this file with git itself.'
  refuse('path-invalid', `undo ${quote(odd.path)}: its name is not UTF-8`, { path: odd.path }, hint)
}

const countedFiles = (reader: ObjectReader, { manifest, renames }: MergedPlan) =>
  countFiles(reader, manifest, [], renames)

/** What the commit is written from: the merge's own blobs come into the store, all others are there. */
async function changesOf(aside: ObjectsAside, manifest: Manifest): Promise<readonly FileChange[]> {
  const changes: FileChange[] = []
  for (const change of storedChanges(manifest)) {
    // A submodule's commit is in its own repository.
    if (change.kind !== 'blob' || change.mode === '160000') {
      changes.push(change)
      continue
    }
    const { path, mode, blob } = change
    const isStored = (await aside.adopt(blob)) || (await aside.stored.info(blob)) !== null
    const bytes = isStored ? undefined : (await aside.reader.contents(blob))?.bytes
    changes.push(bytes ? { kind: 'bytes', path, mode, bytes } : change)
  }
  return changes
}

function proposalOf({
  plan,
  steps,
  manifest,
}: MergedPlan): ProposalFacts & { undoesPartly: readonly CommitId[] } {
  const text = undoText(
    steps.map(({ step, part }) => ({ ...step, change: step.id, part })),
    plan.session,
  )
  const back = steps.filter(({ step }) => step.direction === 'back')
  const again = steps.filter(({ step }) => step.direction === 'again').map(({ step }) => step)
  const asked = back.filter(({ step }) => !step.isLater)
  return {
    ...text,
    agent: null,
    onto: plan.onto,
    stackedOn: null,
    key: null,
    batchHash: sha256Hex(`undo ${plan.tip} ${digestOf(manifest)}`),
    undoes: back.filter(({ part }) => part === null).map(({ step }) => step.commit),
    // What is applied again by itself was undone together with others: that undo is taken back in part.
    undoesPartly: [
      ...back.filter(({ part }) => part !== null).map(({ step }) => step.commit),
      ...again.map(({ since }) => since.commit),
    ],
    redoes: [
      ...asked.flatMap(({ step, part }) => (part === null ? (step.change?.undoes ?? []) : [])),
      ...again.map(({ commit }) => commit),
    ],
  }
}
