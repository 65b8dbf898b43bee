import { dirname, join } from 'node:path'
import { type LandingJournal, landDirectory } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import { lookAtLock, readTextOrNull, removeUnchanged } from '../sys/lock-file.ts'
import { repositoryUse } from '../sys/process-list.ts'
import { writePassingSync } from '../sys/small-files.ts'
import { imageFile } from './index-image.ts'
import { indexLockFile } from './locks.ts'

/** A lock that may be somebody else's is given this long to go away by itself. */
const PATIENCE_MS = 3_000

/** They take no lock, and our own store has one running. */
const READERS = ['cat-file']

const notesFile = (landDir: string): string => join(landDir, 'ref-locks')

/** A move of a ref, by which its locks are known. `startedAt`: before its git was asked for any. */
export type LockedMove = Pick<LandingJournal, 'ref' | 'gitDir' | 'workTree' | 'after' | 'startedAt'>

/** The locks that git takes for the move: on the branch, and on HEAD where it names the branch. */
function refLockFiles(commonDir: string, journal: LockedMove): readonly string[] {
  const branch = journal.ref === 'HEAD' ? [] : [join(commonDir, `${journal.ref}.lock`)]
  return [...branch, join(journal.gitDir, 'HEAD.lock')]
}

/**
 * Writes down, while they are held, which files the landing's ref locks are: a lock on HEAD is empty and
 * tells nothing itself.
 */
export function noteRefLocks(commonDir: string, landDir: string, journal: LandingJournal): void {
  const identities = refLockFiles(commonDir, journal).flatMap((file) => lookAtLock(file)?.identity ?? [])
  writePassingSync(notesFile(landDir), identities.join('\n'))
}

/**
 * Removes the ref locks that the landing's dead `git update-ref` left, and no others: files that were written
 * down as ours, a branch lock that holds the landed commit's id, and one that is empty, or holds the id's beginning, and is
 * newer than the journal, if it stays while no git is running in the repository (a kill between git's taking the lock and
 * our writing it down).
 */
export async function removeOwnRefLocks(
  commonDir: string,
  galleyDir: string,
  journal: LandingJournal,
  clock: Clock,
): Promise<void> {
  const notes = readTextOrNull(notesFile(landDirectory(galleyDir, journal.id)))?.split('\n') ?? []
  await removeRefLocks(commonDir, journal, notes, clock)
}

/** As `removeOwnRefLocks`, for a move that has no journal; only when its git was killed. */
export async function removeRefLocks(
  commonDir: string,
  move: LockedMove,
  notes: readonly string[],
  clock: Clock,
): Promise<void> {
  for (const file of refLockFiles(commonDir, move)) {
    const found = lookAtLock(file)
    if (found === null) continue
    // git writes the id, and the line's end after it.
    const isOurs = notes.includes(found.identity) || found.text.trimEnd() === move.after
    if (isOurs) removeUnchanged(file, found)
    else await removeIfAbandoned(file, move, clock, (text) => move.after.startsWith(text))
  }
}

/**
 * Removes an index lock that a killed refresh left: an empty file or a new index, made after the journal and after
 * the landing had given its own lock back, in a repository where no git is running.
 */
export async function removeRefreshLock(
  journal: LandingJournal,
  galleyDir: string,
  clock: Clock,
): Promise<void> {
  const isSwapped = lookAtLock(imageFile(landDirectory(galleyDir, journal.id))) === null
  const file = indexLockFile(journal.indexFile)
  if (isSwapped)
    await removeIfAbandoned(file, journal, clock, (text) => text === '' || text.startsWith('DIRC'))
}

async function removeIfAbandoned(
  file: string,
  journal: LockedMove,
  clock: Clock,
  mayBeOurs: (text: string) => boolean,
): Promise<void> {
  const found = lookAtLock(file)
  if (found === null || !mayBeOurs(found.text) || found.changedAtMs < journal.startedAt - 1000) return
  const places = [journal.workTree, journal.gitDir, dirname(file)]
  const until = clock.elapsedMs() + PATIENCE_MS
  // One look without any is enough: of a process that is just ending, anywhere on the machine, nothing can be told.
  const mayBeUsed = () => repositoryUse('git', places, READERS) !== 'none'
  let isUsed = mayBeUsed()
  while (isUsed && clock.elapsedMs() < until) {
    if (lookAtLock(file)?.identity !== found.identity) return
    await clock.sleep(20)
    isUsed = mayBeUsed()
  }
  if (!isUsed) removeUnchanged(file, found)
}
