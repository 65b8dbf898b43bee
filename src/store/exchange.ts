import { parseCommit } from '../git/commit.ts'
import { commitTree } from '../git/commit-tree.ts'
import type { RemoteUpdate } from '../git/exchange.ts'
import type { ObjectReader } from '../git/objects.ts'
import { listRefs, type RefRow, type RefUpdate } from '../git/refs.ts'
import type { Change, ChangeEvent } from '../model/change.ts'
import { GalleyError } from '../model/error.ts'
import { applyEvent } from '../model/fold-change.ts'
import { type ChangeId, type CommitId, changeId, commitId, isChangeId, type TreeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Person } from '../model/person.ts'
import { readEventText } from '../model/read-record.ts'
import { listArchived } from './archive.ts'
import { eventCommit } from './change-log.ts'
import { type ChangeRefs, LOG_PREFIX, restoredRef } from './change-refs.ts'
import type { Store } from './open-store.ts'

/**
 * The refs that clones exchange. Revisions and approvals are made once and never move; a log moves forward only. Everything else of
 * the store (keys, landings, backups) is its own affair.
 */
export const EXCHANGED = ['refs/galley/changes/', 'refs/galley/approvals/', LOG_PREFIX] as const

/** What to ask a remote for: those refs, and the names in whose place none of them could be made. */
export const EXCHANGE_PATTERNS: readonly string[] = [
  'refs/galley',
  ...EXCHANGED.flatMap((prefix) => [prefix.slice(0, -1), `${prefix}*`]),
]

/** Whether a ref is exchanged, or stands where one could: above such a name, or beneath it. Any other is nobody's business here. */
export const isExchangedPlace = (ref: string): boolean =>
  /^refs\/galley(?:\/(?:log|changes|approvals)(?:\/g[0-9a-z]{9}(?:\/.*)?)?)?$/.test(ref)

export type ExchangedRef = { readonly id: ChangeId } & (
  | { readonly kind: 'revision'; readonly number: number }
  /** `tag`: the first twelve hex digits of the tag object. */
  | { readonly kind: 'approval'; readonly number: number; readonly tag: string }
  | { readonly kind: 'log' }
)

/** Reads the name of a ref that another lists. null = it is none of these, in any spelling. */
export function readExchangedRef(ref: string): ExchangedRef | null {
  const [, kind, id, number, tag] =
    /^refs\/galley\/(?:(log)\/([^/]+)|(changes|approvals)\/([^/]+)\/([1-9]\d{0,4})(?:\/([0-9a-f]{12}))?)$/
      .exec(ref)
      ?.filter((part) => part !== undefined) ?? []
  if (kind === undefined || id === undefined || !isChangeId(id)) return null
  if (kind === 'log') return { kind: 'log', id: changeId(id) }
  if (Number(number) > limits.revisionsMax) return null
  if (kind === 'changes') {
    return tag === undefined ? { kind: 'revision', id: changeId(id), number: Number(number) } : null
  }
  return tag === undefined ? null : { kind: 'approval', id: changeId(id), number: Number(number), tag }
}

/** The refs of this store that are exchanged, those of archived changes as if they stood. */
export async function listExchanged(store: Store): Promise<readonly RefRow[]> {
  const rows = await listRefs(store.door, ...EXCHANGED)
  const live = new Set(rows.flatMap((row) => readExchangedRef(row.ref)?.id ?? []))
  const archived = (await listArchived(store.door)).filter((entry) => !live.has(entry.id))
  const theirs = archived.flatMap(({ id, tip, rows: own }) => [
    ...own.filter((row) => readExchangedRef(row.ref) !== null),
    { ref: `${LOG_PREFIX}${id}`, object: tip },
  ])
  return [...rows, ...theirs]
}

/** Updates for a change that may be archived: none of its refs stands then, and all are put back with what is new. */
export function restoring(
  id: ChangeId,
  refs: ChangeRefs,
  updates: readonly RefUpdate[],
): readonly RefUpdate[] {
  if (refs.isArchived !== true) return updates
  const given = new Set(updates.map((update) => update.ref))
  const others = refs.rows.filter((row) => !given.has(row.ref))
  return [
    ...updates.map((update) => ({ ...update, expected: null })),
    ...others.map(({ ref, object }) => ({ ref, expected: null, next: object })),
    { ref: restoredRef(id), expected: null, next: refs.log },
  ]
}

/** What one side has of one change. */
export interface ChangeRows {
  readonly id: ChangeId
  readonly log: CommitId | null
  readonly revisions: ReadonlyMap<number, RefRow>
  readonly approvals: readonly (RefRow & { readonly number: number })[]
}

interface RowsInProgress {
  readonly id: ChangeId
  log: CommitId | null
  readonly revisions: Map<number, RefRow>
  readonly approvals: (RefRow & { readonly number: number })[]
}

/** Refs by change, in the order of their names; names that are none of galley's apart. */
export function byChange(rows: readonly RefRow[]): {
  readonly changes: ReadonlyMap<ChangeId, ChangeRows>
  readonly foreign: readonly RefRow[]
} {
  const changes = new Map<ChangeId, RowsInProgress>()
  const foreign: RefRow[] = []
  for (const row of rows) {
    const found = readExchangedRef(row.ref)
    if (found === null) {
      foreign.push(row)
      continue
    }
    const { id } = found
    const change: RowsInProgress = changes.get(id) ?? { id, log: null, revisions: new Map(), approvals: [] }
    changes.set(id, change)
    if (found.kind === 'log') change.log = commitId(row.object)
    else if (found.kind === 'revision') change.revisions.set(found.number, row)
    else change.approvals.push({ ...row, number: found.number })
  }
  return { changes, foreign }
}

export type ChangePush =
  | { readonly kind: 'ready'; readonly updates: readonly RemoteUpdate[] }
  /**
   * `behind`: the remote has what this store has not, to be fetched first. `parted`: both have a revision of one number, and no fetch
   * brings them together.
   */
  | { readonly kind: 'behind' | 'parted'; readonly id: ChangeId; readonly reason: string }

/** What a push of one change has to set on the remote, against what stands there. */
export async function planChangePush(
  reader: ObjectReader,
  local: ChangeRows,
  remote: ChangeRows | undefined,
): Promise<ChangePush> {
  const behind = (reason: string): ChangePush => ({ kind: 'behind', id: local.id, reason })
  const there = new Map(
    [...(remote?.revisions.values() ?? []), ...(remote?.approvals ?? [])].map((r) => [r.ref, r]),
  )
  const updates: RemoteUpdate[] = []
  for (const { ref, object } of [...local.revisions.values(), ...local.approvals]) {
    const known = there.get(ref)
    if (known === undefined) updates.push({ ref, next: object, expected: null })
    else if (known.object !== object)
      return { kind: 'parted', id: local.id, reason: `the remote has another object at ${ref}` }
  }
  const log = `${LOG_PREFIX}${local.id}`
  const from = remote?.log ?? null
  if (local.log === null) return from === null ? { kind: 'ready', updates } : behind('its log is not here')
  if (from !== local.log) {
    if (from !== null && !(await isInChain(reader, local.log, from)))
      return behind('its log has events on the remote that are not here')
    updates.push({ ref: log, next: local.log, expected: from })
  }
  return { kind: 'ready', updates }
}

/** Whether a commit is the tip of a log or one of its ancestors. */
export async function isInChain(reader: ObjectReader, tip: CommitId, wanted: CommitId): Promise<boolean> {
  for (let at: CommitId | null = tip; at !== null; ) {
    if (at === wanted) return true
    if ((await reader.info(at)) === null) return false
    const { parents }: { readonly parents: readonly CommitId[] } = await parseCommit(reader, at)
    at = parents[0] ?? null
  }
  return false
}

/** One event of a log with the commit that holds it. */
export interface LogEntry {
  readonly commit: CommitId
  readonly tree: TreeId
  readonly author: Person
  readonly committer: Person
  readonly message: string
  readonly event: ChangeEvent
}

/** Finds the ref in whose place, or beneath which, another one stands: no server keeps both. */
export function refInTheWay(rows: readonly RefRow[]): (ref: string) => string | null {
  const names = new Set(rows.map((row) => row.ref))
  const beneath = new Map(rows.flatMap(({ ref }) => foldersOf(ref).map((folder) => [folder, ref] as const)))
  return (ref) => foldersOf(ref).find((folder) => names.has(folder)) ?? beneath.get(ref) ?? null
}

const foldersOf = (ref: string): readonly string[] => {
  const parts = ref.split('/')
  return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join('/'))
}

export type LogPart =
  /** Oldest first; `above` is the commit that they stand on, null = the beginning. */
  | { readonly kind: 'entries'; readonly entries: readonly LogEntry[]; readonly above: CommitId | null }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Reads a log from its tip down to the first commit that is known already. The log may be anybody's: what is no chain of events, or too
 * long, is refused.
 */
export async function readLogPart(
  reader: ObjectReader,
  tip: CommitId,
  isKnown: (commit: CommitId) => boolean,
  maxEvents: number = limits.logMaxEvents,
): Promise<LogPart> {
  const refused = (reason: string): LogPart => ({ kind: 'refused', reason })
  const entries: LogEntry[] = []
  for (let at: CommitId | null = tip; at !== null; ) {
    if (isKnown(at)) return { kind: 'entries', entries: entries.reverse(), above: at }
    if (entries.length >= maxEvents) return refused(`it has more than ${maxEvents} events that are new`)
    const entry: (LogEntry & Above) | string = await readEntry(reader, at).catch(reasonOf)
    if (typeof entry === 'string') return refused(`${at} in the log ${entry}`)
    entries.push(entry)
    at = entry.parent
  }
  return { kind: 'entries', entries: entries.reverse(), above: null }
}

/** Reads one commit of a log; a text = why it is none. Every size is asked before anything is read. */
async function readEntry(reader: ObjectReader, commit: CommitId): Promise<(LogEntry & Above) | string> {
  const info = await reader.info(commit)
  if (info?.type !== 'commit') return `is ${info === null ? 'missing' : `a ${info.type}`}`
  if (info.size > limits.logObjectMaxBytes) return `is a commit of ${info.size} bytes`
  const { parents, message, tree, author, committer } = await parseCommit(reader, commit)
  if (parents.length > 1) return 'is a merge'
  const event = await readEvent(reader, tree)
  if (event === null) return 'holds no event'
  return { commit, tree, author, committer, message, event, parent: parents[0] ?? null }
}

interface Above {
  readonly parent: CommitId | null
}

function reasonOf(error: unknown): string {
  if (error instanceof GalleyError && error.code !== 'internal') return `cannot be read: ${error.message}`
  throw error
}

async function readEvent(reader: ObjectReader, tree: TreeId): Promise<ChangeEvent | null> {
  const root = await reader.info(tree)
  if (root?.type !== 'tree' || root.size > limits.logObjectMaxBytes) return null
  const entry = (await reader.tree(tree)).find((e) => e.name === 'event.json')
  const info = entry === undefined ? null : await reader.info(entry.id)
  if (info?.type !== 'blob' || info.size > limits.eventMaxBytes) return null
  const blob = await reader.contents(info.id)
  return blob === null ? null : readEventText(blob.bytes.toString('utf8'))
}

/** The message that galley would have written with an event, for whoever holds another's against it. */
export const expectedMessage = (
  change: Change,
  { event, committer }: Pick<LogEntry, 'event' | 'committer'>,
): string => eventCommit(change, { event }, null, committer).message

/**
 * Two clones appended to one log. Keeps every event of both: what the remote has stays as it is, and what it has not is appended behind
 * it again, in its order, with its files, people and times.
 *
 * Leaves commits in the store; the ref is for the caller to move. An event that the other side has already, re-appended by an earlier
 * fold, is not appended twice. The same two logs give the same commits everywhere.
 */
export async function appendBehind(
  store: Store,
  change: Change,
  onto: { readonly tip: CommitId; readonly entries: readonly LogEntry[] },
  entries: readonly LogEntry[],
): Promise<{ readonly change: Change; readonly tip: CommitId }> {
  const there = new Set(onto.entries.map(identityOf))
  let [now, tip] = [change, onto.tip]
  for (const entry of entries.filter((one) => !there.has(identityOf(one)))) {
    now = applyEvent({ ...now, log: [...now.log, entry.event] }, entry.event)
    const { tree, author, committer } = entry
    const message = expectedMessage(now, entry)
    tip = await commitTree(store.door, tree, { base: tip, author, committer, message })
  }
  return { change: now, tip }
}

/** Tells one event from another by its content, its writer and the second. */
const identityOf = ({ tree, author, committer }: LogEntry): string =>
  [tree, author, committer].map((part) => JSON.stringify(part)).join(' ')
