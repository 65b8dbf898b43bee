import { join } from 'node:path'
import { git } from '../git/door.ts'
import type { Clock } from '../sys/clock.ts'
import { listDirectory } from '../sys/trees.ts'
import { tryLandingLock } from './lock.ts'
import type { Store } from './open-store.ts'

/** Each staged revision is a pack; every look-up asks all of them. */
const PACKS_MAX = 40

/**
 * Rolls the store's small packs and loose objects into larger ones, when there are many. Nothing is dropped. Costs one listing of
 * a directory; every fortieth time or so, one `git repack` of what is new.
 *
 * Leaves the work to another process that is landing or repacking.
 */
export async function repackWhenDue(store: Store, clock: Clock): Promise<void> {
  const names = await listDirectory(join(store.door.gitDir, 'objects', 'pack'))
  if (names.filter((name) => name.endsWith('.pack')).length < PACKS_MAX) return
  await tryLandingLock(store.galleyDir, clock, 'repack', () =>
    // -l: objects of the user's repository stay where they are.
    git(store.door, { args: ['repack', '-d', '-l', '-q', '--geometric=2'] }),
  )
}
