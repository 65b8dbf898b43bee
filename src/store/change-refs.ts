import { listRefs, type RefRow } from '../git/refs.ts'
import { type ChangeId, type CommitId, commitId, type TagId } from '../model/ids.ts'
import type { Store } from './open-store.ts'

export const LOG_PREFIX = 'refs/galley/log/'

export const logRef = (id: ChangeId): string => `${LOG_PREFIX}${id}`
export const revisionRef = (id: ChangeId, number: number): string => `refs/galley/changes/${id}/${number}`
/** The commit that is about to land, so that a kill between the landing and its log event can be told. */
export const landingRef = (id: ChangeId): string => `refs/galley/landing/${id}`
/** The newest event of another clone's in the log: from it on down, results of checks are others' words. Never exchanged. */
export const fetchedRef = (id: ChangeId): string => `refs/galley/fetched/${id}`
export const approvalPrefix = (id: ChangeId, revision: number): string =>
  `refs/galley/approvals/${id}/${revision}/`
export const approvalRef = (id: ChangeId, revision: number, tag: TagId): string =>
  `${approvalPrefix(id, revision)}${tag.slice(0, 12)}`

/** Every ref of one change as it stood at one moment. */
export interface ChangeRefs {
  /** null = no such change. */
  readonly log: CommitId | null
  readonly landing: CommitId | null
  readonly rows: readonly RefRow[]
}

/** Reads all refs of a change with one process. */
export async function readChangeRefs(store: Store, id: ChangeId): Promise<ChangeRefs> {
  const rows = await listRefs(
    store.door,
    logRef(id),
    landingRef(id),
    fetchedRef(id),
    `refs/galley/changes/${id}/`,
    `refs/galley/approvals/${id}/`,
  )
  const one = (ref: string): CommitId | null => {
    const row = rows.find((r) => r.ref === ref)
    return row === undefined ? null : commitId(row.object)
  }
  return { log: one(logRef(id)), landing: one(landingRef(id)), rows }
}
