import type { ChangeId } from '../model/ids.ts'
import type { Store } from '../store/open-store.ts'
import { dropTree } from '../store/pool-slot.ts'
import { openedTree, removeSmallTree } from '../store/scratch.ts'
import { standsAt } from '../sys/plain-file.ts'
import { isFullTree } from '../sys/scratch-identity.ts'
import { findTreeWork } from './collect/tree-work.ts'
import type { World } from './world.ts'

/** As many as say what it is about. */
const SHOWN = 3

/**
 * Removes the trees of a change that is decided. One that `galley open` gave stays while it holds work.
 *
 * @returns Where it stays, as a sentence.
 */
export async function retireTrees(world: World, store: Store, id: ChangeId): Promise<readonly string[]> {
  await removeSmallTree(world.repository, store, id)
  const tree = openedTree(world.repository, store, id)
  if (standsAt(tree.path) === 'absent') return []
  const why = await whyTreeStays(store, tree)
  if (why !== null) return [`the opened tree ${tree.path} stays: ${why}`]
  await dropTree(tree)
  return []
}

/** Why an opened tree is not to be removed; null = nobody worked in it. */
export async function whyTreeStays(
  store: Store,
  tree: ReturnType<typeof openedTree>,
): Promise<string | null> {
  if (!(await isFullTree(tree.path, tree.door.gitDir)))
    return 'it is no tree of galley any more, and may hold anything'
  const work = await findTreeWork(store, tree)
  const more = work.length > SHOWN ? ', …' : ''
  return work.length === 0 ? null : `somebody worked in it: ${work.slice(0, SHOWN).join(', ')}${more}`
}
