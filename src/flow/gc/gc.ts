import { join } from 'node:path'
import { listRefs, type RefUpdate, updateRefs } from '../../git/refs.ts'
import { sweepDone } from '../../landing/finish.ts'
import type { ChangeState } from '../../model/change.ts'
import type { ChangeId } from '../../model/ids.ts'
import { isDecided } from '../../store/archive.ts'
import { archiveChanges, mendArchives, readStoreRefs } from '../../store/archive-write.ts'
import { type ChangeSummary, listChanges, listLiveChanges, readChanges } from '../../store/change-log.ts'
import { collectObjects } from '../../store/collect-objects.ts'
import { renewNotes } from '../../store/left-since.ts'
import { clearForeignRefs, foreignRefs, LEFT_PREFIX, runOfLeft } from '../../store/left-work.ts'
import { withLandingLock } from '../../store/lock.ts'
import { findStore, type Store } from '../../store/open-store.ts'
import { slotNames } from '../../store/pool.ts'
import { readSlotState, slotOf } from '../../store/pool-slot.ts'
import { expiredChanges, expiredFiles, expiredRefs } from '../../store/retention.ts'
import { revisionObjects } from '../../store/revision-objects.ts'
import { sessionObjects } from '../../store/session-objects.ts'
import { randomName } from '../../sys/clock.ts'
import { diskUsage, rotateWhenLarge } from '../../sys/file-ages.ts'
import { removeTree } from '../../sys/trees.ts'
import { refuseAgents } from '../approve.ts'
import { finishInterrupted } from '../recover.ts'
import type { World } from '../world.ts'
import { type KeptBack, planTrees, type Salvaged, salvageRuns } from './gc-trees.ts'

export interface Collected {
  readonly dryRun: boolean
  /** Landed changes whose refs were folded into their month's archive. Nothing of them is lost. */
  readonly archived: readonly string[]
  /** Changes that were rejected long ago, and are gone. */
  readonly expired: readonly string[]
  /** Scratch trees, sessions and passing files that are gone. */
  readonly removed: readonly string[]
  /** Refs that are gone besides: keys, backups, and what runs left long ago. */
  readonly refs: readonly string[]
  /** Work of runs that were cut off. */
  readonly salvaged: readonly Salvaged[]
  readonly kept: readonly KeptBack[]
  /** Work that went by force, each as a sentence. */
  readonly lost: readonly string[]
  /** Of galley's folder in the repository. */
  readonly before: Size
  readonly after: Size
}

export interface GcRequest {
  readonly dryRun: boolean
  /** Takes trees of decided changes also where somebody worked in them. Default false. */
  readonly force?: boolean
}

/** Of `galley.log`; one older file of that size is kept beside it. */
const LOG_MAX_BYTES = 4 * 1024 * 1024

export interface Size {
  readonly bytes: number
  readonly refs: number
}

/**
 * Bounds what galley keeps. Changes that have neither landed nor been rejected are not touched, and nor is the user's own repository.
 *
 * Landed changes are folded into archives, where `show`, `log`, `undo` and `verify` find them as before. Changes that were rejected more
 * than 30 days ago go, with scratch trees, sessions and files that nobody needs. Then the store is packed anew.
 *
 * @throws GalleyError `busy`, while another process lands; `agent-may-not-approve`, for an agent that asks by force.
 */
export async function collectGarbage(world: World, request: GcRequest): Promise<Collected> {
  if (request.force === true && !request.dryRun)
    refuseAgents(world, {
      message: 'an agent may not remove trees in which somebody worked',
      hint: 'Without `--force` they stay, and all else is collected.',
    })
  const store = await findStore(world.repository)
  if (store === null) return nothing(request.dryRun)
  await finishInterrupted(world)
  if (request.dryRun) return collectIn(world, store, request)
  return withLandingLock(store.galleyDir, world.clock, 'gc', () => collectIn(world, store, request))
}

const empty: Size = { bytes: 0, refs: 0 }

const nothing = (dryRun: boolean): Collected => ({
  dryRun,
  archived: [],
  expired: [],
  removed: [],
  refs: [],
  salvaged: [],
  kept: [],
  lost: [],
  before: empty,
  after: empty,
})

async function collectIn(world: World, store: Store, request: GcRequest): Promise<Collected> {
  const { dryRun, force = false } = request
  const before = await sizeOf(store)
  world.progress('looking at what is kept')
  if (!dryRun) await mendArchives(store)
  const runs = dryRun ? { salvaged: [], kept: [] } : await salvageRuns(world, store)
  const { changes } = await listLiveChanges(store)
  const decided = changes.filter((c) => isDecided(c.state))
  const expired = expiredChanges(changes, await basesOfPending(world, store, changes), world.clock.now())
  world.progress(`archiving ${decided.length} landed changes`)
  const archived = dryRun ? decided.map((c) => c.id) : await archive(world, store, decided)
  if (!dryRun) await removeChanges(store, expired)
  const states = await statesWithout(store, expired)
  // The keys of what is to be archived go with it, into the archive.
  const unarchived = dryRun ? new Set<string>(archived) : new Set<string>()
  const refs = await expiredRefs(store, asWaiting(states, unarchived), world.clock.now())
  const trees = await planTrees(world, store, states, force)
  const files = await expiredFiles(store, world.clock.now())
  if (!dryRun) {
    if (refs.length > 0) await updateRefs(store.door, refs, 'galley: gc')
    world.progress(`removing ${trees.removals.length} trees`)
    for (const { remove } of trees.removals) await remove()
    for (const file of files) await removeTree(file)
    world.progress('packing the store')
    await tidyStore(world, store)
  }
  return {
    dryRun,
    archived,
    expired,
    removed: [...trees.removals.map((r) => r.what), ...files],
    refs: refs.map((r) => r.ref),
    salvaged: runs.salvaged,
    kept: [...runs.kept, ...trees.kept],
    lost: trees.lost,
    before,
    after: dryRun ? before : await sizeOf(store),
  }
}

async function archive(
  world: World,
  store: Store,
  decided: readonly ChangeSummary[],
): Promise<readonly ChangeId[]> {
  return decided.length === 0 ? [] : archiveChanges(store, decided, await world.identity())
}

/** Ids of the changes on which pending ones stand. */
async function basesOfPending(
  world: World,
  store: Store,
  changes: readonly ChangeSummary[],
): Promise<ReadonlySet<string>> {
  const pending = new Set(
    changes.filter((c) => !isDecided(c.state) && c.state !== 'rejected').map((c) => c.id),
  )
  const read = await readChanges(store, await world.reader(), pending)
  return new Set(read.flatMap((change) => change.stackedOn ?? []))
}

const asWaiting = (
  states: ReadonlyMap<ChangeId, ChangeState>,
  ids: ReadonlySet<string>,
): ReadonlyMap<ChangeId, ChangeState> =>
  new Map([...states].map(([id, state]) => [id, ids.has(id) ? 'staged' : state]))

/** Takes all refs of some changes away; one that another process moved meanwhile keeps its own. */
async function removeChanges(store: Store, ids: readonly ChangeId[]): Promise<void> {
  const { byChange } = await readStoreRefs(store)
  for (const id of ids) {
    const rows = byChange.get(id) ?? []
    const updates = rows.map(({ ref, object }): RefUpdate => ({ ref, expected: object, next: null }))
    if (updates.length > 0) await updateRefs(store.door, updates, 'galley: rejected long ago')
  }
}

async function statesWithout(
  store: Store,
  gone: readonly ChangeId[],
): Promise<ReadonlyMap<ChangeId, ChangeState>> {
  const all = await listChanges(store)
  return new Map(all.filter((c) => !gone.includes(c.id)).map((c) => [c.id, c.state]))
}

/** Displaced files of old landings, refs that runs left, the log, and then the objects. */
async function tidyStore(world: World, store: Store): Promise<void> {
  await sweepDone(store.galleyDir, world.clock)
  if (!(await someoneRuns(world, store))) {
    const foreign = await foreignRefs(store)
    if (foreign.length > 0) await clearForeignRefs(store, randomName(), foreign, null)
  }
  const left = await listRefs(store.door, LEFT_PREFIX)
  await renewNotes(store, new Set(left.map(({ ref }) => runOfLeft(ref))))
  rotateWhenLarge(join(store.galleyDir, 'galley.log'), LOG_MAX_BYTES)
  const reader = await world.reader()
  const { changes } = await listLiveChanges(store)
  const live = await readChanges(store, reader, new Set(changes.map((c) => c.id)))
  const own = new Set<string>()
  for (const revision of live.flatMap((change) => change.revisions))
    for (const id of await revisionObjects(reader, revision)) own.add(id)
  await collectObjects(store, { roots: await sessionObjects(store), own: [...own] }, world.clock.now())
}

/** Branches and tags of the store may be a run's that is going on. */
async function someoneRuns(world: World, store: Store): Promise<boolean> {
  const names = await slotNames(world.repository)
  const states = await Promise.all(names.map((n) => readSlotState(slotOf(world.repository, store, n))))
  return states.some((state) => state?.phase === 'run')
}

async function sizeOf(store: Store): Promise<Size> {
  const refs = await listRefs(store.door, 'refs/')
  return { bytes: diskUsage(store.galleyDir), refs: refs.length }
}
