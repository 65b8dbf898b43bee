import { listRefs } from '../git/refs.ts'
import { type Change, isPending } from '../model/change.ts'
import { GalleyError } from '../model/error.ts'
import { type ChangeId, changeId, isChangeId } from '../model/ids.ts'
import { listLiveChanges } from '../store/change-list.ts'
import { LANDING_PREFIX } from '../store/change-refs.ts'
import { tryLandingLock } from '../store/lock.ts'
import type { Store } from '../store/open-store.ts'
import { loadChange } from './logged-change.ts'
import { finishRecorded, type Recorded } from './record-landing.ts'
import type { World } from './world.ts'

/** A change whose landing was not in its log. */
export interface RecordedLate {
  readonly id: ChangeId
  readonly ref: string
  /** null = it is in the log now; a text = why it could not be written there: the change's own landing will. */
  readonly failure: string | null
}

/** What each world has recorded: whoever asks for that very landing then is not refused for it. */
const recordedHere = new WeakMap<World, Map<ChangeId, Recorded>>()

/** The landing of a change that this world has found and recorded, told once and while it stands; null = there is none. */
export function takeRecorded(world: World, { id, state }: Pick<Change, 'id' | 'state'>): Recorded | null {
  const known = recordedHere.get(world)
  const recorded = known?.get(id) ?? null
  known?.delete(id)
  return state === 'landed' ? recorded : null
}

/**
 * Writes into the logs which changes are in their branches already: a process that was ended between moving a branch and writing that
 * down left them approved. Not while another process lands. Two processes, and a few for each change whose landing has begun and is not
 * in its log.
 */
export async function finishRecords(world: World, store: Store): Promise<readonly RecordedLate[]> {
  const done = await tryLandingLock(store.galleyDir, world.clock, 'record', async () => {
    const begun = (await listRefs(store.door, LANDING_PREFIX)).map(({ ref }) =>
      ref.slice(LANDING_PREFIX.length),
    )
    if (begun.length === 0) return []
    const pending = new Map((await listLiveChanges(store)).changes.map((c) => [c.id, isPending(c.state)]))
    const recorded: RecordedLate[] = []
    for (const id of begun.filter(isChangeId).map(changeId)) {
      const late = pending.get(id) === true ? await recordOne(world, store, id) : null
      if (late !== null) recorded.push(late)
    }
    return recorded
  })
  return done ?? []
}

async function recordOne(world: World, store: Store, id: ChangeId): Promise<RecordedLate | null> {
  const logged = await loadChange(world, store, id)
  const ref = logged.change.onto
  try {
    const recorded = await finishRecorded(world, store, logged)
    if (recorded === null) return null
    const known = recordedHere.get(world) ?? new Map<ChangeId, Recorded>()
    recordedHere.set(world, known.set(id, recorded))
    return { id, ref, failure: null }
  } catch (error) {
    // Nobody is kept from other work by it, and the next one tries again.
    if (!(error instanceof GalleyError) || error.code === 'internal') throw error
    world.noteFailure()
    return { id, ref, failure: `${error.message} (${error.code})` }
  }
}
