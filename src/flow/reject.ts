import { isPending } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { nameAndEmail } from '../model/person.ts'
import { appendEvents } from '../store/change-log.ts'
import { withLandingLock } from '../store/lock.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { currentRevision } from './check.ts'
import { loadChange } from './logged-change.ts'
import { finishRecorded } from './record-landing.ts'
import { finishInterrupted } from './recover.ts'
import type { World } from './world.ts'

/**
 * Rejects a pending change, with the reason that goes back to the agent. Not while it is landing: then it has landed, and says so.
 *
 * @throws GalleyError `unknown-change`, `ambiguous-name`, `wrong-state`, `busy`, `no-identity`.
 */
export async function reject(
  world: World,
  request: { readonly id: string; readonly reason: string },
): Promise<{ readonly change: ChangeView }> {
  await finishInterrupted(world)
  const store = await world.store()
  return withLandingLock(store.galleyDir, world.clock, 'reject', async () => {
    const found = await loadChange(world, store, request.id)
    const isLanded = (await finishRecorded(world, store, found)) !== null
    const logged = isLanded ? await loadChange(world, store, request.id) : found
    const { id, state } = logged.change
    if (!isPending(state) && state !== 'stale') {
      refuse('wrong-state', `${id} is ${state}; only a pending change can be rejected`, { id, state })
    }
    const identity = await world.identity()
    const event = {
      kind: 'rejected',
      at: world.now(),
      by: nameAndEmail(identity),
      revision: currentRevision(logged).number,
      reason: request.reason,
    } as const
    const rejected = await appendEvents(store, logged, [{ event }], identity)
    world.log.note('rejected', { change: id })
    return { change: viewChange(rejected.change) }
  })
}
