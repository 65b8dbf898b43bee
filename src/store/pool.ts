import { basename } from 'node:path'
import type { ObjectReader } from '../git/objects.ts'
import type { Repository } from '../git/open-repository.ts'
import { type CheckoutOptions, checkOutScratch } from '../git/scratch-tree.ts'
import { refuse } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import type { Clock } from '../sys/clock.ts'
import { namesIn } from '../sys/directories.ts'
import { type Acquisition, acquireExclusiveFile } from '../sys/exclusive-file.ts'
import { membersOf } from '../sys/process-group-members.ts'
import { isFullTree } from '../sys/scratch-identity.ts'
import { moveTree } from './materialise.ts'
import type { Store } from './open-store.ts'
import {
  bringBack,
  cleanSlot,
  dropSlot,
  isOfThisBoot,
  isReady,
  isSlotName,
  makeSlot,
  readSlotState,
  type SetupState,
  type Slot,
  type SlotState,
  setAside,
  slotOf,
  writeSlotState,
} from './pool-slot.ts'
import { ensureScratchHome, scratchHome } from './scratch-home.ts'
import { hasRules, isSparse, setRules, type TreeRules } from './sparse-view.ts'

/** Full trees that are kept for the next use. More exist only while they are in use. */
export const POOL_MAX = 3
const SLOTS_MAX = 200
const TOUCH_EVERY_MS = 10_000

export interface FullTreeRequest {
  readonly commit: CommitId
  /** Which of its files are to stand there. */
  readonly rules: TreeRules
  readonly purpose: { readonly kind: 'check' } | { readonly kind: 'run'; readonly run: string }
  readonly reader: ObjectReader
  readonly clock: Clock
  readonly onProgress?: CheckoutOptions['onProgress']
}

/** A full tree of the pool while one task has it. */
export interface FullTree {
  readonly slot: Slot
  readonly commit: CommitId
  /** What an earlier use brought by the policy's setup command, and is still there. */
  readonly setup: SetupState | null
  /** Remembers what was brought for this use, for whoever has to collect what is left if this process is killed. */
  readonly note: (setup: SetupState | null, included: readonly string[]) => Promise<void>
  /**
   * Cleans the tree and gives it back.
   *
   * @param setup - What setup brought and is to stay.
   */
  readonly release: (setup: SetupState | null) => Promise<void>
  /** Leaves the tree to itself, as a killed process would: what is in it is collected by the next look. */
  readonly abandon: () => void
}

/**
 * Takes a full tree at a commit from the repository's pool: one that is free is moved there by writing what differs; else a new
 * one is made. Nobody else gets it before it is released or the process has ended.
 *
 * A tree that a killed check left is cleaned first. One that a killed run left is passed over: it may hold work.
 */
export async function takeFullTree(
  repository: Repository,
  store: Store,
  request: FullTreeRequest,
): Promise<FullTree> {
  await ensureScratchHome(repository)
  for (const slot of await knownSlots(repository, store, request.commit)) {
    const taken = await tryTake(repository, slot, request)
    if (taken !== null) return taken
  }
  return makeNew(repository, store, request)
}

/** Names of the pool's slots that have a state, by their numbers. */
export async function slotNames(repository: Repository): Promise<readonly string[]> {
  const names = await namesIn(scratchHome(repository))
  const slots = names.flatMap((name) => {
    const slot = name.endsWith('.json') ? basename(name, '.json') : ''
    return isSlotName(slot) ? [slot] : []
  })
  return slots.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
}

/** Those that stand at the commit already first, then those used last: they differ least. */
async function knownSlots(repository: Repository, store: Store, commit: CommitId): Promise<readonly Slot[]> {
  const slots = (await slotNames(repository)).map((name) => slotOf(repository, store, name))
  const states = await Promise.all(slots.map(async (slot) => ({ slot, state: await readSlotState(slot) })))
  const rank = ({ state }: { readonly state: SlotState | null }) =>
    state === null ? 3 : !isReady(state) ? 2 : state.commit === commit ? 0 : 1
  return states
    .sort((a, b) => rank(a) - rank(b) || (b.state?.usedAt ?? 0) - (a.state?.usedAt ?? 0))
    .map(({ slot }) => slot)
}

type Held = Acquisition & { readonly kind: 'held' }

/** Takes a slot's lock. Null when somebody alive has it. */
export function lockSlot(slot: Slot, clock: Clock, label: string): Held | null {
  const token = Buffer.from(clock.random(12)).toString('hex')
  const holder = { token, label, since: new Date(clock.now()).toISOString() }
  const tried = acquireExclusiveFile(slot.lockFile, holder, clock.now())
  return tried.kind === 'held' ? tried : null
}

async function tryTake(
  repository: Repository,
  slot: Slot,
  request: FullTreeRequest,
): Promise<FullTree | null> {
  const held = lockSlot(slot, request.clock, request.purpose.kind)
  if (held === null) return null
  try {
    const state = await readSlotState(slot)
    if (state === null || holdsWork(state)) {
      held.release()
      return null
    }
    return await prepare(repository, slot, held, state, request)
  } catch (error) {
    held.release()
    throw error
  }
}

/** A run that was cut off: its work has not been collected, or it still goes on. */
export const holdsWork = (state: SlotState): boolean => state.phase === 'run'

/** Whether processes of a run are still there, though nobody waits for them. */
export const runGoesOn = (run: string, tree: string): boolean =>
  membersOf({ text: run, leader: null, tree: { path: tree, since: null } }).length > 0

async function prepare(
  repository: Repository,
  slot: Slot,
  held: Held,
  state: SlotState,
  request: FullTreeRequest,
): Promise<FullTree> {
  const { commit, rules } = request
  let setup = state.setup
  const noteMoving = () =>
    writeSlotState(slot, { commit, phase: 'moving', run: null, usedAt: request.clock.now(), setup })
  // The user's repository may have dropped the commit that the tree stands at.
  const isKnown = (await request.reader.info(state.commit)) !== null
  const isAsLeft =
    isKnown && isReady(state) && (await bringBack(slot)) && (await isFullTree(slot.path, slot.door.gitDir))
  if (!isAsLeft) {
    await noteMoving()
    setup = null
    const isWhole = state.phase !== 'moving' && isOfThisBoot(state)
    const isByRules = hasRules(slot, rules)
    if (
      !isByRules ||
      !(await cleanSlot(slot, commit, { keeps: [], trustsIndex: isWhole }).catch(() => false))
    )
      await makeSlot(slot, request, progressOf(request))
  } else if (!hasRules(slot, rules)) {
    await noteMoving()
    if (rules === null || !isSparse(slot)) {
      // git leaves out what its index says is left out, whatever the rules were.
      setup = null
      await makeSlot(slot, request, progressOf(request))
    } else {
      await setRules(slot, rules)
      await checkOutScratch(slot.door, commit, progressOf(request))
    }
  } else if (state.commit !== commit) {
    await noteMoving()
    if (!(await moveTree(repository, slot.door, request.reader, state.commit, commit)))
      await checkOutScratch(slot.door, commit, progressOf(request))
  }
  return handOut(repository, slot, held, setup, request)
}

const progressOf = ({ onProgress }: FullTreeRequest): CheckoutOptions =>
  onProgress === undefined ? {} : { onProgress }

async function makeNew(repository: Repository, store: Store, request: FullTreeRequest): Promise<FullTree> {
  const known = new Set(await slotNames(repository))
  for (let n = 1; n <= SLOTS_MAX; n++) {
    if (known.has(`pool-${n}`)) continue
    const slot = slotOf(repository, store, `pool-${n}`)
    const held = lockSlot(slot, request.clock, request.purpose.kind)
    if (held === null) continue
    // Made by another process since the names were listed: it may hold a run's work.
    if ((await readSlotState(slot)) !== null) {
      held.release()
      continue
    }
    try {
      await makeSlot(slot, request, progressOf(request))
      return await handOut(repository, slot, held, null, request)
    } catch (error) {
      await dropSlot(slot)
      held.release()
      throw error
    }
  }
  refuse('io-error', `${SLOTS_MAX} full trees are in use`, { trees: SLOTS_MAX }, 'See `galley gc`.')
}

async function handOut(
  repository: Repository,
  slot: Slot,
  held: Held,
  setup: SetupState | null,
  request: FullTreeRequest,
): Promise<FullTree> {
  const { commit, purpose, clock } = request
  const run = purpose.kind === 'run' ? purpose.run : null
  const state = { commit, phase: purpose.kind, run, usedAt: clock.now() }
  await writeSlotState(slot, { ...state, setup })
  const timer = setInterval(held.touch, TOUCH_EVERY_MS)
  timer.unref()
  const letGo = () => {
    clearInterval(timer)
    held.release()
  }
  return {
    slot,
    commit,
    setup,
    note: (brought, included) => writeSlotState(slot, { ...state, setup: brought, included }),
    release: async (kept) => {
      try {
        await giveBack(repository, slot, { commit, usedAt: clock.now(), setup: kept })
      } finally {
        letGo()
      }
    },
    abandon: letGo,
  }
}

/** A tree that cannot be cleaned is dropped, and so is one more than the pool keeps. */
async function giveBack(
  repository: Repository,
  slot: Slot,
  state: Pick<SlotState, 'commit' | 'usedAt' | 'setup'>,
): Promise<void> {
  // By rank, not by number: several may be given back at once.
  const isTooMany = (await slotNames(repository)).indexOf(slot.name) >= POOL_MAX
  const options = { keeps: state.setup?.brought ?? [], trustsIndex: true }
  const isClean = !isTooMany && (await cleanSlot(slot, state.commit, options).catch(() => false))
  if (isClean) await writeSlotState(slot, { ...state, phase: 'clean', run: null })
  if (!isClean || !(await setAside(slot))) await dropSlot(slot)
}
