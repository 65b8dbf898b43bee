import { GalleyError, refuse } from '../../model/error.ts'
import { type ErrorCode, hintFor } from '../../model/error-codes.ts'
import { type ApproveRequest, approve, refuseAgents, yesBeforehand } from '../approve.ts'
import type { ChangeView } from '../change-view.ts'
import { type Asked, isAsAsked, type ProposeRequest, propose } from '../propose.ts'
import type { World } from '../world.ts'
import { type Landed, land } from './land.ts'

/** What `apply` came to. */
export interface Applied extends Landed {
  /** The batch had landed before, by its key; nothing landed now. */
  readonly repeated: boolean
}

/**
 * Proposes a batch, approves it as the user, and lands it: for a caller who has seen the batch itself.
 *
 * @throws GalleyError `agent-may-not-approve`, before anything is staged; or the codes of `propose`, `approveUnseen` and `land`, and then
 * the change stays as far as it came.
 */
export async function apply(world: World, request: ProposeRequest): Promise<Applied> {
  refuseAgents(world, yesBeforehand)
  const proposed = await propose(world, request)
  const before = landedBefore(proposed)
  if (before !== null) return before
  if (proposed.change.state === 'staged') await approveUnseen(world, proposed, 'cli')
  return { ...(await landWithYes(world, proposed.change.id)), repeated: false }
}

/** The answer to a batch that has landed before, for a caller who lost the first one; null where it has not. */
export function landedBefore({
  change,
  repeated,
}: {
  readonly change: ChangeView
  readonly repeated: boolean
}): Applied | null {
  const { landed } = change
  return repeated && change.state === 'landed' && landed !== null
    ? { change, landed, remarks: [], repeated }
    : null
}

/** Refusals whose cause lies outside the change: once that is gone, the very same landing can pass. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'in-progress',
  'unmerged',
  'locked',
  'busy',
  'branch-moved',
  'overlaps-uncommitted',
  'would-overwrite',
  'checked-out-elsewhere',
  'hook-refused',
  'io-error',
  'no-identity',
  'git-too-old',
])

/**
 * Lands what somebody has just said yes to. Where that is refused and the yes stands, the refusal says so: whoever gave it in the same
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
    const advice = hint ?? hintFor(code)
    const waits = passing.has(code)
      ? `${advice} ${id} is approved and waits: \`galley land ${id}\` tries again, \`galley reject ${id}\` drops it.`
      : advice
    throw new GalleyError({ code, message, data: { ...data, id }, hint: waits }, { cause: error })
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
  staged: Asked,
  via: ApproveRequest['via'],
): Promise<{ readonly change: ChangeView }> {
  const { change } = staged
  if (isAsAsked(staged)) return approve(world, { id: change.id, digest: change.digest, via })
  refuse(
    'not-approved',
    `${change.id} is not what was asked for: its revision ${change.revision} was made of that, and nobody has seen it`,
    { change },
    `Look at it with \`galley show ${change.id}\`; then \`galley approve ${change.id}\` and \`galley land ${change.id}\`.`,
  )
}
