import { git } from '../git/door.ts'
import { listRefs, type RefRow } from '../git/refs.ts'
import type { Change } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { type ChangeId, changeId, isChangeId } from '../model/ids.ts'
import { ARCHIVE_PREFIX, type ArchiveCounts, archivedLike, listArchived } from './archive.ts'
import { LOG_PREFIX, RESTORED_PREFIX } from './change-refs.ts'
import type { Store } from './open-store.ts'

/** The title shown for a change whose log cannot be read. */
export const UNREADABLE = '(its log cannot be read)'

/** What a log's newest commit says of the change, so that a list of changes costs one process. */
export interface ChangeSummary {
  readonly id: ChangeId
  readonly state: Change['state']
  readonly title: string
  readonly onto: string
  readonly revision: number
  readonly base: string | null
  readonly files: number
  readonly added: number
  readonly removed: number
  /** Required checks that did not pass on the current revision; absent in records of earlier versions. */
  readonly failing?: number
  readonly agent: string | null
  readonly session: string | null
  /** When it was proposed, and when its log last moved; ISO 8601. */
  readonly proposedAt: string
  readonly at: string
}

/** Every change with what its log's tip says of it, newest first. One process, whatever the number; two where some are archived. */
export async function listChanges(store: Store): Promise<readonly ChangeSummary[]> {
  const { changes, archives } = await listLiveChanges(store)
  if (archives.length === 0) return changes
  const live = new Set(changes.map((c) => c.id))
  const archived = (await listArchived(store.door, archives))
    .filter((entry) => !live.has(entry.id))
    .map((entry) => readSummary(entry.id, entry.summary))
  return [...changes, ...archived].sort(newestFirst)
}

/** The changes that have refs of their own, and of the archived ones the number. */
export interface LiveChanges {
  readonly changes: readonly ChangeSummary[]
  readonly archives: readonly RefRow[]
  /** Landed changes, undone ones among them, that are archived and not among `changes`. */
  readonly archivedCount: number
}

/** Every change that is not archived, newest first. One process. */
export async function listLiveChanges(store: Store): Promise<LiveChanges> {
  const format = '--format=%(refname)%00%(objectname)%00%(contents:body)%00'
  const prefixes = [LOG_PREFIX, ARCHIVE_PREFIX, RESTORED_PREFIX]
  const result = await git(store.door, { args: ['for-each-ref', format, ...prefixes] })
  const fields = result.stdout.toString('utf8').split('\0')
  const changes: ChangeSummary[] = []
  const archives: RefRow[] = []
  let archivedCount = 0
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const ref = (fields[i] ?? '').trim()
    const [object = '', body = ''] = fields.slice(i + 1, i + 3)
    const id = ref.slice(LOG_PREFIX.length)
    if (ref.startsWith(RESTORED_PREFIX)) archivedCount--
    else if (ref.startsWith(ARCHIVE_PREFIX)) {
      archives.push({ ref, object })
      archivedCount += countIn(body)
    } else if (isChangeId(id)) changes.push(readSummary(changeId(id), body))
  }
  return { changes: changes.sort(newestFirst), archives, archivedCount }
}

function countIn(body: string): number {
  try {
    const { landed } = JSON.parse(body) as Partial<ArchiveCounts>
    return Number.isSafeInteger(landed) ? Number(landed) : 0
  } catch (error) {
    if (error instanceof SyntaxError) return 0
    throw error
  }
}

/** A summary that cannot be read does not hide its change: `show` then says what is wrong with the log. */
function readSummary(id: ChangeId, text: string): ChangeSummary {
  const unreadable: ChangeSummary = {
    id,
    state: 'stale',
    title: UNREADABLE,
    onto: '',
    revision: 0,
    base: null,
    files: 0,
    added: 0,
    removed: 0,
    agent: null,
    session: null,
    proposedAt: '',
    at: '',
  }
  try {
    const found: unknown = JSON.parse(text)
    const isSummary =
      typeof found === 'object' && found !== null && 'state' in found && 'title' in found && 'onto' in found
    return isSummary ? { ...unreadable, ...(found as ChangeSummary), id } : unreadable
  } catch (error) {
    if (error instanceof SyntaxError) return unreadable
    throw error
  }
}

function newestFirst(a: ChangeSummary, b: ChangeSummary): number {
  if (a.proposedAt !== b.proposedAt) return a.proposedAt < b.proposedAt ? 1 : -1
  return a.id < b.id ? 1 : -1
}

/**
 * The one change whose id is `text` or begins with it (three characters at least).
 *
 * @throws GalleyError `unknown-change`, `ambiguous-name`.
 */
export async function findChange(store: Store, text: string): Promise<ChangeId> {
  if (isChangeId(text)) return changeId(text)
  if (!/^g[0-9a-z]{2,9}$/.test(text)) {
    refuse(
      'unknown-change',
      `${JSON.stringify(text.slice(0, 40))} is not the id of a change: g and nine letters or digits, or three or more of them`,
      { text: text.slice(0, 40) },
    )
  }
  const rows = await listRefs(store.door, LOG_PREFIX, ARCHIVE_PREFIX)
  const archives = rows.filter((row) => row.ref.startsWith(ARCHIVE_PREFIX))
  const live = rows.map((row) => row.ref.slice(LOG_PREFIX.length)).filter((id) => id.startsWith(text))
  const archived = await archivedLike(store.door, archives, text)
  const ids = [...new Set([...live, ...archived.map((entry) => entry.id as string)])]
  const [only, another] = ids
  if (only === undefined) refuse('unknown-change', `no change begins with ${text}`, { text })
  if (another !== undefined)
    refuse('ambiguous-name', `${ids.length} changes begin with ${text}`, { text, ids: ids.slice(0, 20) })
  return changeId(only)
}
