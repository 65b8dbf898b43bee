import { join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import { isSoundIndex, viewIndex } from '../git/index-file.ts'
import { type IndexChange, updateIndexFile } from '../git/index-update.ts'
import { type FileKey, type LandingJournal, landDirectory } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import { identityOfFile, linkOrCopy, snapshotFile } from '../sys/index-snapshot.ts'
import { replaceFile } from '../sys/lock-file.ts'
import { imageFile } from './index-image.ts'
import { holdsIndexLock, lockIndex } from './locks.ts'

/**
 * Brings the index to where the ref is: with the image that was made for that, if the index is still the one it was made from;
 * otherwise entry by entry, those that are as they were before.
 */
export async function bringIndexForward(
  door: GitDoor,
  galleyDir: string,
  journal: LandingJournal,
  clock: Clock,
): Promise<void> {
  if (journal.index.length === 0) return
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
  const changes = missingChanges(journal)
  if (changes.length === 0) return
  const again = join(landDir, 'index-again')
  linkOrCopy(journal.indexFile, again)
  const skipped = journal.index.filter((step) => step.skipWorktree).map((step) => step.path)
  await updateIndexFile(
    door,
    again,
    changes,
    skipped.filter((path) => changes.some((change) => change.path === path)),
  )
  replaceFile(again, journal.indexFile)
}

/** Entries that are still as before. Whatever else stands there is the user's and newer. */
function missingChanges(journal: LandingJournal): readonly IndexChange[] {
  const { bytes } = snapshotFile(journal.indexFile)
  const paths = journal.index.map((step) => step.path)
  const view = bytes === null ? null : viewIndex(bytes, journal.objectFormat, paths)
  return journal.index.flatMap(({ path, from, to }): readonly IndexChange[] => {
    const entry = view?.entries.get(path) ?? null
    // In a split or sparse index an entry that is not seen may be there: git is told again, which changes nothing if it is new.
    const isBefore = sameKey(entry, from) || (entry === null && view?.isPartial === true)
    if (!isBefore) return []
    return [to === null ? { kind: 'remove', path } : { kind: 'set', path, mode: to.mode, id: to.id }]
  })
}

const sameKey = (entry: FileKey | null, key: FileKey | null): boolean =>
  entry === null || key === null ? entry === key : entry.mode === key.mode && entry.id === key.id
