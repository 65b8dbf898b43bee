import { programOf, runBounded } from '../checks/run-bounded.ts'
import { treeEnvironment } from '../checks/tree-environment.ts'
import { changedFiles, checkOutScratch } from '../git/scratch-tree.ts'
import type { CommitId } from '../model/ids.ts'
import type { Command, Policy } from '../model/policy.ts'
import { copyIgnoreRules } from '../store/ignore-rules.ts'
import { copyIncluded } from '../store/include-files.ts'
import type { Store } from '../store/open-store.ts'
import { type OwnPlan, writeOwnRepository } from '../store/own-repository.ts'
import { type FullTree, type FullTreeRequest, takeFullTree } from '../store/pool.ts'
import type { SetupState, Slot } from '../store/pool-slot.ts'
import { viewIndex } from '../store/scratch.ts'
import { holdsStill, noteBrought, setupKey } from '../store/setup-state.ts'
import { rulesWith } from '../store/sparse-view.ts'
import { isRealDirectory } from '../sys/quick-files.ts'
import { removeAllInTree } from '../sys/tree-files.ts'
import type { World } from './world.ts'

/** Installing what a project needs may take a while. */
const SETUP_TIMEOUT_MS = 30 * 60_000

/** A full tree with what its work needs: ignored files of the user's that `.worktreeinclude` names, and what the policy's setup brings. */
export interface ProvisionedTree {
  readonly slot: Slot
  /** Paths of the tree that were brought and are never committed; one that ends in `/` stands for all that is in it. */
  readonly brought: readonly string[]
  /** What was named and could not be brought, each as a sentence. */
  readonly remarks: readonly string[]
  /** The setup command ended badly; null = it did not, or there is none. */
  readonly setupFailure: SetupFailure | null
}

export interface SetupFailure {
  readonly summary: string
  readonly output: Buffer
}

export interface ProvisionRequest {
  readonly commit: CommitId
  readonly policy: Policy
  readonly purpose: FullTreeRequest['purpose']
  readonly usesSetup: boolean
  /** What the repository in the tree is to be. */
  readonly own: OwnPlan
  /** Paths that stand in the tree also where the user's sparse checkout leaves them out. */
  readonly shows?: readonly string[]
}

/** A tree in use, and the two ways to be done with it. */
export interface HeldTree extends ProvisionedTree {
  readonly release: () => Promise<void>
  readonly abandon: () => void
}

/** Runs a task in a full tree of the pool at a commit, provisioned; cleans the tree and gives it back, whatever the end is. */
export async function withFullTree<T>(
  world: World,
  store: Store,
  request: ProvisionRequest,
  task: (tree: ProvisionedTree) => Promise<T>,
): Promise<T> {
  const tree = await holdFullTree(world, store, request)
  try {
    return await task(tree)
  } finally {
    await tree.release()
  }
}

/** As `withFullTree`, for whoever has to look at what is left before it goes. */
export async function holdFullTree(world: World, store: Store, request: ProvisionRequest): Promise<HeldTree> {
  const { commit } = request
  await copyIgnoreRules(world.repository, store)
  const reader = await world.reader()
  const tree = await takeFullTree(world.repository, store, {
    commit,
    rules: rulesWith(request.own.checkout.sparse, request.shows ?? []),
    purpose: request.purpose,
    reader,
    clock: world.clock,
    onProgress: ({ percent }) => world.progress(`checking out: ${percent} %`),
  })
  let setup: SetupState | null = tree.setup
  const release = async () => {
    const kept = setup !== null && (await holdsStill(tree.slot, setup).catch(() => false)) ? setup : null
    await tree.release(kept)
  }
  try {
    const done = request.usesSetup ? await setUp(world, tree, request) : { setup, failure: null }
    setup = done.setup
    const included = await copyIncluded(world.repository, tree.slot.path)
    await tree.note(setup, included.paths)
    await writeOwnRepository(tree.slot, request.own, { head: commit, index: viewIndex(tree.slot) })
    return {
      slot: tree.slot,
      brought: [...(setup?.brought ?? []), ...included.paths],
      remarks: included.remarks,
      setupFailure: done.failure,
      release,
      abandon: tree.abandon,
    }
  } catch (error) {
    await release()
    throw error
  }
}

interface SetUp {
  readonly setup: SetupState | null
  readonly failure: SetupFailure | null
}

/** Runs the policy's setup command, unless what it brought for these lock files is there still. */
async function setUp(world: World, tree: FullTree, { policy, own }: ProvisionRequest): Promise<SetUp> {
  const { slot, commit } = tree
  const key = policy.setup === null ? null : await setupKey(await world.reader(), commit, policy.setup)
  if (tree.setup !== null && tree.setup.key === key) return { setup: tree.setup, failure: null }
  for (const path of tree.setup?.brought ?? []) await removeAllInTree(slot.path, path.replace(/\/$/, ''))
  if (policy.setup === null || key === null) return { setup: null, failure: null }
  world.progress(`setting up: ${commandText(policy.setup.run)}`)
  await writeOwnRepository(slot, own, { head: commit, index: viewIndex(slot) })
  const failure = await runSetup(world, slot, policy.setup.run)
  // The tree is to be what the commit says; what setup writes into tracked files is nobody's work.
  if (!isRealDirectory(slot.path)) return { setup: null, failure: failure ?? TOOK_TREE_AWAY }
  if ((await changedFiles(slot.door)).length > 0) await checkOutScratch(slot.door, commit)
  return failure === null ? { setup: await noteBrought(slot, key), failure } : { setup: null, failure }
}

const TOOK_TREE_AWAY: SetupFailure = {
  summary: 'setup took its own tree away',
  output: Buffer.from('setup took its own tree away\n'),
}

const commandText = (command: Command): string =>
  command.kind === 'argv' ? command.argv.join(' ') : command.line

async function runSetup(world: World, slot: Slot, command: Command): Promise<SetupFailure | null> {
  const end = await runBounded({
    ...programOf(command),
    cwd: slot.path,
    tree: slot.path,
    env: treeEnvironment(world.repository.env, 'setup'),
    timeoutMs: SETUP_TIMEOUT_MS,
  })
  if (end.kind === 'not-started')
    return { summary: `setup ${end.why}`, output: Buffer.from(`setup ${end.why}\n`) }
  if (end.exitCode === 0 && !end.timedOut) return null
  const how = end.timedOut ? `did not end within ${SETUP_TIMEOUT_MS / 60_000} minutes` : endOf(end)
  return { summary: `setup ${how}`, output: end.output }
}

const endOf = (result: { readonly exitCode: number | null; readonly signal: string | null }): string =>
  result.exitCode === null ? `was ended by ${result.signal}` : `ended with exit code ${result.exitCode}`
