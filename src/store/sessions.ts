import { join } from 'node:path'
import { sha256Hex } from '../git/blob-id.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { DialectName } from '../model/batch.ts'
import type { CallKind } from '../model/call.ts'
import { refuse } from '../model/error.ts'
import type { ReadRecord } from '../model/file-state.ts'
import type { BlobId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import type { ProcessIdentity } from '../sys/process-identity.ts'
import { appendOwnLine, readFileOrNull } from '../sys/small-files.ts'
import type { Store } from './open-store.ts'

/** One line of a session's journal. Calls and their outcomes are recorded before they are shown. */
export type JournalEntry = ReadEntry | CallEntry | StartEntry | OutcomeEntry | AcknowledgedEntry

export interface ReadEntry {
  readonly kind: 'read'
  readonly at: string
  readonly path: string
  readonly blob: BlobId | null
  /** null = all lines were shown. */
  readonly lines: { readonly from: number; readonly to: number } | null
  readonly keepsLines: boolean
}

/** A call as it came. */
export interface CallEntry {
  readonly kind: 'call'
  readonly at: string
  readonly call: string
  /** null = it belongs to no turn that its caller counts. */
  readonly turn: string | null
  /** null = no dialect knows it. */
  readonly dialect: DialectName | null
  readonly tool: string
  readonly arguments: KeptText
  /** Who runs it: tells a call that is under way from one that was killed. */
  readonly process: ProcessIdentity
}

/** A call that passed its checks, and was approved where that is needed, right before it takes effect. */
export interface StartEntry {
  readonly kind: 'start'
  readonly at: string
  readonly call: string
  readonly tool: string
  /** Of the rules that the arguments were checked by. */
  readonly version: number
  /** In the one form that checking gives them. */
  readonly arguments: KeptText
  /** Root of the work tree, absolute. */
  readonly directory: string
  readonly change: string | null
  /** Blob ids of the working files' bytes; null = absent. Empty for what only reads. */
  readonly files: readonly {
    readonly path: string
    readonly before: string | null
    readonly after: string | null
  }[]
}

export interface OutcomeEntry {
  readonly kind: 'outcome'
  readonly at: string
  readonly call: string
  readonly outcome: CallKind
  /** As it was shown; of what a read shows, the beginning. */
  readonly text: string
  readonly change: string | null
}

export interface AcknowledgedEntry {
  readonly kind: 'acknowledged'
  readonly at: string
  readonly call: string
}

/** A text in the journal, or the blob in the store that holds a long one. */
export type KeptText = { readonly text: string } | { readonly blob: string }

/** Two sessions never share a file; a session's name is hostile text and never becomes a file name. */
const journalFile = (store: Store, session: string): string =>
  join(store.galleyDir, 'sessions', `${sha256Hex(session)}.jsonl`)

/**
 * Appends entries and syncs them before returning.
 *
 * An empty line goes before them: where a kill cut the last line short, they still begin on one of their own.
 */
export async function recordInSession(
  store: Store,
  session: string,
  entries: readonly JournalEntry[],
): Promise<void> {
  if (entries.length === 0) return
  await makePrivateDirectory(join(store.galleyDir, 'sessions'))
  const lines = entries.map((entry) => JSON.stringify(entry)).join('\n')
  await appendOwnLine(journalFile(store, session), `\n${lines}`)
}

/** Reads a session's journal. A last line cut short by a kill is left out: its outcome was never shown. */
export async function readJournal(store: Store, session: string): Promise<readonly JournalEntry[]> {
  const bytes = await readFileOrNull(journalFile(store, session))
  if (bytes === null) return []
  if (bytes.length > limits.sessionMaxBytes) {
    refuse(
      'too-large',
      `the session's journal is larger than ${limits.sessionMaxBytes} bytes`,
      { session },
      'Begin a new session.',
    )
  }
  const lines = bytes.toString('utf8').split('\n')
  const complete = lines.slice(0, -1).filter((line) => line !== '')
  return complete.flatMap((line) => parseEntry(line))
}

function parseEntry(line: string): JournalEntry[] {
  try {
    return [JSON.parse(line) as JournalEntry]
  } catch (error) {
    // A kill in the middle of an append leaves half a line.
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/**
 * What a session has read of each path: the newest blob and the lines shown of exactly that blob.
 *
 * An entry with `keepsLines` is the session's own landed edit: it renews the blob and keeps the lines shown before.
 */
export function readsOf(journal: readonly JournalEntry[]): readonly ReadRecord[] {
  const latest = new Map<string, { blob: BlobId | null; lines: { from: number; to: number }[] | null }>()
  for (const entry of journal) {
    if (entry.kind !== 'read') continue
    const before = latest.get(entry.path)
    const known = before && (entry.keepsLines || before.blob === entry.blob) ? before.lines : []
    const lines = entry.keepsLines
      ? (before ?? { lines: [] }).lines
      : entry.lines === null || known === null
        ? null
        : [...known, entry.lines]
    latest.set(entry.path, { blob: entry.blob, lines })
  }
  return [...latest].map(([path, read]) => ({
    path,
    blob: read.blob,
    ...(read.lines === null ? {} : { lines: read.lines }),
  }))
}

/** Adds the kept bytes to reads whose blob is no longer what stands in the file. */
export async function withBytes(
  reader: ObjectReader,
  reads: readonly ReadRecord[],
): Promise<readonly ReadRecord[]> {
  return Promise.all(
    reads.map(async (read) => {
      if (read.blob === null || read.bytes !== undefined) return read
      const found = await reader.contents(read.blob)
      return found?.object.type === 'blob' ? { ...read, bytes: found.bytes } : read
    }),
  )
}
