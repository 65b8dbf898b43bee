import { recover } from '../landing/recover.ts'
import { clearUpAfterKilled } from '../store/clear-up.ts'
import { galleyDirectory } from '../store/open-store.ts'
import { refuseForeignFolder } from '../store/own-folder.ts'
import { standsAt } from '../sys/plain-file.ts'
import type { World } from './world.ts'

/** What a killed landing left, and what was done about it. */
export type Recovered = Awaited<ReturnType<typeof recover>>

/**
 * Finishes or rolls back a landing that was killed, and takes away what else a killed galley left. Every verb that writes does this first; it
 * costs two looks.
 */
export async function finishInterrupted(world: World): Promise<Recovered | null> {
  const galleyDir = galleyDirectory(world.repository)
  refuseForeignFolder(galleyDir)
  if (standsAt(galleyDir) === 'absent') return null
  await clearUpAfterKilled(world.repository, galleyDir, await world.atWork(), world.clock)
  return recover(world.repository, galleyDir, world.clock)
}
