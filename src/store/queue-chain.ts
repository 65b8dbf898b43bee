import { openImporter } from '../git/fast-import.ts'
import type { ObjectReader } from '../git/objects.ts'
import { type CommitId, changeId, isChangeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { emptyQueue, type QueueEntry, type QueueEvent, type QueueState } from '../model/queue.ts'
import type { Store } from './open-store.ts'

export const QUEUE_PREFIX = 'refs/galley/queue/'

/** `refs/heads/main` → the ref of its queue. */
export const queueRef = (branch: string): string =>
  `${QUEUE_PREFIX}${branch.replace(/^refs\/heads\//, () => '')}`

const STATE_MAX_BYTES = 4 * 1024 * 1024
const ENTRIES_MAX = 10_000

/**
 * The queue as its newest commit has it. Each commit holds the event that made it and the queue after it, so that a look costs the same
 * after any number of events. null = it is none of galley's.
 */
export async function readQueue(reader: ObjectReader, tip: CommitId | null): Promise<QueueState | null> {
  if (tip === null) return emptyQueue
  const info = await reader.info(`${tip}:state.json`)
  if (info?.type !== 'blob' || info.size > STATE_MAX_BYTES) return null
  const found = await reader.contents(`${tip}:state.json`)
  return found === null ? null : stateIn(found.bytes.toString('utf8'))
}

function stateIn(text: string): QueueState | null {
  const value = parsed(text)
  if (value === null || value['version'] !== 1) return null
  const { entries, landed, dropped } = value
  if (!Array.isArray(entries) || entries.length > ENTRIES_MAX || !entries.every(isEntry)) return null
  if (![landed, dropped].every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return null
  return {
    version: 1,
    entries: entries.map(({ id, by, at, claim }: QueueEntry) => ({ id: changeId(id), by, at, claim })),
    landed: Number(landed),
    dropped: Number(dropped),
  }
}

type Fields = Readonly<Record<string, unknown>>

function parsed(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function isEntry(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { id, by, at, claim } = value as Fields
  if (typeof id !== 'string' || !isChangeId(id) || typeof by !== 'string' || !isMoment(at)) return false
  if (claim === null) return true
  if (typeof claim !== 'object') return false
  const { by: who, until } = claim as Fields
  return typeof who === 'string' && isMoment(until)
}

const isMoment = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value))

/** Writes an event and the queue after it as a commit on `parent`; no ref. One process. */
export async function writeQueueEvent(
  { door }: Pick<Store, 'door'>,
  who: Person,
  parent: CommitId | null,
  step: { readonly event: QueueEvent; readonly state: QueueState },
): Promise<CommitId> {
  const importer = openImporter(door, { asPack: false })
  const file = (path: string, value: object) => ({
    kind: 'bytes' as const,
    path,
    mode: '100644' as const,
    bytes: Buffer.from(`${JSON.stringify(value, null, 1)}\n`, 'utf8'),
  })
  const { commit } = await importer.commit({
    parent,
    author: who,
    committer: who,
    message: `${step.event.kind} ${step.event.id}\n`,
    changes: [file('event.json', step.event), file('state.json', step.state)],
    fromNothing: true,
  })
  await importer.finish()
  return commit
}
