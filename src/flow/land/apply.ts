import { GalleyError, refuse } from '../../model/error.ts'
import { hintFor } from '../../model/error-codes.ts'
import { type ApproveRequest, approve, refuseAgents } from '../approve.ts'
import type { ChangeView } from '../change-view.ts'
import { type ProposeRequest, propose } from '../propose.ts'
import type { World } from '../world.ts'
import { type Landed, land } from './land.ts'

/**
 * Proposes a batch, approves it as the user, and lands it: for a caller who has seen the batch itself.
 *
 * @throws GalleyError `agent-may-not-approve`, before anything is staged; or the codes of `propose`, `approveUnseen` and `land`, and then
 * the change stays as far as it came.
 */
export async function apply(world: World, request: ProposeRequest): Promise<Landed> {
  refuseAgents(world)
  const { change } = await propose(world, request)
  if (change.state === 'staged') await approveUnseen(world, change, 'cli')
  return landWithYes(world, change.id)
}

/**
 * Lands what somebody has just said yes to. Where that is refused the yes stands, and the refusal says so: whoever gave it in the same
 * breath may not know the change by its id.
 *
 * @throws GalleyError as `land`; data: `{ id }` besides.
 */
export async function landWithYes(world: World, id: string): Promise<Landed> {
  try {
    return await land(world, { id })
  } catch (error) {
    if (!(error instanceof GalleyError) || error.data['landed'] === true) throw error
    const { code, message, data, hint } = error
    const waits = `${id} is approved and waits: \`galley land ${id}\` tries again, \`galley reject ${id}\` drops it.`
    throw new GalleyError(
      { code, message, data: { ...data, id }, hint: `${hint ?? hintFor(code)} ${waits}`.trim() },
      { cause: error },
    )
  }
}

/**
 * Approves for somebody who said yes to what was asked for, before it was staged. A check or a hook may have made another revision of
 * that, and nobody has seen it.
 *
 * @throws GalleyError `not-approved`, for such a revision; data: the change. The codes of `approve`.
 */
export async function approveUnseen(
  world: World,
  change: ChangeView,
  via: ApproveRequest['via'],
): Promise<{ readonly change: ChangeView }> {
  if (isAsAsked(change)) return approve(world, { id: change.id, digest: change.digest, via })
  refuse(
    'not-approved',
    `${change.id} is not what was asked for: its revision ${change.revision} was made of that, and nobody has seen it`,
    { change },
    `Look at it with \`galley show ${change.id}\`; then \`galley approve ${change.id}\` and \`galley land ${change.id}\`.`,
  )
}

/** Whether a change still is the very thing that its first batch, call or undo asked for. */
export const isAsAsked = ({ revision }: Pick<ChangeView, 'revision'>): boolean => revision === 1
