import { resolveCommit } from '../git/refs.ts'
import { isPending } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import type { CommitId, Digest } from '../model/ids.ts'
import { agentAtWork } from '../policy/agent-environment.ts'
import { appendEvents, findChange, type LoggedChange, readChange } from '../store/change-log.ts'
import { revisionRef } from '../store/change-refs.ts'
import type { Store } from '../store/open-store.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { currentRevision, transitionsOf } from './check.ts'
import { type PolicyInForce, readPolicyFor } from './read-policy.ts'
import { recordApproval } from './record-approval.ts'
import { digestOf } from './stage.ts'
import type { World } from './world.ts'

export interface ApproveRequest {
  readonly id: string
  /** What the approver saw; refused when it is not the current one. */
  readonly digest?: string
  readonly via: 'terminal' | 'cli' | 'web' | 'mcp-client'
}

/**
 * Approves the current revision of a change: exactly its digest, message and author.
 *
 * @throws GalleyError `agent-may-not-approve`, `unknown-change`, `ambiguous-name`, `wrong-state`, `digest-mismatch`, `no-identity`.
 */
export async function approve(
  world: World,
  request: ApproveRequest,
): Promise<{ readonly change: ChangeView }> {
  refuseAgents(world)
  const store = await world.store()
  const logged = await loadChange(world, store, request.id)
  const { change } = logged
  if (!isPending(change.state)) {
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
  const approved = await recordApproval(world, store, logged, { via: request.via, policy })
  world.log.note('approved', { change: change.id, revision: revision.number })
  return { change: viewChange(approved.change) }
}

/** The policy for a change as it stands: of its base and of the tip that it is to land on. */
export async function policyOf(world: World, logged: LoggedChange): Promise<PolicyInForce> {
  const reader = await world.reader()
  const treeOf = async (commit: CommitId | null) => (commit === null ? null : reader.commitTree(commit))
  const tip = await resolveCommit(world.repository.door, logged.change.onto)
  return readPolicyFor(world, await treeOf(currentRevision(logged).base), await treeOf(tip))
}

/** The seat belt of DESIGN.md section 11: where the environment shows an agent at work, no approval is given. */
export function refuseAgents(world: World): void {
  const variable = agentAtWork(world.repository.env)
  if (variable !== null) {
    refuse('agent-may-not-approve', `the environment shows an agent at work (${variable} is set)`, {
      variable,
    })
  }
}

/** Loads a change by id or prefix; `--last` is resolved by the caller. */
export async function loadChange(world: World, store: Store, text: string): Promise<LoggedChange> {
  return readChange(store, await world.reader(), await findChange(store, text))
}

/**
 * A base that the user's own collection removed makes a change stale: recorded, and said.
 *
 * @throws GalleyError `stale`.
 */
export async function refuseLostBase(world: World, store: Store, logged: LoggedChange): Promise<void> {
  const { base, commit } = currentRevision(logged)
  const reader = await world.reader()
  const lost =
    base !== null && (await reader.info(base)) === null
      ? base
      : (await reader.info(commit)) === null
        ? commit
        : null
  if (lost === null) return
  const reason = `the commit ${lost} is not in the repository any more`
  const identity = await world.identity()
  if (isPending(logged.change.state)) {
    const event = {
      kind: 'stale',
      at: world.now(),
      by: `${identity.name} <${identity.email}>`,
      reason,
    } as const
    await appendEvents(store, logged, [{ event }], identity)
  }
  refuse('stale', `${logged.change.id} is stale: ${reason}`, { id: logged.change.id, commit: lost })
}

/**
 * Holds what the log says of the current revision against the objects: the commit behind the revision's ref, its
 * transitions and its digest.
 *
 * @returns The digest, recomputed from the trees.
 * @throws GalleyError `digest-mismatch`, if the store was changed by hand.
 */
export async function confirmStored(store: Store, logged: LoggedChange): Promise<Digest> {
  const { change } = logged
  const revision = currentRevision(logged)
  const ref = revisionRef(change.id, revision.number)
  const row = logged.refs.rows.find((r) => r.ref === ref)
  if (row?.object !== revision.commit) {
    const message = `revision ${revision.number} of ${change.id} is not the commit that was staged`
    refuse('digest-mismatch', message, { id: change.id, staged: revision.commit, found: row?.object ?? null })
  }
  const found = digestOf(await transitionsOf(store, revision.base, revision.commit))
  if (found !== revision.digest) {
    const message = `the commit of ${change.id} holds other bytes than its log says`
    refuse('digest-mismatch', message, { id: change.id, digest: revision.digest, found })
  }
  return found
}
