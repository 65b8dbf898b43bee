import { isPending } from '../model/change.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { clientApprovalRefusal } from '../policy/land-decision.ts'
import type { LoggedChange } from '../store/change-log.ts'
import type { Store } from '../store/open-store.ts'
import { agentSign } from './agent-sign.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { currentRevision } from './check.ts'
import { confirmStored, loadChange, policyOf, refuseLostBase } from './logged-change.ts'
import type { PolicyInForce } from './read-policy.ts'
import { recordApproval } from './record-approval.ts'
import { finishInterrupted } from './recover.ts'
import type { World } from './world.ts'

export interface ApproveRequest {
  readonly id: string
  /** What the approver saw; refused when it is not the current one. */
  readonly digest?: string
  readonly via: 'terminal' | 'cli' | 'web' | 'mcp-client'
}

/**
 * Approves the current revision of a change: exactly its digest, message and author. Where approvals expire, one that has landed can be
 * approved anew, so that it can still be pushed.
 *
 * @throws GalleyError `agent-may-not-approve`, `unknown-change`, `ambiguous-name`, `wrong-state`, `digest-mismatch`, `no-identity`.
 */
export async function approve(
  world: World,
  request: ApproveRequest,
): Promise<{ readonly change: ChangeView }> {
  const { store, logged, policy } = await prepareApproval(world, request)
  const approved = await recordApproval(world, store, logged, { via: request.via, policy })
  const { id } = approved.change
  world.log.note('approved', { change: id, revision: currentRevision(logged).number })
  return { change: viewChange(approved.change) }
}

/**
 * A server's clock decides whether an approval has expired. So what was approved and landed in time, and is pushed late, may be approved
 * once more: the same bytes, which have landed already.
 */
const mayBeApprovedAnew = async (world: World, logged: LoggedChange): Promise<boolean> =>
  logged.change.state === 'landed' &&
  (await policyOf(world, logged)).policy.approval.expiresAfterHours !== null

/** Everything that an approval needs, held against the objects. Records none. */
export async function prepareApproval(world: World, request: ApproveRequest): Promise<PreparedApproval> {
  refuseAgents(world, { id: request.id, asks: request.via === 'mcp-client' ? 'client' : 'anybody' })
  await finishInterrupted(world)
  const store = await world.store()
  const logged = await loadChange(world, store, request.id)
  const { change } = logged
  if (!isPending(change.state) && !(await mayBeApprovedAnew(world, logged))) {
    refuse('wrong-state', `${change.id} is ${change.state}; only a pending change can be approved`, {
      id: change.id,
      state: change.state,
    })
  }
  const revision = currentRevision(logged)
  if (request.digest !== undefined && request.digest !== revision.digest) {
    refuse(
      'digest-mismatch',
      `${change.id} has the digest ${revision.digest}, not ${request.digest.slice(0, 64)}`,
      {
        id: change.id,
        digest: revision.digest,
        given: request.digest.slice(0, 64),
      },
    )
  }
  await refuseLostBase(world, store, logged)
  await confirmStored(store, logged)
  const policy = await policyOf(world, logged)
  const weakness =
    request.via === 'mcp-client' ? clientApprovalRefusal(policy.policy, change.id, revision) : null
  if (weakness !== null) throw new GalleyError(weakness)
  return { store, logged, policy }
}

export interface PreparedApproval {
  readonly store: Store
  readonly logged: LoggedChange
  readonly policy: PolicyInForce
}

/** What an agent may not do, and what is done instead. */
export interface PersonsDeed {
  /** Of a deed beside approving. */
  readonly message?: string
  readonly hint?: string
  /** The change that waits for a person, where there is one. */
  readonly id?: string
  /** `client`: an agent's client asked the person before it. */
  readonly asks?: 'client' | 'anybody'
}

/** Approving what is only asked for yet: nothing is staged, so that no id can be named. */
export const yesBeforehand: PersonsDeed = {
  hint: 'Leave --yes out: then it is staged, and a person approves it in their own terminal.',
}

/**
 * The seat belt of DESIGN.md section 11: where the environment shows an agent at work, no approval is given, and nothing is done that
 * takes the gate itself away.
 *
 * @throws GalleyError `agent-may-not-approve`.
 */
export function refuseAgents(world: World, { message, hint, id, asks }: PersonsDeed = {}): void {
  const sign = agentSign(world, asks)
  if (sign === null) return
  const data = { variable: sign.variable, ...(id === undefined ? {} : { id }) }
  const what = message ?? 'the environment shows an agent at work'
  refuse('agent-may-not-approve', `${what} (${sign.what})`, data, hint)
}
