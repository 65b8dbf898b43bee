import { join } from 'node:path'
import { type GitDoor, git } from '../git/door.ts'
import { refreshIndex } from '../git/index-update.ts'
import type { Repository } from '../git/open-repository.ts'
import { type CheckoutOptions, changedFiles, checkOutScratch } from '../git/scratch-tree.ts'
import { listUntracked } from '../git/untracked.ts'
import { invariant, refuse } from '../model/error.ts'
import { type CommitId, isObjectId, zeroId } from '../model/ids.ts'
import { specialFiles } from '../sys/census.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { holdersOf } from '../sys/process-group-members.ts'
import { ownIdentity } from '../sys/process-identity.ts'
import { isRealDirectory, isThere, replaceQuickly } from '../sys/quick-files.ts'
import { isFullTree } from '../sys/scratch-identity.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import { removeAllInTree } from '../sys/tree-files.ts'
import { moveDirectory, removeTree } from '../sys/trees.ts'
import { coveredBy } from './covered-paths.ts'
import type { Store } from './open-store.ts'
import { forgetHandedOut, isTexts, removeOwnRepository } from './own-repository.ts'
import type { ScratchTree } from './scratch.ts'
import { scratchHome } from './scratch-home.ts'
import { isSparse, removeEmptyOutside, setRules, type TreeRules } from './sparse-view.ts'

/**
 * One full tree of the pool: its place, and how galley's own git sees it. That view lies in the store, with an index of galley's own: the
 * repository that commands find in the tree is another one (`own-repository.ts`).
 */
export interface Slot extends ScratchTree {
  readonly name: string
  readonly door: GitDoor & { readonly workTree: string }
  readonly lockFile: string
  readonly stateFile: string
  /** Where the tree is while nobody has it. */
  readonly idlePath: string
}

/** What is known of a slot while nobody uses it, or of its last use. */
export interface SlotState {
  readonly version: 1
  readonly commit: CommitId
  /** `clean`: as a checkout of the commit, with what setup brought. Anything else was cut off in the middle. */
  readonly phase: 'clean' | 'moving' | 'check' | 'run'
  /** Of the run that has or had it. */
  readonly run: string | null
  /** Start of the system: what was not synced may be lost with it. */
  readonly boot: string | null
  /** Milliseconds since the epoch. */
  readonly usedAt: number
  readonly setup: SetupState | null
  /** Files of the user's that were copied in for this use. */
  readonly included?: readonly string[]
}

/** What the policy's setup command left in the tree, which stays from one use to the next. */
export interface SetupState {
  /** Of the command and the lock files' blobs. */
  readonly key: string
  /** Milliseconds since the epoch, by the file system's own clock. */
  readonly at: number
  /** Untracked paths; one that ends in `/` is a directory with all in it. */
  readonly brought: readonly string[]
  /** Files in it, for telling whether one went. */
  readonly files: number
}

const NAME = /^pool-[1-9][0-9]{0,3}$/

export const isSlotName = (name: string): boolean => NAME.test(name)

export function slotOf(repository: Repository, store: Store, name: string): Slot {
  invariant(isSlotName(name), `a name of the pool: ${name}`)
  const home = scratchHome(repository)
  const path = join(home, name)
  const gitDir = join(store.door.gitDir, 'worktrees', name)
  return {
    name,
    path,
    form: 'full',
    door: { ...store.door, gitDir, workTree: path, inherited: repository.door.inherited },
    lockFile: `${path}.lock`,
    stateFile: `${path}.json`,
    idlePath: `${path}.idle`,
  }
}

/** Null when there is none, or it cannot be believed: then the tree is made again. */
export async function readSlotState(slot: Slot): Promise<SlotState | null> {
  const bytes = await readFileOrNull(slot.stateFile)
  if (bytes === null) return null
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isSlotState(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const PHASES: readonly unknown[] = ['clean', 'moving', 'check', 'run']
/** A run's name becomes part of paths and refs. */
const RUN = /^[\w-]{1,64}$/

/** Code that runs in a tree can write beside it too. */
function isSlotState(value: unknown): value is SlotState {
  const state = value as Partial<SlotState> | null
  return (
    state?.version === 1 &&
    typeof state.commit === 'string' &&
    isObjectId(state.commit) &&
    PHASES.includes(state.phase) &&
    (state.run === null || (typeof state.run === 'string' && RUN.test(state.run))) &&
    typeof state.usedAt === 'number' &&
    (state.setup === null || isTexts(state.setup?.brought)) &&
    (state.included === undefined || isTexts(state.included))
  )
}

export async function writeSlotState(slot: Slot, state: Omit<SlotState, 'version' | 'boot'>): Promise<void> {
  const whole: SlotState = { version: 1, boot: ownIdentity().boot, ...state }
  await replaceQuickly(slot.stateFile, `${JSON.stringify(whole)}\n`)
}

/** Whether the tree is what its state says without looking into it. */
export const isReady = (state: SlotState): boolean => state.phase === 'clean' && isOfThisBoot(state)

/** What was not synced before the system's last start may be lost. */
export const isOfThisBoot = (state: SlotState): boolean => state.boot === ownIdentity().boot

/** Makes a slot's tree, in whose place nothing of use stands. Takes seconds in a large repository. */
export async function makeSlot(
  slot: Slot,
  { commit, rules }: { readonly commit: CommitId; readonly rules: TreeRules },
  options: CheckoutOptions,
): Promise<void> {
  await dropSlot(slot)
  await makeFullTree(slot)
  if (rules !== null) await setRules(slot, rules)
  await checkOutScratch(slot.door, commit, options)
}

/** Makes an empty full tree, and the view that galley's git has of it. No process. */
export async function makeFullTree(tree: ScratchTree): Promise<void> {
  const { path, door } = tree
  await makePrivateDirectory(path)
  await makePrivateDirectory(door.gitDir)
  const files = { commondir: '../..\n', gitdir: `${join(path, '.git')}\n`, locked: 'galley\n' }
  for (const [name, text] of Object.entries(files)) await replaceQuickly(join(door.gitDir, name), text)
  await replaceQuickly(join(door.gitDir, 'HEAD'), `${zeroId(door.objectFormat)}\n`)
  if (!(await isFullTree(path, door.gitDir)))
    refuse('io-error', `the tree ${path} could not be made: something else stands in its place`, { path })
}

/** Removes a slot's tree, view and state; its lock stays with whoever has it. */
export async function dropSlot(slot: Slot): Promise<void> {
  await dropTree(slot)
  await removeTree(slot.idlePath)
  await removeTree(slot.stateFile)
}

/**
 * Puts a clean tree out of reach until somebody takes it: whatever was told of its path finds nothing there, and who holds something of it is
 * seen.
 *
 * @returns false, where a process holds it: it could write in there at any time.
 */
export async function setAside(slot: Slot): Promise<boolean> {
  await removeTree(slot.idlePath)
  return (await moveDirectory(slot.path, slot.idlePath)) && holdersOf(slot.idlePath).length === 0
}

/** Brings a tree back that was set aside. False where there is none: whatever stands in its place was not seen clean. */
export async function bringBack(slot: Slot): Promise<boolean> {
  if (!isRealDirectory(slot.idlePath)) return false
  await removeTree(slot.path)
  return moveDirectory(slot.idlePath, slot.path)
}

/** Removes a full tree and galley's view of it. */
export async function dropTree(tree: Pick<ScratchTree, 'path' | 'door'>): Promise<void> {
  await removeTree(tree.path)
  await forgetHandedOut(tree)
  await removeTree(tree.door.gitDir)
}

/**
 * Brings a tree back to a checkout of `commit`, whatever ran in it, by galley's own index: the repository that stood in it goes, tracked
 * files are put back, and everything else is removed but what `keeps` names.
 *
 * @param options.trustsIndex - The index is whole: nobody was cut off while it was written. Otherwise every file is read.
 * @returns false when that did not succeed; the tree is to be dropped then.
 */
export async function cleanSlot(
  slot: Slot,
  commit: CommitId,
  options: { readonly keeps: readonly string[]; readonly trustsIndex: boolean },
): Promise<boolean> {
  // A link in its place would lead into files of somebody else.
  if (!isRealDirectory(slot.path) || !isRealDirectory(slot.door.gitDir)) return false
  await removeOwnRepository(slot)
  await standAt(slot, commit, options.trustsIndex)
  const { paths, unreadable } = await listUntracked(slot.door, { ignored: 'listed', foldsDirectories: true })
  if (unreadable.length > 0) return false
  const isKept = coveredBy(options.keeps)
  for (const path of paths) {
    if (!isKept(path)) await removeAllInTree(slot.path, path.replace(/\/$/, ''))
  }
  const special = specialFiles(slot.path, (path) => isKept(`${path}/`))
  if (special === null) return false
  for (const path of special) await removeAllInTree(slot.path, path)
  // A file that stands outside of the sparse rules is as the commit has it, and is to go all the same.
  if (isSparse(slot) || (await changedFiles(slot.door)).length > 0) await checkOutScratch(slot.door, commit)
  if (isSparse(slot)) removeEmptyOutside(slot)
  return (await changedFiles(slot.door)).length === 0
}

/** Puts HEAD of galley's view where it says, and its index where that cannot be believed. */
async function standAt(slot: Slot, commit: CommitId, trustsIndex: boolean): Promise<void> {
  await removeTree(join(slot.door.gitDir, 'index.lock'))
  await replaceQuickly(join(slot.door.gitDir, 'HEAD'), `${commit}\n`)
  if (trustsIndex && isThere(join(slot.door.gitDir, 'index'))) return
  await removeTree(join(slot.door.gitDir, 'index'))
  await git(slot.door, { args: ['read-tree', commit] })
  await refreshIndex(slot.door)
}
