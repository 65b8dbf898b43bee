import { type ApproveRequest, approve, refuseAgents } from './approve.ts'
import type { ChangeView } from './change-view.ts'
import { type Landed, land } from './land/land.ts'
import { type ProposeRequest, propose } from './propose.ts'
import type { World } from './world.ts'

/**
 * Proposes a batch, approves it as the user, and lands it: for a caller who has seen the batch itself.
 *
 * @throws GalleyError `agent-may-not-approve`, before anything is staged; or the codes of `propose`, `approve` and `land`, and then the
 * change stays as far as it came.
 */
export async function apply(world: World, request: ProposeRequest): Promise<Landed> {
  refuseAgents(world)
  const { change } = await propose(world, request)
  return approveAndLand(world, change, 'cli')
}

/** Lands a change that somebody has just said yes to; one that a rule has approved needs no yes. */
export async function approveAndLand(
  world: World,
  { id, digest, state }: Pick<ChangeView, 'id' | 'digest' | 'state'>,
  via: ApproveRequest['via'],
): Promise<Landed> {
  if (state === 'staged') await approve(world, { id, digest, via })
  return land(world, { id })
}
