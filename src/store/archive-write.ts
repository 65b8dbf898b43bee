import { openImporter } from '../git/fast-import.ts'
import { type ObjectReader, openObjectReader } from '../git/objects.ts'
import { objectsIn, type PackedObject, packThese } from '../git/pack-objects.ts'
import { listRefs, type RefRow, type RefUpdate, updateRefs } from '../git/refs.ts'
import type { Change } from '../model/change.ts'
import { GalleyError } from '../model/error.ts'
import { type ChangeId, type CommitId, changeId, commitId, isChangeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import {
  ARCHIVE_PREFIX,
  type ArchiveCounts,
  type ArchiveEntry,
  archiveRef,
  KEYS_FILE,
  letterOf,
  lineOf,
  listArchived,
  listArchives,
  parseShard,
  readBlobs,
  shardName,
} from './archive.ts'
import { objectsOf } from './archive-objects.ts'
import { BATCH_PREFIX, KEY_PREFIX } from './batch-keys.ts'
import { type ChangeSummary, readLog } from './change-log.ts'
import { LOG_PREFIX } from './change-refs.ts'
import type { Store } from './open-store.ts'
import { keepPack, listPacks, packIndex, removePacks } from './packs.ts'

/** Changes whose objects are gathered at once; their trees are held in memory. */
const AT_ONCE = 500
/** Another process may append to one of the logs meanwhile; then that one is left for the next time. */
const ATTEMPTS = 3

/** Every ref of the store, by the change that it belongs to. */
export interface StoreRefs {
  readonly byChange: ReadonlyMap<ChangeId, readonly RefRow[]>
  /** Batches' keys and bytes, by the log commit that they lead to. */
  readonly keys: ReadonlyMap<string, readonly RefRow[]>
}

const OF_CHANGES = /^refs\/galley\/(?:changes|log|approvals|landing|fetched|restored)\/([^/]+)/

/** Lists the store's refs. One process. */
export async function readStoreRefs(store: Store): Promise<StoreRefs> {
  const byChange = new Map<ChangeId, RefRow[]>()
  const keys = new Map<string, RefRow[]>()
  for (const row of await listRefs(store.door, 'refs/galley/')) {
    const id = OF_CHANGES.exec(row.ref)?.[1] ?? ''
    if (isChangeId(id)) byChange.set(changeId(id), [...(byChange.get(changeId(id)) ?? []), row])
    else if (row.ref.startsWith(KEY_PREFIX) || row.ref.startsWith(BATCH_PREFIX))
      keys.set(row.object, [...(keys.get(row.object) ?? []), row])
  }
  return { byChange, keys }
}

/** One change that is to be archived. */
interface Candidate {
  readonly entry: ArchiveEntry
  /** All of its refs, and the keys that lead to it. */
  readonly rows: readonly RefRow[]
  readonly keys: readonly RefRow[]
  readonly objects: readonly PackedObject[]
}

/**
 * Folds decided changes into the archives of their months: their objects into one kept pack for each month, their refs into one commit.
 *
 * Nothing but refs goes: whoever appends to such a change gets its refs back. A change whose log moved meanwhile is left as it is.
 *
 * @returns The changes that were archived.
 */
export async function archiveChanges(
  store: Store,
  summaries: readonly ChangeSummary[],
  who: Person,
): Promise<readonly ChangeId[]> {
  const done: ChangeId[] = []
  const months = new Map<string, ChangeSummary[]>()
  for (const summary of summaries) {
    const month = monthOf(summary.proposedAt)
    months.set(month, [...(months.get(month) ?? []), summary])
  }
  for (const [month, some] of months) done.push(...(await archiveMonth(store, month, some, who)))
  return done
}

/** The month of its proposal: it never changes, so an archived change has one place. */
const monthOf = (at: string): string => /^\d{4}-\d{2}/.exec(at)?.[0] ?? '0000-00'

async function archiveMonth(
  store: Store,
  month: string,
  summaries: readonly ChangeSummary[],
  who: Person,
): Promise<readonly ChangeId[]> {
  const text = keepText(month)
  let candidates = await gather(store, summaries)
  const old = (await listPacks(store.door)).filter((pack) => pack.keep === text)
  const known: PackedObject[] = []
  for (const pack of old) {
    const index = await packIndex(store.door, pack.name)
    const ids = index === null ? [] : await objectsIn(store.door, index)
    known.push(...ids.map((id) => ({ id, name: '' })))
  }
  const pack = await packThese(store.door, [...known, ...candidates.flatMap((c) => c.objects)], {
    local: true,
  })
  if (pack !== null) await keepPack(store.door, pack, text)
  for (let attempt = 0; attempt < ATTEMPTS && candidates.length > 0; attempt++) {
    if (await publish(store, month, candidates, who)) {
      const replaced = old.flatMap(({ name }) => (name === pack ? [] : [name]))
      if (pack !== null) await removePacks(store.door, replaced)
      return candidates.map((c) => c.entry.id)
    }
    candidates = await unmoved(store, candidates)
  }
  return []
}

/**
 * Keeps the objects of archives again whose mark was lost, by a power cut or by hand: without it a collection would take them for
 * unused. Costs a look at the packs where all is well.
 */
export async function mendArchives(store: Store): Promise<void> {
  const marks = new Set((await listPacks(store.door)).map((pack) => pack.keep))
  for (const row of await listArchives(store.door)) {
    const text = keepText(row.ref.slice(ARCHIVE_PREFIX.length))
    if (marks.has(text)) continue
    const objects: PackedObject[] = []
    const reader = openObjectReader(store.door)
    try {
      for (const entry of await listArchived(store.door, [row])) {
        const change = await readableLog(reader, entry.id, entry.tip)
        if (change !== null) objects.push(...(await objectsOf(reader, change, entry)))
      }
    } finally {
      await reader.close()
    }
    const pack = await packThese(store.door, objects, { local: true })
    if (pack !== null) await keepPack(store.door, pack, text)
  }
}

const keepText = (month: string): string => `galley archive ${month}\n`

/** Reads the changes to archive, some at a time: a reader remembers every tree that it has seen. */
async function gather(store: Store, summaries: readonly ChangeSummary[]): Promise<readonly Candidate[]> {
  const refs = await readStoreRefs(store)
  const candidates: Candidate[] = []
  for (let at = 0; at < summaries.length; at += AT_ONCE) {
    const reader = openObjectReader(store.door)
    try {
      for (const summary of summaries.slice(at, at + AT_ONCE)) {
        const rows = refs.byChange.get(summary.id) ?? []
        const tip = rows.find((row) => row.ref === `${LOG_PREFIX}${summary.id}`)
        if (tip === undefined) continue
        const log = commitId(tip.object)
        const kept = rows.filter((row) => row !== tip && !row.ref.startsWith('refs/galley/restored/'))
        const entry = { id: summary.id, tip: log, rows: kept, summary: JSON.stringify(summary) }
        const change = await readableLog(reader, summary.id, log)
        if (change === null) continue
        const objects = await objectsOf(reader, change, entry)
        const keys = objects.flatMap(({ id }) => refs.keys.get(id) ?? [])
        candidates.push({ entry, rows, keys, objects })
      }
    } finally {
      await reader.close()
    }
  }
  return candidates
}

/** Null for a log that cannot be read: it is left as it is, for somebody to look at. */
async function readableLog(reader: ObjectReader, id: ChangeId, tip: CommitId): Promise<Change | null> {
  return readLog(reader, id, tip).catch((error: unknown) => {
    if (error instanceof GalleyError) return null
    throw error
  })
}

/** Puts the lines into the month's archive and takes the refs away, in one transaction. */
async function publish(
  store: Store,
  month: string,
  candidates: readonly Candidate[],
  who: Person,
): Promise<boolean> {
  const ref = archiveRef(month)
  const [before] = await listRefs(store.door, ref)
  const next = await writeArchive(store, before?.object ?? null, month, candidates, who)
  const gone = candidates.flatMap(({ rows, keys }) => [...rows, ...keys])
  const updates: readonly RefUpdate[] = [
    { ref, expected: before?.object ?? null, next },
    ...gone.map((row) => ({ ref: row.ref, expected: row.object, next: null })),
  ]
  return updateRefs(store.door, updates, 'galley: archived')
}

async function writeArchive(
  store: Store,
  before: string | null,
  month: string,
  candidates: readonly Candidate[],
  who: Person,
): Promise<CommitId> {
  const letters = '0123456789abcdefghjkmnpqrstvwxyz'
  const shards = new Map<string, Map<ChangeId, ArchiveEntry>>()
  for (const letter of letters) {
    const found = before === null ? [] : await readBlobs(store.door, [`${before}:${shardName(letter)}`])
    const entries = found.flatMap(parseShard)
    shards.set(letter, new Map(entries.map((entry) => [entry.id, entry])))
  }
  for (const { entry } of candidates) shards.get(letterOf(entry.id))?.set(entry.id, entry)
  const oldKeys = before === null ? [] : await readBlobs(store.door, [`${before}:${KEYS_FILE}`])
  const newKeys = candidates
    .flatMap((c) => c.keys)
    .filter((row) => row.ref.startsWith(KEY_PREFIX))
    .map((row) => `${row.ref} ${row.object}\n`)
  const keys = [...new Set([...oldKeys.flatMap((b) => b.toString('utf8').split(/(?<=\n)/)), ...newKeys])]
  const counts: ArchiveCounts = { landed: [...shards.values()].reduce((sum, shard) => sum + shard.size, 0) }
  const files = [...shards]
    .filter(([, entries]) => entries.size > 0)
    .map(([letter, entries]) => ({
      path: shardName(letter),
      text: [...entries.values()]
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map((entry) => `${lineOf(entry)}\n`)
        .join(''),
    }))
  if (keys.length > 0) files.push({ path: KEYS_FILE, text: keys.sort().join('') })
  const importer = openImporter(store.door, { asPack: true })
  const { commit } = await importer.commit({
    parent: null,
    author: who,
    committer: who,
    message: `archive ${month}\n\n${JSON.stringify(counts)}\n`,
    changes: files.map(({ path, text }) => ({
      kind: 'bytes',
      path,
      mode: '100644',
      bytes: Buffer.from(text, 'utf8'),
    })),
    fromNothing: true,
  })
  await importer.finish()
  return commit
}

/** Those of which no ref has moved since they were read. */
async function unmoved(store: Store, candidates: readonly Candidate[]): Promise<readonly Candidate[]> {
  const now = new Map((await listRefs(store.door, 'refs/galley/')).map((row) => [row.ref, row.object]))
  return candidates.filter(({ rows, keys, entry }) => {
    const own = [...rows, ...keys]
    const added = [...now.keys()].filter((ref) => OF_CHANGES.exec(ref)?.[1] === entry.id).length
    return own.every((row) => now.get(row.ref) === row.object) && added === rows.length
  })
}
