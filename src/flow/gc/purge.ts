import { join } from 'node:path'
import { listRefs } from '../../git/refs.ts'
import { isPending } from '../../model/change.ts'
import { asSystemRefusal } from '../../model/errno.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import { changeId, isChangeId } from '../../model/ids.ts'
import { type ChangeSummary, listChanges, UNREADABLE } from '../../store/change-log.ts'
import { LEFT_PREFIX } from '../../store/left-work.ts'
import { landingLockFile, withLandingLock } from '../../store/lock.ts'
import { findStore, galleyDirectory, type Store } from '../../store/open-store.ts'
import { slotNames } from '../../store/pool.ts'
import { readSlotState, slotOf } from '../../store/pool-slot.ts'
import { openedTree } from '../../store/scratch.ts'
import { scratchHome } from '../../store/scratch-home.ts'
import { randomName } from '../../sys/clock.ts'
import { moveOwnDirectory, namesIn } from '../../sys/directories.ts'
import { readHolder } from '../../sys/exclusive-file.ts'
import { standsAt } from '../../sys/plain-file.ts'
import { moveDirectory, removeTree } from '../../sys/trees.ts'
import { refuseAgents } from '../approve.ts'
import { installedHooks, uninstallHooks } from '../hooks/hooks.ts'
import { finishInterrupted } from '../recover.ts'
import { whyTreeStays } from '../retire-trees.ts'
import type { World } from '../world.ts'

export interface Purged {
  /** What was removed, or would be with `dryRun`. */
  readonly removed: readonly string[]
  readonly dryRun: boolean
  /** Changes that have neither landed nor been rejected, and that go with it. */
  readonly pending: readonly string[]
  /** What `force` went past, each as a sentence. */
  readonly remarks: readonly string[]
}

/**
 * Removes galley from the repository: its folder and every scratch tree. Landed commits stay; they are the user's.
 *
 * @throws GalleyError `agent-may-not-approve`, where the environment shows an agent at work, unless `dryRun`; `wrong-state`, while
 * changes are pending or a tree or a leaving holds work, and `busy`, while others are at work, unless `force`: that also goes past a store that cannot be read and a landing that cannot be recovered, whose
 * displaced files go too.
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
  const remarks: string[] = []
  const orPast = <T>(task: () => Promise<T>, instead: T) =>
    request.force ? goPast(task, instead, remarks) : task()
  const store = await orPast(() => findStore(world.repository), null)
  const pending = store === null ? [] : await orPast(() => pendingIn(store), [])
  if (pending.length > 0 && !request.force && !request.dryRun) {
    const ids = pending.map((c) => c.id)
    const more = ids.length > 5 ? ', …' : ''
    refuse(
      'wrong-state',
      `${ids.length === 1 ? 'one change has' : `${ids.length} changes have`} neither landed nor been rejected: ${ids.slice(0, 5).join(', ')}${more}`,
      { ids },
      'Land or reject them, or give `--force`.',
    )
  }
  await orPast(() => finishInterrupted(world), null)
  if (store !== null) {
    if (!request.dryRun && !request.force) await refuseRuns(world, store)
    const work = await orPast(() => heldWork(world, store), [])
    if (!request.dryRun && !request.force) refuseWork(work)
    remarks.push(...work.map((one) => `${request.dryRun ? 'holds' : 'held'} work: ${one}`))
  }
  const candidates = [scratchHome(world.repository), galleyDirectory(world.repository)]
  const hooks = await orPast(() => takeHooks(world, request.dryRun), [])
  const removed = [...hooks, ...candidates.filter((path) => standsAt(path) !== 'absent')]
  const folders = removed.filter((path) => candidates.includes(path))
  if (!request.dryRun && folders.length > 0) await removeAll(world, folders, request.force)
  return { removed, dryRun: request.dryRun, pending: pending.map((c) => c.id), remarks }
}

/** Whoever asks by force is not kept by what is broken; a fault of galley's own still shows. */
async function goPast<T>(task: () => Promise<T>, instead: T, remarks: string[]): Promise<T> {
  try {
    return await task()
  } catch (error) {
    const refusal = asSystemRefusal(error, 'it could not be looked at')
    if (!(refusal instanceof GalleyError) || refusal.code === 'agent-may-not-approve') throw error
    remarks.push(`${refusal.message} (${refusal.code})`)
    return instead
  }
}

const pendingIn = async (store: Store): Promise<readonly ChangeSummary[]> =>
  (await listChanges(store)).filter((c) => isPending(c.state) || c.title === UNREADABLE)

async function takeHooks(world: World, dryRun: boolean): Promise<readonly string[]> {
  const hooks = (await installedHooks(world)).map((entry) => entry.path)
  if (!dryRun && hooks.length > 0) await uninstallHooks(world)
  return hooks
}

/** A run that goes on needs its tree, and one that was cut off may have left work in it. */
async function refuseRuns(world: World, store: Store): Promise<void> {
  for (const name of await slotNames(world.repository)) {
    const slot = slotOf(world.repository, store, name)
    const state = await readSlotState(slot)
    if (state?.phase !== 'run') continue
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

/** Work that is nowhere else: in trees that were opened, and what runs left. Each as where it is, and what. */
async function heldWork(world: World, store: Store): Promise<readonly string[]> {
  const home = scratchHome(world.repository)
  const found: string[] = []
  for (const name of await namesIn(home)) {
    const id = name.replace(/-full$/, '')
    if (name.startsWith('left-')) found.push(join(home, name))
    if (name === id || !isChangeId(id)) continue
    const tree = openedTree(world.repository, store, changeId(id))
    const work = standsAt(tree.path) === 'absent' ? null : await whyTreeStays(store, tree)
    if (work !== null) found.push(`${tree.path} (${work})`)
  }
  return [...found, ...(await listRefs(store.door, LEFT_PREFIX)).map(({ ref }) => ref)]
}

function refuseWork(work: readonly string[]): void {
  if (work.length === 0) return
  const more = work.length > 5 ? ', …' : ''
  refuse(
    'wrong-state',
    `work that is nowhere else would go: ${work.slice(0, 5).join(', ')}${more}`,
    { work },
    'Take out of it what you need; `--force` removes it all the same.',
  )
}

/**
 * Takes the folders away. Galley's own gets another name first, so that whoever begins now makes one of its own; whoever began before that
 * is asked for on both sides of it. No landing may be under way: its journal is in the folder that goes.
 *
 * @throws GalleyError `busy`; everything is as it was then.
 */
async function removeAll(world: World, paths: readonly string[], force: boolean): Promise<void> {
  const galleyDir = galleyDirectory(world.repository)
  const isFolder = paths.includes(galleyDir) && standsAt(galleyDir) === 'directory'
  const going = `${galleyDir}-${randomName()}`
  const remove = async () => {
    if (isFolder) await setAside(world, galleyDir, going, force)
    for (const path of paths) await removeTree(path === galleyDir && isFolder ? going : path)
  }
  // A lock that names nobody keeps nobody who asks by force.
  const isLockable = isFolder && !(force && readHolder(landingLockFile(galleyDir)) === null)
  if (isLockable) await withLandingLock(galleyDir, world.clock, 'purge', remove)
  else await remove()
}

async function setAside(world: World, galleyDir: string, going: string, force: boolean): Promise<void> {
  // Whoever asks by force goes past others, and past a folder that is too broken to ask in.
  if (force) return moveOwnDirectory(galleyDir, going)
  const working = await world.atWork()
  const refuseOthers = async (directory: string) => {
    const { alive, unknown } = await working.others(directory)
    if (alive + unknown === 0) return
    refuse('busy', 'another galley is at work in this repository', { alive, unknown }, BUSY_HINT)
  }
  await refuseOthers(galleyDir)
  await moveOwnDirectory(galleyDir, going)
  try {
    await refuseOthers(going)
  } catch (error) {
    await moveDirectory(going, galleyDir)
    throw error
  }
}

const BUSY_HINT = 'Let it end and try again; `--force` removes galley all the same.'
