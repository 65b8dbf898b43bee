import { isPending } from '../../model/change.ts'
import { refuse } from '../../model/error.ts'
import { listChanges, UNREADABLE } from '../../store/change-log.ts'
import { withLandingLock } from '../../store/lock.ts'
import { findStore, galleyDirectory, type Store } from '../../store/open-store.ts'
import { slotNames } from '../../store/pool.ts'
import { readSlotState, slotOf } from '../../store/pool-slot.ts'
import { scratchHome } from '../../store/scratch.ts'
import { isDirectory } from '../../sys/durable.ts'
import { removeTree } from '../../sys/trees.ts'
import { refuseAgents } from '../approve.ts'
import { installedHooks, uninstallHooks } from '../hooks/hooks.ts'
import { finishInterrupted } from '../recover.ts'
import type { World } from '../world.ts'

export interface Purged {
  /** What was removed, or would be with `dryRun`. */
  readonly removed: readonly string[]
  readonly dryRun: boolean
  /** Changes that have neither landed nor been rejected, and that go with it. */
  readonly pending: readonly string[]
}

/**
 * Removes galley from the repository: its folder and every scratch tree. Landed commits stay; they are the user's.
 *
 * @throws GalleyError `agent-may-not-approve`, where the environment shows an agent at work, unless `dryRun`; `wrong-state`, while
 * changes are pending, unless `force`.
 */
export async function purge(
  world: World,
  request: { readonly force: boolean; readonly dryRun: boolean },
): Promise<Purged> {
  if (!request.dryRun) {
    refuseAgents(world, {
      message: 'an agent may not remove galley, with every change that waits and every decision',
      hint: 'Ask a person to run `galley purge` in their own terminal.',
    })
  }
  const store = await findStore(world.repository)
  const pending =
    store === null
      ? []
      : (await listChanges(store)).filter((c) => isPending(c.state) || c.title === UNREADABLE)
  if (pending.length > 0 && !request.force && !request.dryRun) {
    const ids = pending.map((c) => c.id)
    const more = ids.length > 5 ? ', …' : ''
    refuse(
      'wrong-state',
      `${ids.length} changes have neither landed nor been rejected: ${ids.slice(0, 5).join(', ')}${more}`,
      { ids },
      'Land or reject them, or give `--force`.',
    )
  }
  await finishInterrupted(world)
  if (store !== null && !request.dryRun) await refuseRuns(world, store, request.force)
  const candidates = [scratchHome(world.repository), galleyDirectory(world.repository)]
  const removed = (await installedHooks(world)).map((entry) => entry.path)
  if (!request.dryRun && removed.length > 0) await uninstallHooks(world)
  for (const path of candidates) {
    if (await isDirectory(path)) removed.push(path)
  }
  const folders = removed.filter((path) => candidates.includes(path))
  if (!request.dryRun && folders.length > 0) await removeAll(world, folders)
  return { removed, dryRun: request.dryRun, pending: pending.map((c) => c.id) }
}

/** A run that goes on needs its tree, and one that was cut off may have left work in it. */
async function refuseRuns(world: World, store: Store, force: boolean): Promise<void> {
  for (const name of await slotNames(world.repository)) {
    const slot = slotOf(world.repository, store, name)
    const state = await readSlotState(slot)
    if (state?.phase !== 'run' || force) continue
    const data = { run: state.run, tree: slot.path }
    refuse(
      'busy',
      `the run ${state.run} has not ended, or was cut off with work in ${slot.path}`,
      data,
      RUN_HINT,
    )
  }
}

const RUN_HINT = 'Let it end, or collect what it left with `galley gc`; `--force` removes it all the same.'

/** No landing may be under way: its journal is in the folder that goes. */
async function removeAll(world: World, paths: readonly string[]): Promise<void> {
  const galleyDir = galleyDirectory(world.repository)
  const remove = async () => {
    for (const path of paths) await removeTree(path)
  }
  if (paths.includes(galleyDir)) await withLandingLock(galleyDir, world.clock, 'purge', remove)
  else await remove()
}
