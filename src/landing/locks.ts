import { dirname, join } from 'node:path'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { indexLockText } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import { type FileMatch, linkNew, lookAtLock, removeIfSame, writeNew } from '../sys/lock-file.ts'

export const indexLockFile = (indexFile: string): string => `${indexFile}.lock`

/**
 * Takes git's own lock on the index: the file appears with our id in it, in one step.
 *
 * @throws GalleyError `locked`, if somebody had it for `limits.indexLockWaitMs`; data: `{ file }`. It is
 * never removed by force.
 */
export async function lockIndex(indexFile: string, landDir: string, id: string, clock: Clock): Promise<void> {
  const lock = indexLockFile(indexFile)
  const prepared = join(landDir, 'lock')
  writeNew(prepared, indexLockText(id))
  const until = clock.elapsedMs() + limits.indexLockWaitMs
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 100)) {
    if (linkNew(prepared, lock)) return
    if (clock.elapsedMs() >= until)
      refuse('locked', `another git command holds ${lock}`, { file: lock, directory: dirname(lock) })
    await clock.sleep(waitMs)
  }
}

/** Gives the lock back if it is ours, by its content. */
export const unlockIndex = (indexFile: string, id: string): FileMatch =>
  removeIfSame(indexLockFile(indexFile), indexLockText(id))

/** Whether the index is locked by this landing, though perhaps by a process that has ended. */
export const holdsIndexLock = (indexFile: string, id: string): boolean =>
  lookAtLock(indexLockFile(indexFile))?.text === indexLockText(id)
