import { foldRefs, joinPacks } from '../git/pack-objects.ts'
import type { Clock } from '../sys/clock.ts'
import { looseObjects, pruneLoose } from './keep-objects.ts'
import { tryLandingLock } from './lock.ts'
import type { Store } from './open-store.ts'
import { listPacks, type Pack, removePacks } from './packs.ts'

/** Each staged revision is a pack; every look-up asks all of them. */
const PACKS_MAX = 40

/**
 * Rolls the store's small packs and loose objects into larger ones, and its refs into one file, when there are many: a directory of
 * loose refs is read as a whole whenever one of them is asked for. Nothing is dropped: git's own repack would drop what the user's
 * repository holds too, and that may go. Costs a look at the packs; every fortieth time or so, one `git pack-objects` of what is new and
 * one `git pack-refs`.
 *
 * Leaves the work to another process that is landing or repacking.
 */
export async function repackWhenDue(store: Store, clock: Clock): Promise<void> {
  const packs = await listPacks(store.door)
  if (packs.filter((pack) => pack.keep === null).length < PACKS_MAX) return
  await tryLandingLock(store.galleyDir, clock, 'repack', async () => {
    const small = smallPacks(await listPacks(store.door)).map((pack) => pack.name)
    const joined = await joinPacks(store.door, small)
    await removePacks(
      store.door,
      small.filter((name) => name !== joined),
    )
    await pruneLoose(store, await looseObjects(store))
    await foldRefs(store.door)
  })
}

/** What is left of each pack at least twice as large as all smaller ones together: an object is written anew only a few times so. */
export function smallPacks(packs: readonly Pack[]): readonly Pack[] {
  const ordered = packs.filter((pack) => pack.keep === null).sort((a, b) => a.bytes - b.bytes)
  let end = 0
  let sum = 0
  for (const [i, pack] of ordered.entries()) {
    if (pack.bytes < 2 * sum) end = i + 1
    sum += pack.bytes
  }
  return ordered.slice(0, end)
}
