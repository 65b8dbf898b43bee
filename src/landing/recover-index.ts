import { join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import { isSoundIndex } from '../git/index-file.ts'
import { type IndexChange, updateIndexFile } from '../git/index-update.ts'
import { withoutFilters } from '../git/without-filters.ts'
import { type FileKey, type IndexStep, type LandingJournal, landDirectory } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import { identityOfFile, linkOrCopy, snapshotFile } from '../sys/index-snapshot.ts'
import { removeFile, replaceFile } from '../sys/lock-file.ts'
import { standsAt } from '../sys/plain-file.ts'
import { imageFile } from './index-image.ts'
import { holdsIndexLock, lockIndex } from './locks.ts'
import { readWholeIndex } from './whole-index.ts'

/**
 * Whether the new index has had its place: that follows the move of the ref, so it proves it, whatever became of ref and index since. False
 * where no entry was to change.
 */
export function isIndexSwapped(galleyDir: string, journal: LandingJournal): boolean {
  if (journal.index.length === 0 || identityOfFile(journal.indexFile) === journal.indexBasis) return false
  return standsAt(imageFile(landDirectory(galleyDir, journal.id))) === 'absent'
}

/**
 * Brings the index to where the ref is: with the image that was made for that, if the index is still the one
 * it was made from; otherwise entry by entry, those that are as they were before. Only once:
 * afterwards they are the user's, who may have gone back.
 */
export async function bringIndexForward(
  door: GitDoor,
  galleyDir: string,
  journal: LandingJournal,
  clock: Clock,
): Promise<void> {
  if (journal.index.length === 0 || isIndexSwapped(galleyDir, journal)) return
  const landDir = landDirectory(galleyDir, journal.id)
  if (!holdsIndexLock(journal.indexFile, journal.id))
    await lockIndex(journal.indexFile, landDir, journal.id, clock)
  const image = imageFile(landDir)
  const made = snapshotFile(image).bytes
  const isUsable = made !== null && isSoundIndex(made, journal.objectFormat)
  if (isUsable && identityOfFile(journal.indexFile) === journal.indexBasis) {
    replaceFile(image, journal.indexFile)
    return
  }
  await bringEntriesForward(door, landDir, journal)
  removeFile(image)
}

async function bringEntriesForward(user: GitDoor, landDir: string, journal: LandingJournal): Promise<void> {
  const door = await withoutFilters(user)
  const paths = journal.index.map((step) => step.path)
  const reading = await readWholeIndex(door, journal.indexFile, join(landDir, 'unfolded'), paths, [])
  const steps = journal.index.filter(({ path, from }) =>
    sameKey(reading.view.entries.get(path) ?? null, from),
  )
  if (steps.length === 0) return
  const again = join(landDir, 'index-again')
  linkOrCopy(journal.indexFile, again)
  const skipped = steps.filter((step) => step.skipWorktree).map((step) => step.path)
  await updateIndexFile(door, again, reading.form, steps.map(changeOf), skipped)
  replaceFile(again, journal.indexFile)
}

const changeOf = ({ path, to }: IndexStep): IndexChange =>
  to === null ? { kind: 'remove', path } : { kind: 'set', path, mode: to.mode, id: to.id }

/**
 * Entries that are as before the landing are brought forward. Whatever else stands there is the user's and
 * newer.
 */
const sameKey = (entry: FileKey | null, key: FileKey | null): boolean =>
  entry === null || key === null ? entry === key : entry.mode === key.mode && entry.id === key.id
