import { isPending } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { type CommitId, changeId, type Digest, isChangeId } from '../model/ids.ts'
import { nameAndEmail } from '../model/person.ts'
import { appendEvents, findChange, type LoggedChange, peekChange, readChange } from '../store/change-log.ts'
import { revisionRef } from '../store/change-refs.ts'
import type { Store } from '../store/open-store.ts'
import { currentRevision, transitionsOf } from './check.ts'
import { type PolicyInForce, readPolicyFor } from './read-policy.ts'
import { digestOf } from './stage.ts'
import type { World } from './world.ts'

/** Loads a change by id or prefix; `--last` is resolved by the caller. */
export async function loadChange(world: World, store: Store, text: string): Promise<LoggedChange> {
  return readChange(store, await world.reader(), await findChange(store, text))
}

/** The same for whoever only looks at it: no process beyond the reader's for an id that is written out. */
export async function lookAtChange(
  world: World,
  store: Store,
  text: string,
): Promise<Pick<LoggedChange, 'change' | 'tip'>> {
  const seen = isChangeId(text) ? await peekChange(await world.reader(), changeId(text)) : null
  return seen ?? loadChange(world, store, text)
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
      by: nameAndEmail(identity),
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

/** The policy for a change as it stands: of its base and of the tip that it is to land on. */
export async function policyOf(world: World, logged: LoggedChange): Promise<PolicyInForce> {
  const reader = await world.reader()
  const treeOf = async (commit: CommitId | null) => (commit === null ? null : reader.commitTree(commit))
  const tip = await world.tipOf(logged.change.onto)
  return readPolicyFor(world, await treeOf(currentRevision(logged).base), await treeOf(tip))
}
