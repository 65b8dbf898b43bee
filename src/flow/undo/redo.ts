import { resolveCommit } from '../../git/refs.ts'
import type { Change } from '../../model/change.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { ChangeId } from '../../model/ids.ts'
import { decideRedo } from '../../policy/undo-decision.ts'
import type { Store } from '../../store/open-store.ts'
import { loadChange } from '../logged-change.ts'
import { changeOfCommit } from '../mark-undone.ts'
import { finishInterrupted } from '../recover.ts'
import type { World } from '../world.ts'
import { preview, stageUndo, type Undone, type UndoPreview, type UndoRequest } from './undo.ts'
import { parentOf, planChange, type QuickPlan, type UndoPlan } from './undo-target.ts'

export interface RedoRequest {
  /** The id of a change that was undone, or of the undo; or the undo's commit. */
  readonly target: string
  readonly withLater?: boolean
  readonly checks?: 'now' | 'later'
}

/**
 * Brings back what an undo took back, as a new change: the undo is undone. Where that undo took other changes back too, the one named is
 * applied again by itself.
 *
 * @throws GalleyError `unknown-change`, `wrong-state`, and as `undo`.
 */
export async function redo(world: World, request: RedoRequest): Promise<Undone> {
  await finishInterrupted(world)
  const store = await world.store()
  return stageUndo(world, store, await planRedo(world, store, request.target), optionsOf(request))
}

/** Shows what `redo` would stage. Leaves nothing. */
export async function previewRedo(world: World, request: RedoRequest): Promise<UndoPreview> {
  // It merges aside, and that is taken away where nobody says that it is being made.
  await world.atWork()
  const store = await world.store()
  return preview(world, store, await planRedo(world, store, request.target), optionsOf(request))
}

const optionsOf = ({ withLater, checks }: RedoRequest): UndoRequest => ({
  ...(withLater === undefined ? {} : { withLater }),
  ...(checks === undefined ? {} : { checks }),
})

async function planRedo(world: World, store: Store, target: string): Promise<QuickPlan> {
  const change = await namedChange(world, store, target)
  const undo = change.undoneBy === null ? null : await load(world, store, change.undoneBy)
  const decision = decideRedo(change, undo)
  switch (decision.kind) {
    case 'refused':
      throw new GalleyError(decision.refusal)
    case 'undo': {
      const plan = await planChange(world, store, await load(world, store, decision.id))
      return mapPlan(plan, (each) => ({ ...each, isRedo: true }))
    }
    case 'reapply':
      return planAgain(world, store, change, await load(world, store, decision.undo))
  }
}

const load = async (world: World, store: Store, id: ChangeId): Promise<Change> =>
  (await loadChange(world, store, id)).change

async function namedChange(world: World, store: Store, target: string): Promise<Change> {
  if (/^g[0-9a-z]{2,9}$/.test(target)) return (await loadChange(world, store, target)).change
  const commit = await resolveCommit(world.repository.door, target)
  const change = commit === null ? null : await changeOfCommit(world, store, commit)
  if (change !== null) return change
  const named = JSON.stringify(target.slice(0, 60))
  refuse('unknown-change', `${named} is neither a change nor the commit of one`, {
    target: target.slice(0, 60),
  })
}

/** The change's own commit, applied again on the branch in which the undo stands. */
async function planAgain(world: World, store: Store, change: Change, undo: Change): Promise<QuickPlan> {
  const quick = await planChange(world, store, undo)
  const { landing } = change
  if (landing === null) throw new Error(`BUG: ${change.id} was undone and never landed`)
  const parent = await parentOf(world, landing.after, undefined, landing.before)
  const again = {
    commit: landing.after,
    parent,
    direction: 'again',
    title: change.title,
    id: change.id,
    change,
  } as const
  return mapPlan(quick, (plan) => ({
    ...plan,
    steps: plan.steps.map((step) => ({ ...step, ...again, takesBack: false })),
    isRedo: true,
  }))
}

const mapPlan = (quick: QuickPlan, change: (plan: UndoPlan) => UndoPlan): QuickPlan => ({
  plan: change(quick.plan),
  isInHistory: quick.isInHistory,
  elsewhere: async () => change(await quick.elsewhere()),
})
