import { type GitDoor, git } from '../git/door.ts'
import { listRefs, type RefRow } from '../git/refs.ts'
import type { ChangeState } from '../model/change.ts'
import { type ChangeId, type CommitId, changeId, commitId, isChangeId, isObjectId } from '../model/ids.ts'

/**
 * Decided changes whose refs were folded into one commit for each month in which they were proposed.
 *
 * `refs/galley/archive/<yyyy-mm>` holds a commit whose tree has a file for each first letter of the ids, one line for each change: what a
 * list says of it, and every ref that it had. The objects behind those refs are in a pack that is kept (`.keep`), so nothing
 * but the refs has gone: a change that is appended to gets them back.
 */
export const ARCHIVE_PREFIX = 'refs/galley/archive/'

export const archiveRef = (month: string): string => `${ARCHIVE_PREFIX}${month}`

/** Characters after the `g` that ids can have: the names of an archive's files. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

export const letterOf = (id: ChangeId): string => id[1] ?? '0'
export const shardName = (letter: string): string => `${letter}.jsonl`
/** Lines of ref and object: batches' keys, which find their change whatever became of it. */
export const KEYS_FILE = 'keys'

/** One archived change. */
export interface ArchiveEntry {
  readonly id: ChangeId
  readonly tip: CommitId
  /** Every ref of the change, its log's left out. */
  readonly rows: readonly RefRow[]
  /** What the message of its log's newest commit says, as it stands there. */
  readonly summary: string
}

/** What an archive's own message says, so that counting costs one process. */
export interface ArchiveCounts {
  readonly landed: number
}

export const isDecided = (state: ChangeState): boolean => state === 'landed' || state === 'undone'

/** The refs of all archives: twelve a year. */
export const listArchives = (door: GitDoor): Promise<readonly RefRow[]> => listRefs(door, ARCHIVE_PREFIX)

/** Every archived change, in no order. Two processes, whatever the number; one where nothing was ever archived. */
export async function listArchived(
  door: GitDoor,
  archives?: readonly RefRow[],
): Promise<readonly ArchiveEntry[]> {
  const found = archives ?? (await listArchives(door))
  const names = found.flatMap(({ object }) => [...LETTERS].map((letter) => `${object}:${shardName(letter)}`))
  return (await readBlobs(door, names)).flatMap(parseShard)
}

/** One archived change by its id, or null. One process. */
export async function findArchived(
  door: GitDoor,
  archives: readonly RefRow[],
  id: ChangeId,
): Promise<ArchiveEntry | null> {
  const entries = await archivedLike(door, archives, id)
  return entries.find((entry) => entry.id === id) ?? null
}

/** The archived changes whose ids begin with `text`, of two characters at least. One process. */
export async function archivedLike(
  door: GitDoor,
  archives: readonly RefRow[],
  text: string,
): Promise<readonly ArchiveEntry[]> {
  const names = archives.map(({ object }) => `${object}:${shardName(text[1] ?? '')}`)
  const found = await readBlobs(door, names)
  const needle = `{"id":"${text}`
  return found.flatMap((bytes) => linesWith(bytes, needle)).flatMap(parseLine)
}

/** The object that a batch's key led to, or null. One process where there are archives. */
export async function findArchivedKey(door: GitDoor, ref: string): Promise<string | null> {
  const archives = await listArchives(door)
  const found = await readBlobs(
    door,
    archives.map(({ object }) => `${object}:${KEYS_FILE}`),
  )
  const [line] = found.flatMap((bytes) => linesWith(bytes, `${ref} `))
  const object = line?.slice(ref.length + 1) ?? ''
  return isObjectId(object) ? object : null
}

/** Contents of the blobs that there are, in one process. */
export async function readBlobs(door: GitDoor, names: readonly string[]): Promise<readonly Buffer[]> {
  if (names.length === 0) return []
  const result = await git(door, {
    args: ['cat-file', '--batch'],
    input: names.map((name) => `${name}\n`).join(''),
  })
  const blobs: Buffer[] = []
  for (let at = 0; at < result.stdout.length; ) {
    const end = result.stdout.indexOf(0x0a, at)
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(result.stdout.toString('latin1', at, end))?.[1]
    if (size === undefined) {
      at = end + 1
      continue
    }
    blobs.push(result.stdout.subarray(end + 1, end + 1 + Number(size)))
    at = end + 2 + Number(size)
  }
  return blobs
}

/** Lines that begin with a text, without looking at the others one by one. */
function linesWith(bytes: Buffer, beginning: string): readonly string[] {
  const lines: string[] = []
  for (let at = bytes.indexOf(beginning); at !== -1; at = bytes.indexOf(beginning, at + 1)) {
    const end = bytes.indexOf(0x0a, at)
    const isLine = at === 0 || bytes[at - 1] === 0x0a
    if (isLine) lines.push(bytes.toString('utf8', at, end === -1 ? bytes.length : end))
  }
  return lines
}

export const parseShard = (bytes: Buffer): readonly ArchiveEntry[] =>
  bytes.toString('utf8').split('\n').flatMap(parseLine)

/** As short as may be: there is one for each change that ever landed. */
export function lineOf(entry: ArchiveEntry): string {
  const rows = entry.rows.map(({ ref, object }) => [shortRef(ref, entry.id), object])
  return JSON.stringify({ id: entry.id, tip: entry.tip, rows, summary: entry.summary })
}

/** `refs/galley/changes/<id>/1` as `changes//1`. */
const shortRef = (ref: string, id: ChangeId): string => {
  const [, , kind, , ...rest] = ref.split('/')
  return ref.startsWith('refs/galley/') && ref.split('/')[3] === id ? [kind, '', ...rest].join('/') : ref
}

const longRef = (ref: string, id: ChangeId): string => {
  const [kind = '', middle, ...rest] = ref.split('/')
  if (middle !== '' && middle !== undefined) return ref
  return ['refs/galley', kind, id, ...rest].join('/')
}

/** A line that cannot be read is left out: it says nothing that could be relied on. */
function parseLine(line: string): readonly ArchiveEntry[] {
  if (line === '') return []
  try {
    const value = JSON.parse(line) as {
      readonly id?: unknown
      readonly tip?: unknown
      readonly rows?: unknown
      readonly summary?: unknown
    }
    if (typeof value.id !== 'string' || !isChangeId(value.id) || typeof value.tip !== 'string') return []
    if (!isObjectId(value.tip)) return []
    const id = changeId(value.id)
    const pairs = Array.isArray(value.rows) ? (value.rows as readonly unknown[]) : []
    const rows = pairs.flatMap((pair) => parseRow(pair, id))
    return [{ id, tip: commitId(value.tip), rows, summary: String(value.summary) }]
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

function parseRow(pair: unknown, id: ChangeId): readonly RefRow[] {
  const [ref, object] = Array.isArray(pair) ? (pair as readonly unknown[]) : []
  if (typeof ref !== 'string' || typeof object !== 'string' || !isObjectId(object)) return []
  return [{ ref: longRef(ref, id), object }]
}
