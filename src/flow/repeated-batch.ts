import type { ObjectReader } from '../git/objects.ts'
import type { Batch } from '../model/batch.ts'
import { type Change, isPending } from '../model/change.ts'
import { invariant, refuse } from '../model/error.ts'
import { quote } from '../policy/quote.ts'
import { bytesRef, findByRef, keyRef } from '../store/batch-keys.ts'
import { type LoggedChange, readChange, readProposal } from '../store/change-log.ts'
import type { Store } from '../store/open-store.ts'
import { movedPaths } from './moved-paths.ts'
import type { Base } from './select-base.ts'
import type { World } from './world.ts'

export interface Repeated {
  readonly change: LoggedChange | null
  /** Refs to set to the new proposal, with what they hold now. */
  readonly refs: readonly { readonly ref: string; readonly object: string | null }[]
}

/** Finds the change of a batch that was proposed before. A key finds it whatever became of it; equal bytes only while it is pending. */
export async function findRepeated(
  world: World,
  store: Store,
  batch: Batch,
  { batchHash, sameness }: { readonly batchHash: string; readonly sameness: string },
): Promise<Repeated> {
  const reader = await world.reader()
  const byBytes = bytesRef(sameness)
  const bytes = await findByRef(store, reader, byBytes)
  if (batch.key !== undefined) {
    const ref = keyRef(batch.agent?.session, batch.key)
    const found = await findByRef(store, reader, ref)
    const change = found === null ? null : await readChange(store, reader, found.id)
    if (found !== null) await refuseOtherBatch(reader, found, batch.key, batchHash)
    return {
      change,
      refs: [
        { ref, object: null },
        { ref: byBytes, object: bytes?.object ?? null },
      ],
    }
  }
  const same = bytes === null ? null : await readChange(store, reader, bytes.id)
  const change = same !== null && isPending(same.change.state) ? same : null
  return { change, refs: [{ ref: byBytes, object: bytes?.object ?? null }] }
}

/** One key for two batches is a mistake of the caller's, who would take the first one's outcome for the second's. */
async function refuseOtherBatch(
  reader: ObjectReader,
  { id, object }: { readonly id: string; readonly object: string },
  key: string,
  batchHash: string,
): Promise<void> {
  const proposal = await readProposal(reader, object)
  if (proposal === null || proposal.batchHash === batchHash) return
  const message = `the key ${quote(key)} is that of another batch, which became ${id}`
  refuse('invalid-batch', message, { pointer: '/key', key, id }, 'Give every batch a key of its own.')
}

/** The reason of a revision that holds a repeated batch, made afresh. */
export const PROPOSED_AGAIN = 'proposed again'

/** The current revision, where the change's own batch made it; 0 where a revision of another batch, a check or a merge did. */
export function askedRevision({ log, revisions }: Change): number {
  const last = log.findLast((event) => event.kind === 'staged' || event.kind === 'restaged')
  invariant(last?.kind === 'staged' || last?.kind === 'restaged', 'a change has a revision')
  return last.kind === 'staged' || last.reason === PROPOSED_AGAIN ? revisions.length : 0
}

/**
 * Whether the files of a change that waits have moved between its base and this one, so that landing it as it is would conflict or
 * need a merge. A base that the change has stood on before says nothing new.
 */
export async function hasMovedAway(world: World, change: Change, base: Base): Promise<boolean> {
  const revision = change.revisions.at(-1)
  if (!isPending(change.state) || change.onto !== base.onto || revision === undefined) return false
  if (change.revisions.some((r) => r.base === base.commit)) return false
  return (await movedPaths(world, revision, base.commit)).length > 0
}
