import { sha256Hex } from '../git/blob-id.ts'
import type { ObjectReader } from '../git/objects.ts'
import { listRefs, type RefUpdate } from '../git/refs.ts'
import { type ChangeId, type CommitId, changeId, isChangeId } from '../model/ids.ts'
import { findArchivedKey } from './archive.ts'
import type { Store } from './open-store.ts'

export const KEY_PREFIX = 'refs/galley/keys/'
export const BATCH_PREFIX = 'refs/galley/batches/'

/**
 * Batches seen before, as refs to the log commit of their proposal: one for a key and its session, one for the bytes.
 * Looking one up costs one process, whatever the number of changes.
 */
export const keyRef = (session: string | undefined, key: string): string =>
  `${KEY_PREFIX}${sha256Hex(`${session ?? ''}\0${key}`).slice(0, 40)}`

export const bytesRef = (batchHash: string): string => `${BATCH_PREFIX}${batchHash.slice(0, 40)}`

/** The change that a ref of this kind leads to, with the object it holds. */
export async function findByRef(
  store: Store,
  reader: ObjectReader,
  ref: string,
): Promise<{ readonly id: ChangeId; readonly object: string } | null> {
  const [row] = await listRefs(store.door, ref)
  // Bytes find only what still waits, and nothing that waits is archived.
  const object = row?.object ?? (ref.startsWith(KEY_PREFIX) ? await findArchivedKey(store.door, ref) : null)
  if (object === null) return null
  const commit = await reader.contents(object)
  const id = /\n\nproposed (g\w+)\n/.exec(commit?.bytes.toString('utf8') ?? '')?.[1] ?? ''
  return isChangeId(id) ? { id: changeId(id), object } : null
}

export const rememberAs = (ref: string, proposal: CommitId, before: string | null): RefUpdate => ({
  ref,
  expected: before,
  next: proposal,
})
