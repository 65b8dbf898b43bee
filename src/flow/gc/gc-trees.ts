import { join } from 'node:path'
import { changedFiles } from '../../git/scratch-tree.ts'
import { listUntracked } from '../../git/untracked.ts'
import { type ChangeState, isPending } from '../../model/change.ts'
import { type ChangeId, changeId, isChangeId } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'
import { lockSlot, runGoesOn } from '../../store/pool.ts'
import {
  cleanSlot,
  dropSlot,
  dropTree,
  isSlotName,
  readSlotState,
  type Slot,
  type SlotState,
  setAside,
  slotOf,
  writeSlotState,
} from '../../store/pool-slot.ts'
import { kept } from '../../store/retention.ts'
import type { ScratchTree } from '../../store/scratch.ts'
import { type LostHome, lostHomes, scratchHome } from '../../store/scratch-home.ts'
import { agesIn } from '../../sys/file-ages.ts'
import { isRealDirectory } from '../../sys/quick-files.ts'
import { isScratchTree } from '../../sys/scratch-identity.ts'
import { readFileOrNull } from '../../sys/small-files.ts'
import { removeTree } from '../../sys/trees.ts'
import { filesBefore } from '../collect/files-before.ts'
import { keepCollected } from '../collect/keep-collected.ts'
import { readPolicy } from '../read-policy.ts'
import { whyTreeStays } from '../retire-trees.ts'
import { collectWork } from '../run/run-collect.ts'
import type { World } from '../world.ts'

/** Something that is to go, and how. */
export interface Removal {
  readonly what: string
  readonly remove: () => Promise<void>
}

/** Something that is to go unless it holds work: then by force alone. */
interface Planned extends Removal {
  readonly work: string | null
}

/** Something that stays although it looks as if it might go. */
export interface KeptBack {
  readonly what: string
  readonly reason: string
}

export interface TreePlan {
  readonly removals: readonly Removal[]
  readonly kept: readonly KeptBack[]
  /** Work that goes by force, each as a sentence. */
  readonly lost: readonly string[]
}

/**
 * Looks at the folder of scratch trees: those of decided or unknown changes go, if nobody has put work into them; trees of the pool that nobody
 * has used for long; and folders of what runs left, after their time.
 */
export async function planTrees(
  world: World,
  store: Store,
  states: ReadonlyMap<ChangeId, ChangeState>,
  force: boolean,
): Promise<TreePlan> {
  const home = scratchHome(world.repository)
  const now = world.clock.now()
  const removals: Removal[] = []
  const keptBack: KeptBack[] = []
  const lost: string[] = []
  const add = (found: Planned | null) => {
    if (found === null) return
    if (found.work !== null && !force) {
      keptBack.push({ what: found.what, reason: `${found.work}; \`galley gc --force\` removes it` })
      return
    }
    removals.push(found)
    if (found.work !== null) lost.push(`lost with ${found.what}: ${found.work}`)
  }
  for (const { name, modifiedMs } of await agesIn(home)) {
    const path = join(home, name)
    const id = name.replace(/-full$/, '')
    const slot = name.replace(/\.json$/, '')
    if (isChangeId(id)) add(await planTree(store, path, name, states.get(changeId(id)) ?? null))
    else if (isOver(name, now - modifiedMs)) removals.push({ what: path, remove: () => removeTree(path) })
    else if (name.endsWith('.json') && isSlotName(slot))
      add(await planSlot(world, slotOf(world.repository, store, slot)))
  }
  for (const home of await lostHomes(world.repository)) add(await planLostHome(store, home))
  return { removals, kept: keptBack, lost }
}

/** The folder of a repository that is not where it was: this one, before it was moved, or one that is gone. */
async function planLostHome(store: Store, { path, owner }: LostHome): Promise<Planned> {
  const held: string[] = []
  for (const { name } of await agesIn(path)) {
    const tree = join(path, name)
    if (name.startsWith('left-')) held.push(`${name}, which a run left`)
    if (!/^g\w+-full$/.test(name)) continue
    const gitDir = join(store.door.gitDir, 'worktrees', name)
    const door = { ...store.door, gitDir, workTree: tree }
    const why = await whyTreeStays(store, { path: tree, door, form: 'full' }).catch(
      () => 'it cannot be told whether somebody worked in it',
    )
    if (why !== null) held.push(`${name}, which was opened: ${why}`)
  }
  for (const { name } of await agesIn(path)) {
    const phase =
      name.endsWith('.json') && isSlotName(name.slice(0, -5)) ? await phaseOf(join(path, name)) : null
    if (phase === 'run') held.push(`${name.slice(0, -5)}, in which a run was cut off`)
  }
  const work =
    held.length === 0
      ? null
      : `its repository ${owner} is not there any more, and it holds ${held.join('; ')}`
  return { what: path, remove: () => removeTree(path), work }
}

async function phaseOf(file: string): Promise<string> {
  return /"phase":"(\w+)"/.exec((await readFileOrNull(file))?.toString('latin1') ?? '')?.[1] ?? ''
}

/** Folders of what runs left, passing files of processes that were killed, and places to land in whose lander was. */
const isOver = (name: string, ageMs: number): boolean =>
  (name.startsWith('left-') && ageMs > kept.leftMs) ||
  (/^(?:pool-\d+\.\w+\.[\da-f-]{36}|lander-[\da-f]{16}\.git)$/.test(name) && ageMs > kept.passingMs)

async function planTree(
  store: Store,
  path: string,
  name: string,
  state: ChangeState | null,
): Promise<Planned | null> {
  if (state !== null && (isPending(state) || state === 'stale')) return null
  const gitDir = join(store.door.gitDir, 'worktrees', name)
  const tree = { path, door: { ...store.door, gitDir, workTree: path } }
  const isOpened = name.endsWith('-full')
  const work = isOpened ? await whyTreeStays(store, { ...tree, form: 'full' }) : await whySmallStays(tree)
  return { what: path, remove: () => dropTree(tree), work }
}

/** The form that a proposal stands in is a work tree of the store; nobody was sent there to work. */
async function whySmallStays({ path, door }: Pick<ScratchTree, 'path' | 'door'>): Promise<string | null> {
  if (!(await isScratchTree(path, door.gitDir)))
    return 'it is no scratch tree any more, and may hold anything'
  const { paths } = await listUntracked(door, { ignored: 'left-out' })
  const work = [...(await changedFiles(door)), ...paths]
  return work.length === 0 ? null : `somebody worked in it: ${work.slice(0, 3).join(', ')}`
}

async function planSlot(world: World, slot: Slot): Promise<Planned | null> {
  const state = await readSlotState(slot)
  if (state?.phase === 'run') return null
  if (state !== null && world.clock.now() - state.usedAt <= kept.poolMs) return null
  return {
    what: slot.path,
    work: state === null ? 'its state cannot be read, and it may hold work' : null,
    remove: async () => {
      const held = lockSlot(slot, world.clock, 'gc')
      if (held === null) return
      try {
        await dropSlot(slot)
      } finally {
        held.release()
      }
    },
  }
}

/** One run that was cut off, and where its work is now. */
export interface Salvaged {
  readonly run: string
  /** A ref of the store; null = it had changed nothing that a change could hold. */
  readonly ref: string | null
  /** Further refs. */
  readonly others: readonly string[]
  /** What stood beside; null = nothing. */
  readonly folder: string | null
  readonly remarks: readonly string[]
}

/**
 * Collects the work of runs whose galley was killed: it becomes a commit of the store, and the tree is free again. One whose processes still
 * run is left alone.
 */
export async function salvageRuns(
  world: World,
  store: Store,
): Promise<{ readonly salvaged: readonly Salvaged[]; readonly kept: readonly KeptBack[] }> {
  const salvaged: Salvaged[] = []
  const keptBack: KeptBack[] = []
  for (const { name } of await agesIn(scratchHome(world.repository))) {
    const slotName = name.replace(/\.json$/, '')
    if (!name.endsWith('.json') || !isSlotName(slotName)) continue
    const slot = slotOf(world.repository, store, slotName)
    const held = lockSlot(slot, world.clock, 'gc')
    if (held === null) continue
    try {
      const state = await readSlotState(slot)
      if (state?.phase !== 'run' || state.run === null) continue
      if (runGoesOn(state.run, slot.path))
        keptBack.push({ what: slot.path, reason: `the run ${state.run} still goes on` })
      else salvaged.push(await salvage(world, store, slot, state, state.run))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      keptBack.push({ what: slot.path, reason: `what a run left in it could not be collected: ${why}` })
    } finally {
      held.release()
    }
  }
  return { salvaged, kept: keptBack }
}

async function salvage(
  world: World,
  store: Store,
  slot: Slot,
  state: SlotState,
  run: string,
): Promise<Salvaged> {
  // Whatever a link there leads to is somebody else's.
  if (!isRealDirectory(slot.path)) {
    await dropSlot(slot)
    const remarks = [`the command put something else in the place of its tree ${slot.path}`]
    return { run, ref: null, others: [], folder: null, remarks }
  }
  const base = await (await world.reader()).commitTree(state.commit)
  const { fileMaxBytes } = (await readPolicy(world, base)).policy.limits
  const brought = [...(state.setup?.brought ?? []), ...(state.included ?? [])]
  const before = await filesBefore(slot, brought)
  const work = await collectWork(world, store, slot, { run, base: state.commit, before, fileMaxBytes })
  const parent = work.head ?? state.commit
  const isChanged = work.tree !== base || parent !== state.commit
  const place = { repository: world.repository, store, who: await world.identity(), log: world.log }
  const kept = await keepCollected(place, {
    run,
    path: slot.path,
    work: isChanged ? { tree: work.tree, parent } : null,
    git: work.git,
    landed: null,
    beside: work.beside,
  })
  const isClean = await cleanSlot(slot, state.commit, { keeps: [], trustsIndex: true }).catch(() => false)
  if (isClean) {
    const { commit, usedAt } = state
    await writeSlotState(slot, { commit, usedAt, phase: 'clean', run: null, setup: null })
  }
  if (!isClean || !(await setAside(slot))) await dropSlot(slot)
  const [ref = null, ...others] = kept.names.filter((name) => name !== kept.folder)
  return { run, ref, others, folder: kept.folder, remarks: kept.remarks }
}
