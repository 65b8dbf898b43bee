import { join } from 'node:path'
import type { ObjectReader } from '../git/objects.ts'
import { invariant, refuse } from '../model/error.ts'
import { syncDirectory } from '../sys/directories.ts'
import { keepBytes } from './keep-objects.ts'
import type { Store } from './open-store.ts'
import {
  type CallEntry,
  type JournalEntry,
  type KeptText,
  type OutcomeEntry,
  readJournal,
  recordInSession,
  type StartEntry,
} from './sessions.ts'

/** One call of a session, as its journal folds up. */
export interface CallRecord {
  readonly entry: CallEntry
  /** null = it never began to take effect. */
  readonly start: StartEntry | null
  /** null = it runs, or was killed. */
  readonly outcome: OutcomeEntry | null
  readonly isAcknowledged: boolean
}

export interface FoldedCalls {
  /** In the order in which they came. */
  readonly calls: readonly CallRecord[]
  /** Steps that no run of a call takes, each as a sentence: the journal was written by something else. */
  readonly faults: readonly string[]
}

/** Longer texts are kept as blobs of the store, so that a journal is read in no time. */
const INLINE_MAX_CHARACTERS = 16 * 1024

/** Folds a journal to its calls. Total: what does not fit is a fault and changes nothing. */
export function callsOf(journal: readonly JournalEntry[]): FoldedCalls {
  const calls = new Map<string, CallRecord>()
  const faults: string[] = []
  for (const entry of journal) {
    if (entry.kind === 'read') continue
    const before = calls.get(entry.call)
    const fault = faultOf(entry, before)
    if (fault !== null) faults.push(`${entry.kind} of ${entry.call}: ${fault}`)
    else calls.set(entry.call, after(entry, before))
  }
  return { calls: [...calls.values()], faults }
}

/** Why an entry cannot follow, or null. What `denied` or `invalid_arguments` says of a call is that it never began. */
function faultOf(
  entry: Exclude<JournalEntry, { kind: 'read' }>,
  before: CallRecord | undefined,
): string | null {
  if (entry.kind === 'call') return before === undefined ? null : 'its id was used before'
  if (before === undefined) return 'there is no such call'
  switch (entry.kind) {
    case 'start':
      if (before.outcome !== null) return 'the call has ended'
      if (before.start !== null) return 'the call was begun before'
      return entry.tool === before.entry.tool
        ? null
        : `the call is one of ${JSON.stringify(before.entry.tool)}`
    case 'outcome':
      if (before.outcome !== null) return 'the call has ended'
      if (before.start === null && (entry.outcome === 'completed' || entry.outcome === 'unknown'))
        return `${entry.outcome}, though the call was not begun`
      if (before.start !== null && (entry.outcome === 'denied' || entry.outcome === 'invalid_arguments'))
        return `${entry.outcome}, though the call was begun`
      return null
    case 'acknowledged':
      return before.outcome?.outcome === 'unknown' ? null : 'its outcome is not unknown'
  }
}

function after(entry: Exclude<JournalEntry, { kind: 'read' }>, before: CallRecord | undefined): CallRecord {
  if (entry.kind === 'call') return { entry, start: null, outcome: null, isAcknowledged: false }
  invariant(before, 'only a call that is known goes on')
  if (entry.kind === 'start') return { ...before, start: entry }
  if (entry.kind === 'outcome') return { ...before, outcome: entry }
  return { ...before, isAcknowledged: true }
}

/** The journal of one session while calls of it run. What is appended is on the disk before it counts. */
export interface CallJournal {
  readonly session: string
  readonly entries: () => readonly JournalEntry[]
  /** @throws GalleyError `wrong-state`, for entries that cannot follow; they do not reach the disk. */
  readonly append: (...entries: readonly JournalEntry[]) => Promise<void>
}

/**
 * Opens a session's journal for calls. Leaves nothing until something is appended.
 *
 * @throws GalleyError `too-large`, if the journal has outgrown its limit.
 */
export async function openCallJournal(store: Store, session: string): Promise<CallJournal> {
  let entries = await readJournal(store, session)
  return {
    session,
    entries: () => entries,
    append: async (...added) => {
      const next = [...entries, ...added]
      const [fault] = callsOf(next).faults.slice(callsOf(entries).faults.length)
      if (fault !== undefined) refuse('wrong-state', `the journal of the session: ${fault}`, { session })
      await recordInSession(store, session, added)
      // The name of a new journal must outlive a power cut as its lines do.
      if (entries.length === 0) await syncDirectory(join(store.galleyDir, 'sessions'))
      entries = next
    },
  }
}

/** Keeps a text for the journal: as it is, or as a blob of the store where it is long. */
export async function keepText(store: Store, text: string): Promise<KeptText> {
  return text.length <= INLINE_MAX_CHARACTERS
    ? { text }
    : { blob: await keepBytes(store, Buffer.from(text, 'utf8')) }
}

/** The text again, or null when its blob is gone. */
export async function loadText(reader: ObjectReader, kept: KeptText): Promise<string | null> {
  if ('text' in kept) return kept.text
  return (await reader.contents(kept.blob))?.bytes.toString('utf8') ?? null
}
