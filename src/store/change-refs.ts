import { listRefs, type RefRow } from '../git/refs.ts'
import { type ChangeId, type CommitId, commitId, type TagId } from '../model/ids.ts'
import { ARCHIVE_PREFIX, findArchived } from './archive.ts'
import type { Store } from './open-store.ts'

export const LOG_PREFIX = 'refs/galley/log/'

export const logRef = (id: ChangeId): string => `${LOG_PREFIX}${id}`
export const revisionRef = (id: ChangeId, number: number): string => `refs/galley/changes/${id}/${number}`
export const LANDING_PREFIX = 'refs/galley/landing/'
/** The commit that is about to land, so that a kill between the landing and its log event can be told. */
export const landingRef = (id: ChangeId): string => `${LANDING_PREFIX}${id}`
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
  /** The refs were folded into an archive: none of them stands, and whoever appends to the log puts them back. */
  readonly isArchived?: true
}

/** A change that was archived and has its refs back: stands until it is archived again, so that it is not counted twice. */
export const RESTORED_PREFIX = 'refs/galley/restored/'
export const restoredRef = (id: ChangeId): string => `${RESTORED_PREFIX}${id}`

/** Reads all refs of a change with one process; those of an archived one with two. */
export async function readChangeRefs(store: Pick<Store, 'door'>, id: ChangeId): Promise<ChangeRefs> {
  const all = await listRefs(
    store.door,
    logRef(id),
    landingRef(id),
    fetchedRef(id),
    `refs/galley/changes/${id}/`,
    `refs/galley/approvals/${id}/`,
    ARCHIVE_PREFIX,
  )
  const archives = all.filter((row) => row.ref.startsWith(ARCHIVE_PREFIX))
  const rows = all.filter((row) => !row.ref.startsWith(ARCHIVE_PREFIX))
  const one = (ref: string): CommitId | null => {
    const row = rows.find((r) => r.ref === ref)
    return row === undefined ? null : commitId(row.object)
  }
  const log = one(logRef(id))
  const archived = log === null ? await findArchived(store.door, archives, id) : null
  if (archived === null) return { log, landing: one(landingRef(id)), rows }
  const landing = archived.rows.find((row) => row.ref === landingRef(id))
  return {
    log: archived.tip,
    landing: landing === undefined ? null : commitId(landing.object),
    rows: [...archived.rows, { ref: logRef(id), object: archived.tip }],
    isArchived: true,
  }
}
