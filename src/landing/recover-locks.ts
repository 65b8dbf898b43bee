import { join } from 'node:path'
import type { LandingJournal } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import { lookAtLock, removeUnchanged } from '../sys/lock-file.ts'
import { hasLivingProcess } from '../sys/process-list.ts'

/** A lock that may be somebody else's is given this long to go away by itself. */
const PATIENCE_MS = 3_000

/**
 * Removes the ref locks that the landing's dead `git update-ref` left, and no others: the branch's lock if it holds the landed
 * commit's id, and an empty lock on branch or HEAD that is newer than the journal, if it stays while no git is running that could hold it.
 */
export async function removeOwnRefLocks(
  commonDir: string,
  journal: LandingJournal,
  clock: Clock,
): Promise<void> {
  const branch = journal.ref === 'HEAD' ? [] : [join(commonDir, `${journal.ref}.lock`)]
  for (const file of [...branch, join(journal.gitDir, 'HEAD.lock')]) await removeIfOurs(file, journal, clock)
}

async function removeIfOurs(file: string, journal: LandingJournal, clock: Clock): Promise<void> {
  const found = lookAtLock(file)
  if (found === null) return
  if (found.text === `${journal.after}\n`) {
    removeUnchanged(file, found)
    return
  }
  const mayBeOurs = found.text === '' && found.changedAtMs >= journal.startedAt - 1000
  if (!mayBeOurs) return
  const until = clock.now() + PATIENCE_MS
  while (hasLivingProcess('git') && clock.now() < until) {
    if (lookAtLock(file)?.identity !== found.identity) return
    await clock.sleep(20)
  }
  if (!hasLivingProcess('git')) removeUnchanged(file, found)
}
