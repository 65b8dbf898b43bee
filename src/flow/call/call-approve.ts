import type { EditDone } from '../../model/call.ts'
import { isPending } from '../../model/change.ts'
import { GalleyError } from '../../model/error.ts'
import { agentSign } from '../agent-sign.ts'
import { approve } from '../approve.ts'
import { type ChangeView, viewChange } from '../change-view.ts'
import { approveUnseen } from '../land/apply.ts'
import { loadChange } from '../logged-change.ts'
import { type Asked, isAsAsked } from '../propose.ts'
import { reject } from '../reject.ts'
import { waitForDecision } from '../wait.ts'
import type { CallEnd, RunningCall } from './call-run.ts'

export type CallDecision =
  | { readonly kind: 'approved'; readonly change: ChangeView }
  | { readonly kind: 'ended'; readonly end: CallEnd }

const notApproved = 'The operation was not approved; nothing was written.'

/**
 * Gets one staged call decided: a rule may have approved it already; else as the caller said (see `CallApproval`).
 *
 * Where nobody approves, the end is `denied`. A person's no rejects the change. Otherwise it stays staged for the same
 * call to find once it is approved, but for systems in which an approval holds for one call alone: there it is rejected.
 */
export async function decideCall(run: RunningCall, staged: Asked, done: EditDone): Promise<CallDecision> {
  const { world, approval } = run
  const { change } = staged
  if (change.state !== 'staged') return { kind: 'approved', change }
  switch (approval.kind) {
    case 'yes':
      return isAsAsked(staged)
        ? approved(await approveUnseen(world, staged, 'cli'))
        : leaveUndecided(run, change, 'a check has made something else of it, which nobody has seen')
    case 'wait':
      return waitFor(run, change, approval)
    case 'ask': {
      // An agent may not approve, and could type the answer.
      if (agentSign(world) !== null) return leaveUndecided(run, change, 'nobody could be asked')
      // The system's screen shows the call, and not what a check has made of it.
      const native = (isAsAsked(staged) ? run.answers.screen?.(done, run.root) : null) ?? null
      const screen = { change: structuredClone(change), native }
      if (await approval.ask(screen))
        return approved(await approve(world, { id: change.id, digest: change.digest, via: 'terminal' }))
      const rejected = await reject(world, { id: change.id, reason: 'denied at the prompt' })
      return ended(`${notApproved} The person who was asked said no to ${change.id}.`, rejected.change)
    }
    case 'none':
      return leaveUndecided(run, change, 'nobody could be asked')
  }
}

const approved = ({ change }: { readonly change: ChangeView }): CallDecision => ({ kind: 'approved', change })

const ended = (text: string, change: ChangeView): CallDecision => ({
  kind: 'ended',
  end: { kind: 'denied', text, change },
})

async function waitFor(
  run: RunningCall,
  change: ChangeView,
  approval: Extract<RunningCall['approval'], { kind: 'wait' }>,
): Promise<CallDecision> {
  const { timeoutMs } = approval
  approval.onWaiting?.(change)
  try {
    return approved(await waitForDecision(run.world, { id: change.id, timeoutMs }))
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error
    const last = error.data['change'] as ChangeView | undefined
    if (error.code === 'denied')
      return ended(
        `${notApproved} ${change.id} was rejected: ${last?.rejection ?? ''}`.trim(),
        last ?? change,
      )
    if (error.code === 'not-approved')
      return leaveUndecided(run, change, `nobody decided within ${Math.round(timeoutMs / 1000)} seconds`)
    throw error
  }
}

async function leaveUndecided(run: RunningCall, change: ChangeView, why: string): Promise<CallDecision> {
  const { id } = change
  if (run.dialect.profile.bindsFile !== true) {
    const text = `${notApproved} It is staged as ${id}, for ${why}. A person approves it by \`galley approve ${id}\` (what it does: \`galley show ${id}\`); the same call, made again, then takes effect.`
    return ended(text, change)
  }
  const text = `${notApproved} It was staged as ${id} and is rejected now, for ${why} and an approval holds for one call alone. Make the call again at a terminal, or with --wait <seconds>: meanwhile a person approves it by \`galley approve <id>\`.`
  return ended(text, await withdrawn(run, id, `${why}; an approval holds for one call alone`))
}

/** The end of a call whose edit is approved, and may not land any more: it waits for the same call, or for `land`. */
export async function heldEnd(run: RunningCall, change: ChangeView, why: string): Promise<CallEnd> {
  const { id } = change
  if (run.dialect.profile.bindsFile === true)
    return { kind: 'denied', text: `Nothing was written: ${why}.`, change: await withdrawn(run, id, why) }
  const text = `Nothing was written: ${why}. It is approved as ${id}; the same call, made again, takes effect.`
  return { kind: 'denied', text, change }
}

/** Ends a change whose approval holds for one call alone, unless it has ended already. */
export async function withdrawn(run: RunningCall, id: string, reason: string): Promise<ChangeView> {
  const { change } = await loadChange(run.world, run.store, id)
  return isPending(change.state) ? (await reject(run.world, { id, reason })).change : viewChange(change)
}
