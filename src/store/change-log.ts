import { openImporter } from '../git/fast-import.ts'
import type { ObjectReader } from '../git/objects.ts'
import { listRefs, type RefUpdate, updateRefs } from '../git/refs.ts'
import type { Change, ChangeEvent } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { applyEvent, foldChange } from '../model/fold-change.ts'
import { type ChangeId, type CommitId, changeId, commitId, treeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { readEventText } from '../model/read-record.ts'
import { listArchived } from './archive.ts'
import type { ChangeSummary } from './change-list.ts'
import { type ChangeRefs, LOG_PREFIX, logRef, readChangeRefs, restoredRef } from './change-refs.ts'
import type { Store } from './open-store.ts'
import { writeCommit } from './write-objects.ts'

export {
  type ChangeSummary,
  findChange,
  listChanges,
  listLiveChanges,
  UNREADABLE,
} from './change-list.ts'

/** A change together with the tip of its log, which the next event must name as its parent. */
export interface LoggedChange {
  readonly change: Change
  readonly tip: CommitId
  /** As they were when the change was read. */
  readonly refs: ChangeRefs
}

/** An event to append, and files to keep beside it (such as a check's output). */
export interface EventRecord {
  readonly event: ChangeEvent
  readonly attachments?: ReadonlyMap<string, Uint8Array>
}

/**
 * Reads a change by folding its log.
 *
 * @throws GalleyError `unknown-change`.
 */
export async function readChange(store: Store, reader: ObjectReader, id: ChangeId): Promise<LoggedChange> {
  const refs = await readChangeRefs(store, id)
  const tip = refs.log
  if (tip === null) refuse('unknown-change', `no change is called ${id}`, { id })
  return { change: await readLog(reader, id, tip), tip, refs }
}

/**
 * Reads a change for whoever only looks at it: by the reader that runs already, which knows refs by name, so that it costs no
 * process whatever the number of changes. null = no ref of its own: it was archived, or there is none.
 */
export async function peekChange(
  reader: ObjectReader,
  id: ChangeId,
): Promise<Pick<LoggedChange, 'change' | 'tip'> | null> {
  const found = await reader.info(logRef(id))
  if (found?.type !== 'commit') return null
  const tip = commitId(found.id)
  return { change: await readLog(reader, id, tip), tip }
}

/** Folds the log whose newest commit is `tip`: no process, for whoever has listed the refs already. */
export async function readLog(reader: ObjectReader, id: ChangeId, tip: CommitId): Promise<Change> {
  const events: ChangeEvent[] = []
  for (let at: CommitId | null = tip; at !== null; ) {
    const commit = await reader.contents(at)
    if (commit === null)
      refuse('stale', `the log of ${id} is incomplete: ${at} is missing`, { id, commit: at })
    const header = commit.bytes.toString('utf8')
    const event = await readEvent(reader, header)
    if (event === null)
      refuse('forged', `the log of ${id} holds a record that is none of galley's: ${at}`, { id, commit: at })
    events.push(event)
    const parent = /^parent ([0-9a-f]+)$/m.exec(header.slice(0, header.indexOf('\n\n')))?.[1]
    at = parent === undefined ? null : commitId(parent)
  }
  if (events.at(-1)?.kind !== 'proposed') {
    refuse('forged', `the log of ${id} does not begin with its proposal`, { id })
  }
  return foldChange(id, events.reverse())
}

async function readEvent(reader: ObjectReader, commit: string): Promise<ChangeEvent | null> {
  const tree = /^tree ([0-9a-f]+)\n/.exec(commit)?.[1]
  if (tree === undefined) return null
  const entry = (await reader.tree(treeId(tree))).find((e) => e.name === 'event.json')
  const blob = entry === undefined ? null : await reader.contents(entry.id)
  return blob?.object.type === 'blob' ? readEventText(blob.bytes.toString('utf8')) : null
}

/** What a change's first record says, by the log commit that holds it; null = that is no proposal. */
export async function readProposal(
  reader: ObjectReader,
  commit: string,
): Promise<Extract<ChangeEvent, { kind: 'proposed' }> | null> {
  const found = await reader.contents(`${commit}:event.json`)
  const event = found === null ? null : readEventText(found.bytes.toString('utf8'))
  return event?.kind === 'proposed' ? event : null
}

/** Reads an attachment of the newest event of a kind, such as `output/lint.txt` of the last checks; null when there is none. */
export async function readAttachment(
  reader: ObjectReader,
  tip: CommitId,
  path: string,
): Promise<Buffer | null> {
  for (let at: string | null = tip; at !== null; ) {
    const found = await reader.contents(`${at}:${path}`)
    if (found !== null && found.object.type === 'blob') return found.bytes
    const commit = await reader.contents(at)
    at = /^parent ([0-9a-f]+)$/m.exec(commit?.bytes.toString('utf8').split('\n\n', 1)[0] ?? '')?.[1] ?? null
  }
  return null
}

/** One log commit to write: its content is the event, its message a summary for lists. */
export function eventCommit(change: Change, record: EventRecord, parent: CommitId | null, who: Person) {
  const files = [...(record.attachments ?? [])].map(([path, bytes]) => ({
    kind: 'bytes' as const,
    path,
    mode: '100644' as const,
    bytes,
  }))
  const event = Buffer.from(`${JSON.stringify(record.event, null, 1)}\n`, 'utf8')
  return {
    parent,
    author: who,
    committer: who,
    message: `${record.event.kind} ${change.id}\n\n${JSON.stringify(summarise(change, record.event.at))}\n`,
    changes: [
      { kind: 'bytes' as const, path: 'event.json', mode: '100644' as const, bytes: event },
      ...files,
    ],
    fromNothing: true,
  }
}

/**
 * Appends events to a change's log, moving its ref (and `refs` with it) by compare-and-swap.
 *
 * @throws GalleyError `busy`, if another process appended first; nothing has moved then.
 */
export async function appendEvents(
  store: Store,
  logged: LoggedChange,
  records: readonly EventRecord[],
  who: Person,
  refs: readonly RefUpdate[] = [],
): Promise<LoggedChange> {
  const [done] = (await appendToLogs(store, [{ logged, records }], who, refs)) ?? []
  if (done !== undefined) return done
  const { id } = logged.change
  refuse('busy', `another process changed ${id} at the same time`, { id })
}

/** What is to be appended to one change's log. */
export interface LogAppend {
  readonly logged: LoggedChange
  readonly records: readonly EventRecord[]
}

/**
 * Appends to several logs in one transaction: all refs move, or none.
 *
 * @returns The changes as they then are, in order; null if another process changed one of them since it was read.
 */
export async function appendToLogs(
  store: Store,
  appends: readonly LogAppend[],
  who: Person,
  refs: readonly RefUpdate[] = [],
): Promise<readonly LoggedChange[] | null> {
  const events = eventWriter(
    store,
    appends.reduce((sum, { records }) => sum + records.length, 0),
  )
  const done: LoggedChange[] = []
  for (const { logged, records } of appends) {
    let { change, tip } = logged
    for (const record of records) {
      change = applyEvent({ ...change, log: [...change.log, record.event] }, record.event)
      tip = await events.write(eventCommit(change, record, tip, who))
    }
    const { isArchived: _, ...refs } = logged.refs
    done.push({ change, tip, refs })
  }
  await events.finish()
  const moves = appends.flatMap(({ logged }, i) => {
    const next = done[i]?.tip
    return next === undefined ? [] : movesOf(logged, next)
  })
  const kinds = appends.flatMap(({ records }) => records.map((r) => r.event.kind))
  return (await updateRefs(store.door, [...moves, ...refs], `galley: ${kinds.join(', ')}`)) ? done : null
}

/** More events than this are written by one git, as one pack. */
const OWN_EVENTS_MAX = 20

/** A few events are written without a process. The ref that moves to them is refused by git where they are not there. */
function eventWriter(store: Store, count: number) {
  if (count > OWN_EVENTS_MAX) {
    const importer = openImporter(store.door, { asPack: false })
    const write = async (event: EventCommit) => (await importer.commit(event)).commit
    return { write, finish: importer.finish }
  }
  const write = ({ changes, ...facts }: EventCommit) =>
    writeCommit(store, { ...facts, files: new Map(changes.map(({ path, bytes }) => [path, bytes])) })
  return { write, finish: async () => undefined }
}

type EventCommit = ReturnType<typeof eventCommit>

/** The log goes on from its tip. One that was archived gets its refs back, which must not stand then. */
function movesOf({ change, tip, refs }: LoggedChange, next: CommitId): readonly RefUpdate[] {
  const log = logRef(change.id)
  if (refs.isArchived !== true) return [{ ref: log, expected: tip, next }]
  const others = refs.rows.filter((row) => row.ref !== log)
  return [
    { ref: log, expected: null, next },
    { ref: restoredRef(change.id), expected: null, next: tip },
    ...others.map(({ ref, object }) => ({ ref, expected: null, next: object })),
  ]
}

function summarise(change: Change, at: string): ChangeSummary {
  const revision = change.revisions.at(-1)
  const sum = (key: 'added' | 'removed') => revision?.files.reduce((n, f) => n + (f[key] ?? 0), 0) ?? 0
  return {
    id: change.id,
    state: change.state,
    title: change.title,
    onto: change.onto,
    revision: revision?.number ?? 0,
    base: revision?.base ?? null,
    // git counts a rename as one file.
    files:
      (revision?.manifest.length ?? 0) -
      (revision?.files.filter((f) => f.renamedFrom !== undefined).length ?? 0),
    added: sum('added'),
    removed: sum('removed'),
    failing: change.checks.filter(
      (c) => c.commit === revision?.commit && c.required && c.outcome !== 'passed',
    ).length,
    agent: change.agent?.name ?? null,
    session: change.agent?.session ?? null,
    proposedAt: change.log[0]?.at ?? at,
    at,
  }
}

/** Reads the changes with these ids, archived or not. Two processes, and no more, whatever the number. */
export async function readChanges(
  store: Store,
  reader: ObjectReader,
  ids: ReadonlySet<string>,
): Promise<readonly Change[]> {
  if (ids.size === 0) return []
  const rows = await listRefs(store.door, LOG_PREFIX)
  const tips = new Map<string, CommitId>()
  for (const entry of await listArchived(store.door)) tips.set(entry.id, entry.tip)
  for (const row of rows) tips.set(row.ref.slice(LOG_PREFIX.length), commitId(row.object))
  const changes: Change[] = []
  for (const [id, tip] of tips) if (ids.has(id)) changes.push(await readLog(reader, changeId(id), tip))
  return changes
}
