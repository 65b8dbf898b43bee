import { join } from 'node:path'
import { git } from '../git/door.ts'
import type { Clock } from '../sys/clock.ts'
import { listDirectory } from '../sys/trees.ts'
import { tryLandingLock } from './lock.ts'
import type { Store } from './open-store.ts'

/** Each staged revision is a pack; every look-up asks all of them. */
const PACKS_MAX = 40

/**
 * Rolls the store's small packs and loose objects into larger ones, and its refs into one file, when there are many: a directory of
 * loose refs is read as a whole whenever one of them is asked for. Nothing is dropped. Costs one listing of a directory; every
 * fortieth time or so, one `git repack` of what is new and one `git pack-refs`.
 *
 * Leaves the work to another process that is landing or repacking.
 */
export async function repackWhenDue(store: Store, clock: Clock): Promise<void> {
  const names = await listDirectory(join(store.door.gitDir, 'objects', 'pack'))
  if (names.filter((name) => name.endsWith('.pack')).length < PACKS_MAX) return
  await tryLandingLock(store.galleyDir, clock, 'repack', async () => {
    // -l: objects of the user's repository stay where they are.
    await git(store.door, { args: ['repack', '-d', '-l', '-q', '--geometric=2'] })
    await git(store.door, { args: ['pack-refs', '--all'] })
  })
}
