import { GalleyError } from '../../model/error.ts'
import { type Finding, good, note, problem } from '../../model/finding.ts'
import { whoIsAtWork } from '../../store/at-work.ts'
import { listLiveChanges } from '../../store/change-list.ts'
import { readChange } from '../../store/change-log.ts'
import { findStore, galleyDirectory, type Store } from '../../store/open-store.ts'
import { holdsWork, runGoesOn, slotNames } from '../../store/pool.ts'
import { readSlotState, slotOf } from '../../store/pool-slot.ts'
import { lostHomes, scratchHome } from '../../store/scratch-home.ts'
import { diskUsage } from '../../sys/file-ages.ts'
import { openToOthers } from '../../sys/permissions.ts'
import type { World } from '../world.ts'

/** The private store: whether it is private, and whether every change in it can be read. */
export async function examineStore(world: World): Promise<readonly Finding[]> {
  const store = await findStore(world.repository)
  if (store === null) return [good('store', 'there is none yet: the first proposal makes it in .git/galley')]
  const galleyDir = galleyDirectory(world.repository)
  const open = openToOthers(galleyDir)
  return [
    ...(open
      ? [
          problem(
            'store',
            `${galleyDir} can be read or written by others`,
            'Take the rights of others away: mode 0700.',
          ),
        ]
      : []),
    ...(await examineKilled(world, galleyDir)),
    ...(await examineChanges(world, store)),
  ]
}

/** Processes that were killed while they wrote here. */
async function examineKilled(world: World, galleyDir: string): Promise<readonly Finding[]> {
  const { dead } = await whoIsAtWork(galleyDir, world.clock, null)
  if (dead.length === 0) return []
  const who = dead.length === 1 ? 'a galley was' : `${dead.length} galleys were`
  return [note('store', `${who} killed here: the next command that writes takes away what was left`)]
}

async function examineChanges(world: World, store: Store): Promise<readonly Finding[]> {
  const { changes, archivedCount } = await listLiveChanges(store)
  const reader = await world.reader()
  const broken: Finding[] = []
  for (const { id } of changes) {
    const fault = await readChange(store, reader, id).then(() => null, refusalText)
    if (fault !== null)
      broken.push(
        problem(
          'store',
          fault,
          `It cannot land, and nothing else is harmed. What the store has of it is under refs/galley/*/${id}.`,
        ),
      )
  }
  const size = Math.ceil(diskUsage(store.galleyDir) / 1024)
  const text = `${changes.length} changes and ${archivedCount} archived ones, ${size} KiB`
  return [...broken, good('store', text)]
}

/** What is wrong with a log; anything but a refusal is a fault of galley's own. */
function refusalText(error: unknown): string {
  if (error instanceof GalleyError) return `${error.message} (${error.code})`
  throw error
}

/** Full trees of the pool, and runs that were cut off in them. */
export async function examineTrees(world: World): Promise<readonly Finding[]> {
  const store = await findStore(world.repository)
  if (store === null) return []
  const home = scratchHome(world.repository)
  const findings: Finding[] = []
  for (const name of await slotNames(world.repository)) {
    const slot = slotOf(world.repository, store, name)
    const state = await readSlotState(slot)
    if (state === null) {
      findings.push(
        problem(
          'trees',
          `the state of ${slot.path} cannot be read, and it may hold work`,
          'Look into it, and remove it.',
        ),
      )
    } else if (holdsWork(state) && state.run !== null) {
      findings.push(
        runGoesOn(state.run, slot.path)
          ? note('trees', `the run ${state.run} is going on in ${slot.path}`)
          : problem(
              'trees',
              `the run ${state.run} was cut off; what it did is in ${slot.path}`,
              'Run `galley gc`: it keeps that work as a commit of the store.',
            ),
      )
    }
  }
  const lost = await lostHomes(world.repository)
  return [
    ...findings,
    ...lost.map(({ path, owner }) =>
      note(
        'trees',
        `the repository of ${path} is not at ${owner} any more: \`galley gc\` takes the folder away`,
      ),
    ),
    good('trees', `scratch trees are in ${home} (${Math.ceil(diskUsage(home) / 1024)} KiB)`),
  ]
}
