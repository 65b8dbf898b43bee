import { listRefs } from '../git/refs.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { logRef } from '../store/change-refs.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { loadChange } from './logged-change.ts'
import { viewWithPlaces } from './place-comments.ts'
import type { World } from './world.ts'

const POLL_MS = 300

/** What became of a change that somebody waited for. */
export interface Awaited {
  /** `commented`: a reviewer has said something since; `undecided`: the time is up, or the caller gave up. */
  readonly kind: 'approved' | 'landed' | 'rejected' | 'stale' | 'commented' | 'undecided'
  readonly change: ChangeView
}

export interface AwaitRequest {
  readonly id: string
  readonly timeoutMs?: number
  /** Ends the wait early. */
  readonly signal?: AbortSignal
  /** A comment more than these ends the wait too. Default: comments do not. */
  readonly commentsSeen?: number
  /** Called at every look, for callers that must give a sign of life. */
  readonly onWaiting?: (waitedMs: number) => void
}

/** Waits until a change is decided, or until the time is up. Writes nothing. */
export async function awaitDecision(world: World, request: AwaitRequest): Promise<Awaited> {
  const store = await world.store()
  const begun = world.clock.elapsedMs()
  const timeoutMs = request.timeoutMs ?? limits.waitDefaultTimeoutMs
  let { change, tip } = await loadChange(world, store, request.id)
  const commentsSeen = request.commentsSeen ?? Number.POSITIVE_INFINITY
  for (;;) {
    const view = viewChange(change)
    const kind = outcomeOf(view)
    if (kind !== null) return { kind, change: await viewWithPlaces(world, change) }
    if (view.comments.length > commentsSeen)
      return { kind: 'commented', change: await viewWithPlaces(world, change) }
    const waitedMs = world.clock.elapsedMs() - begun
    if (waitedMs >= timeoutMs || request.signal?.aborted === true) return { kind: 'undecided', change: view }
    request.onWaiting?.(waitedMs)
    await world.clock.sleep(Math.min(POLL_MS, timeoutMs - waitedMs))
    const [row] = await listRefs(store.door, logRef(change.id))
    if (row?.object !== tip) ({ change, tip } = await loadChange(world, store, change.id))
  }
}

function outcomeOf({ state }: ChangeView): Awaited['kind'] | null {
  if (state === 'staged') return null
  return state === 'undone' ? 'landed' : state
}

/**
 * Waits until a change is decided: approved or landed.
 *
 * @throws GalleyError `denied`, if it is rejected; `stale`; `not-approved`, if the time is up first. `data.change` shows it.
 */
export async function waitForDecision(
  world: World,
  request: { readonly id: string; readonly timeoutMs?: number },
): Promise<{ readonly change: ChangeView }> {
  const { kind, change } = await awaitDecision(world, request)
  if (kind === 'rejected') {
    throw new GalleyError({
      code: 'denied',
      message: `${change.id} was rejected${change.rejection ? `: ${change.rejection}` : ', without a reason given'}`,
      data: { change },
    })
  }
  if (kind === 'stale') refuse('stale', `${change.id} is stale`, { change })
  if (kind === 'undecided')
    refuse(
      'not-approved',
      `${change.id} is still undecided`,
      { change },
      "Wait again; the decision is a person's.",
    )
  return { change }
}
