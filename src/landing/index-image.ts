import { join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import { completeEntries, type IndexView, viewIndex } from '../git/index-file.ts'
import { updateIndexFile } from '../git/index-update.ts'
import type { LandingJournal } from '../store/landing-journal.ts'
import { linkOrCopy, overwriteParts, snapshotFile } from '../sys/index-snapshot.ts'
import type { StagedStat } from '../sys/stage-file.ts'
import { placeStat } from '../sys/swap-file.ts'
import { indexChangeOf, type PlannedEntry } from './plan.ts'
import type { LandingPlan } from './preflight.ts'

/**
 * The index as it will be, made aside before any lock is taken; only the times of the placed files are
 * missing.
 */
export interface IndexImage {
  readonly file: string
  readonly bytes: Buffer
  readonly view: IndexView
  readonly entries: readonly PlannedEntry[]
}

export const imageFile = (landDir: string): string => join(landDir, 'index')

/**
 * Makes the new index from the user's, touched entries only, by git. Null when no entry changes.
 * The user's index stays as it is: git reads it under a second name and writes a new file.
 */
export async function makeIndexImage(
  door: GitDoor,
  { indexFile, entries, reading }: LandingPlan,
  landDir: string,
): Promise<IndexImage | null> {
  if (entries.length === 0) return null
  const file = imageFile(landDir)
  linkOrCopy(indexFile, file)
  const skipped = entries.filter((entry) => entry.skipWorktree).map((entry) => entry.path)
  await updateIndexFile(door, file, reading.form, entries.map(indexChangeOf), skipped)
  const { bytes } = snapshotFile(file)
  const paths = entries.filter((entry) => entry.to !== null).map((entry) => entry.path)
  const view = bytes === null ? null : viewIndex(bytes, door.objectFormat, paths)
  if (bytes === null || view === null) throw new Error('BUG: git wrote an index that is not known')
  return { file, bytes, view, entries }
}

/**
 * Writes into the image what the system says of the placed files, so that the user's next `git status` reads
 * none of them. Only files that are certainly as they were staged: same inode, size and time of change.
 *
 * @param staged - Of the files that hold exactly what their entry says; a file that keeps uncommitted work is
 * not among them.
 * @returns false when the image has entries elsewhere (split index) and could not be completed.
 */
export function completeImage(
  journal: LandingJournal,
  image: IndexImage,
  staged: ReadonlyMap<string, StagedStat>,
): boolean {
  if (image.view.form !== 'whole') return false
  const additions = image.entries.flatMap((planned) => {
    const entry = image.view.entries.get(planned.path)
    if (entry === undefined) return []
    const expected = staged.get(planned.path)
    const found = expected === undefined ? null : placeStat(journal.workTree, planned.path)
    const isStaged =
      found !== null &&
      found.ino === expected?.ino &&
      found.size === expected.size &&
      found.mtimeNs === expected.mtimeNs
    const stat = isStaged ? found : null
    return stat === null && !planned.assumeUnchanged
      ? []
      : [{ entry, stat, assumeUnchanged: planned.assumeUnchanged }]
  })
  overwriteParts(image.file, image.bytes, completeEntries(image.bytes, journal.objectFormat, additions))
  return true
}
