import { join } from 'node:path'
import { type GitDoor, git } from '../git/door.ts'
import { refreshIndex } from '../git/index-update.ts'
import type { Repository } from '../git/open-repository.ts'
import { addScratchTree, type CheckoutOptions, changedFiles, checkOutScratch } from '../git/scratch-tree.ts'
import { listUntracked } from '../git/untracked.ts'
import { invariant, refuse } from '../model/error.ts'
import { type CommitId, commitId, isObjectId } from '../model/ids.ts'
import { specialFiles } from '../sys/census.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { ownIdentity } from '../sys/process-identity.ts'
import { isRealDirectory, renewCopy, replaceQuickly } from '../sys/quick-files.ts'
import { isScratchTree } from '../sys/scratch-identity.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import { removeAllInTree } from '../sys/tree-files.ts'
import { removeTree } from '../sys/trees.ts'
import { coveredBy } from './covered-paths.ts'
import type { Store } from './open-store.ts'
import { type ScratchTree, scratchHome } from './scratch.ts'
import { removeOperations } from './scratch-operations.ts'

/** One full tree of the pool: its place, and how git sees it. */
export interface Slot extends ScratchTree {
  readonly name: string
  readonly door: GitDoor & { readonly workTree: string }
  readonly lockFile: string
  readonly stateFile: string
  /** The index as it was when the tree was handed out, under a name that what runs in the tree does not know. */
  readonly savedIndex: string
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
    savedIndex: `${path}.index`,
  }
}

/** Null when there is none, or it cannot be believed: then the tree is made again. */
export async function readSlotState(slot: Slot): Promise<SlotState | null> {
  const bytes = await readFileOrNull(slot.stateFile)
  if (bytes === null) return null
  try {
    const value = JSON.parse(bytes.toString('utf8')) as Partial<SlotState> | null
    return value?.version === 1 && typeof value.commit === 'string' && isObjectId(value.commit)
      ? ({ ...value, commit: commitId(value.commit) } as SlotState)
      : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
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
  store: Store,
  commit: CommitId,
  options: CheckoutOptions,
): Promise<void> {
  await dropSlot(slot)
  await makePrivateDirectory(join(slot.path, '..'))
  await addScratchTree(store.door, { path: slot.path, commit, reason: `galley ${slot.name}` })
  if (!(await isScratchTree(slot.path, slot.door.gitDir)))
    refuse('io-error', `the tree ${slot.path} could not be made: something else stands in its place`, {})
  await checkOutScratch(slot.door, commit, options)
  await saveIndex(slot)
}

/** Removes a slot's tree, registration and state; its lock stays with whoever has it. */
export async function dropSlot(slot: Slot): Promise<void> {
  for (const path of [slot.path, slot.door.gitDir, slot.stateFile, slot.savedIndex]) await removeTree(path)
}

/** Remembers the index as it is. A copy: what runs in the tree may write into the file itself. */
export async function saveIndex(slot: Slot): Promise<void> {
  await renewCopy(join(slot.door.gitDir, 'index'), slot.savedIndex)
}

/**
 * Brings a tree back to a checkout of `commit`, whatever ran in it: index, HEAD and `.git` as they were, tracked files by git,
 * everything else removed but what `keeps` names.
 *
 * @param options.trustsIndex - The index that was saved is whole: nobody was cut off while it was written. Otherwise every file is read.
 * @returns false when that did not succeed; the tree is to be dropped then.
 */
export async function cleanSlot(
  slot: Slot,
  commit: CommitId,
  options: { readonly keeps: readonly string[]; readonly trustsIndex: boolean },
): Promise<boolean> {
  // A link in its place would lead into files of somebody else.
  if (!isRealDirectory(slot.path) || !isRealDirectory(slot.door.gitDir)) return false
  if (!options.trustsIndex) await removeTree(slot.savedIndex)
  await restorePointers(slot, commit)
  const { paths, unreadable } = await listUntracked(slot.door, { ignored: 'listed', foldsDirectories: true })
  if (unreadable.length > 0) return false
  const isKept = coveredBy(options.keeps)
  for (const path of paths) {
    if (!isKept(path)) await removeAllInTree(slot.path, path.replace(/\/$/, ''))
  }
  const isKeptDirectory = (path: string) => path === '.git' || isKept(`${path}/`)
  const special = specialFiles(slot.path, isKeptDirectory)
  if (special === null) return false
  for (const path of special) await removeAllInTree(slot.path, path)
  if ((await changedFiles(slot.door)).length > 0) await checkOutScratch(slot.door, commit)
  const isClean = (await changedFiles(slot.door)).length === 0
  if (isClean) await saveIndex(slot)
  return isClean
}

/**
 * Puts back what git goes by in a tree: what runs there may have checked out another commit, changed the index or made a repository of its own.
 * Files stay as they are.
 */
export async function restorePointers(slot: Slot, commit: CommitId): Promise<void> {
  if (!(await isScratchTree(slot.path, slot.door.gitDir))) {
    await removeAllInTree(slot.path, '.git')
    await replaceQuickly(join(slot.path, '.git'), `gitdir: ${slot.door.gitDir}\n`)
  }
  await removeOperations(slot.door.gitDir)
  for (const left of ['config.worktree', 'info']) await removeTree(join(slot.door.gitDir, left))
  await replaceQuickly(join(slot.door.gitDir, 'HEAD'), `${commit}\n`)
  if (await renewCopy(slot.savedIndex, join(slot.door.gitDir, 'index'))) return
  await removeTree(join(slot.door.gitDir, 'index'))
  await git(slot.door, { args: ['read-tree', commit] })
  await refreshIndex(slot.door)
}
