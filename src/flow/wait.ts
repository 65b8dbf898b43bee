import { listRefs } from '../git/refs.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { logRef } from '../store/change-refs.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { loadChange } from './logged-change.ts'
import type { World } from './world.ts'

const POLL_MS = 300

/**
 * Waits until a change is decided: approved or landed.
 *
 * @throws GalleyError `denied`, if it is rejected; `stale`; `not-approved`, if the time is up first. `data.change` shows it.
 */
export async function waitForDecision(
  world: World,
  request: { readonly id: string; readonly timeoutMs?: number },
): Promise<{ readonly change: ChangeView }> {
  const store = await world.store()
  const first = await loadChange(world, store, request.id)
  const deadline = world.clock.elapsedMs() + (request.timeoutMs ?? limits.waitDefaultTimeoutMs)
  let { change, tip } = first
  for (;;) {
    const view = viewChange(change)
    if (change.state === 'approved' || change.state === 'landed' || change.state === 'undone')
      return { change: view }
    if (change.state === 'rejected') {
      throw new GalleyError({
        code: 'denied',
        message: `${change.id} was rejected${change.rejection ? `: ${change.rejection}` : ', without a reason given'}`,
        data: { change: view },
      })
    }
    if (change.state === 'stale') refuse('stale', `${change.id} is stale`, { change: view })
    if (world.clock.elapsedMs() >= deadline)
      refuse(
        'not-approved',
        `${change.id} is still undecided`,
        { change: view },
        "Wait again; the decision is a person's.",
      )
    await world.clock.sleep(POLL_MS)
    const [row] = await listRefs(store.door, logRef(change.id))
    if (row?.object !== tip) ({ change, tip } = await loadChange(world, store, change.id))
  }
}
