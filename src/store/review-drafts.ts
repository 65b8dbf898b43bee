import { join } from 'node:path'
import { sha256Hex } from '../git/blob-id.ts'
import { refuse } from '../model/error.ts'
import type { ChangeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Clock } from '../sys/clock.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { acquireExclusiveFile } from '../sys/exclusive-file.ts'
import { readQuickly } from '../sys/quick-files.ts'
import { writeOwnFile } from '../sys/small-files.ts'
import type { Store } from './open-store.ts'

/** Whose draft of which change. */
export interface DraftName {
  readonly change: ChangeId
  /** Name and address. */
  readonly reviewer: string
}

const LOCK_PAUSE_MS = 5

/** A reviewer's name is anybody's text and never becomes a file name. */
const draftFile = (store: Store, { change, reviewer }: DraftName): string =>
  join(store.galleyDir, 'reviews', `${change}-${sha256Hex(reviewer).slice(0, 16)}.json`)

/** The draft's text; null = there is none. */
export const readDraftText = (store: Store, name: DraftName): string | null =>
  readQuickly(draftFile(store, name))?.toString('utf8') ?? null

/**
 * Changes a draft, on what stands there at that moment: of two processes that write at once, the second one sees what the first wrote.
 *
 * @param task - Of the text as it is, null = none. Gives the next one, or null where it stays.
 * @throws GalleyError `busy`, `too-large`.
 */
export async function updateDraft(
  store: Store,
  clock: Clock,
  name: DraftName,
  task: (text: string | null) => string | null,
): Promise<void> {
  const file = draftFile(store, name)
  const tmp = join(store.galleyDir, 'tmp')
  await makePrivateDirectory(join(store.galleyDir, 'reviews'))
  await makePrivateDirectory(tmp)
  const token = Buffer.from(clock.random(12)).toString('hex')
  const release = await waitForDraft(`${file}.lock`, clock, token)
  try {
    const next = task(readDraftText(store, name))
    if (next === null) return
    const limit = limits.draftMaxBytes
    if (Buffer.byteLength(next) > limit) {
      const message = `the draft of this review has ${Buffer.byteLength(next)} bytes; ${limit} are allowed`
      refuse('too-large', message, { limit }, 'Finish the review: what is sent leaves the draft.')
    }
    await writeOwnFile(file, next, join('..', 'tmp', `draft-${token}`))
  } finally {
    release()
  }
}

async function waitForDraft(lock: string, clock: Clock, token: string): Promise<() => void> {
  const end = clock.elapsedMs() + limits.draftWaitMs
  for (;;) {
    const since = new Date(clock.now()).toISOString()
    const tried = acquireExclusiveFile(lock, { token, label: 'review', since }, clock.now())
    if (tried.kind === 'held') return tried.release
    if (clock.elapsedMs() > end)
      refuse('busy', `another process holds the draft of this review: ${lock}`, { file: lock, by: tried.by })
    await clock.sleep(LOCK_PAUSE_MS)
  }
}
