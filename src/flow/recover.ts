import { type RecoveryReport, recover } from '../landing/recover.ts'
import { clearUpAfterKilled } from '../store/clear-up.ts'
import { holdsLandingLock } from '../store/lock.ts'
import { findStore, galleyDirectory } from '../store/open-store.ts'
import { refuseForeignFolder } from '../store/own-folder.ts'
import { standsAt } from '../sys/plain-file.ts'
import type { RecordedLate } from './finish-records.ts'
import { mayBeInterrupted, type World } from './world.ts'

/** What killed landings left, and what was done about it. */
export interface Recovered extends RecoveryReport {
  /** Changes that were in their branch, and whose logs did not say so. */
  readonly recorded: readonly RecordedLate[]
}

/**
 * Finishes or rolls back a landing that was killed, and takes away what else a killed galley left. Every verb that writes does this first; it
 * costs two looks.
 */
export async function finishInterrupted(world: World): Promise<Recovered | null> {
  const galleyDir = galleyDirectory(world.repository)
  refuseForeignFolder(galleyDir)
  if (standsAt(galleyDir) === 'absent') return null
  const atWork = await world.atWork()
  const wasKilled = await clearUpAfterKilled(world.repository, galleyDir, atWork, world.clock)
  // A landing holds its lock until its event is written; a lock of this task's own tells nothing.
  const wasCutOff = wasKilled || (!holdsLandingLock(galleyDir) && (await mayBeInterrupted(world)))
  const report = await recover(world.repository, galleyDir, world.clock)
  const mayLack = wasCutOff || report.landings.length > 0
  if (mayLack) world.forgetHead()
  const store = mayLack ? await findStore(world.repository) : null
  if (store === null) return { ...report, recorded: [] }
  const { finishRecords } = await import('./finish-records.ts')
  return { ...report, recorded: await finishRecords(world, store) }
}
