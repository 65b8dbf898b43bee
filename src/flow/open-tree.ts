import { checkOutScratch } from '../git/scratch-tree.ts'
import type { CommitId } from '../model/ids.ts'
import type { LoggedChange } from '../store/change-log.ts'
import { copyIgnoreRules } from '../store/ignore-rules.ts'
import { copyIncluded } from '../store/include-files.ts'
import type { Store } from '../store/open-store.ts'
import { ownRepositoryOf, planOwnRepository, writeOwnRepository } from '../store/own-repository.ts'
import { dropTree, makeFullTree } from '../store/pool-slot.ts'
import { openedTree, type ScratchTree, viewIndex } from '../store/scratch.ts'
import { ensureScratchHome } from '../store/scratch-home.ts'
import { rulesWith, setRules } from '../store/sparse-view.ts'
import { isRealDirectory, isThere } from '../sys/quick-files.ts'
import { currentRevision } from './check.ts'
import { loadChange, refuseLostBase } from './logged-change.ts'
import { finishInterrupted } from './recover.ts'
import type { World } from './world.ts'

export interface OpenedTree {
  readonly id: string
  readonly path: string
  /** What the tree was made at: the newest revision, unless it had been opened before that. */
  readonly commit: string
  readonly remarks: readonly string[]
}

/**
 * Makes the full tree of a change, if it has none, and gives its path. It is a repository of its own; whoever works there does so
 * without touching the user's tree, the store or another tree. One that was opened before is left as it is.
 */
export async function openTree(world: World, id: string): Promise<OpenedTree> {
  await finishInterrupted(world)
  const store = await world.store()
  const logged = await loadChange(world, store, id)
  await refuseLostBase(world, store, logged)
  const { commit } = currentRevision(logged)
  const tree = openedTree(world.repository, store, logged.change.id)
  const answer = { id: logged.change.id, path: tree.path }
  if (!wasOpened(tree))
    return { ...answer, commit, remarks: await makeOpened(world, store, tree, logged, commit) }
  const given = (await ownRepositoryOf(tree)).handedOut?.commit ?? commit
  const remarks = given === commit ? [] : ['it was opened at an earlier revision, and is left as it is']
  return { ...answer, commit: given, remarks }
}

/** What is half made has no repository yet. */
const wasOpened = ({ path }: ScratchTree): boolean => isRealDirectory(path) && isThere(`${path}/.git`)

async function makeOpened(
  world: World,
  store: Store,
  tree: ScratchTree,
  logged: LoggedChange,
  commit: CommitId,
): Promise<readonly string[]> {
  const { repository } = world
  const { change } = logged
  await ensureScratchHome(repository)
  await copyIgnoreRules(repository, store)
  const own = await planOwnRepository(repository, store, { onto: change.onto, who: await world.identity() })
  await dropTree(tree)
  await makeFullTree(tree)
  const touched = currentRevision(logged).manifest.map((t) => t.path)
  const rules = rulesWith(own.checkout.sparse, touched)
  if (rules !== null) await setRules(tree, rules)
  await checkOutScratch(tree.door, commit)
  const included = await copyIncluded(repository, tree.path)
  await writeOwnRepository(tree, own, { head: commit, index: viewIndex(tree), brought: included.paths })
  return included.remarks
}
