import { findRelation } from '../../git/ancestry.ts'
import { parseCommit } from '../../git/commit.ts'
import { commitsWithLine } from '../../git/commit-chain.ts'
import { diffTrees } from '../../git/diff-tree.ts'
import type { Change, Landing } from '../../model/change.ts'
import { refuse } from '../../model/error.ts'
import type { CommitId, RefName } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'
import type { World } from '../world.ts'

/** Where a landed change stands now. */
export interface FoundElsewhere {
  readonly commit: CommitId
  readonly onto: RefName
  readonly tip: CommitId
}

/**
 * Finds a landed change whose commit is not in the branch where it landed: in the branch that is checked out (the other one
 * was merged), or as the commit that a rebase made of it, which still has the trailer and changes the same paths.
 *
 * Walks the history, so it is asked last.
 *
 * @throws GalleyError `wrong-state`.
 */
export async function findElsewhere(
  world: World,
  store: Store,
  change: Change,
  landed: Landing & { readonly tip: CommitId | null },
): Promise<FoundElsewhere> {
  const head = await world.head()
  const here = head.tip === null ? null : { onto: head.ref, tip: head.tip }
  if (here !== null && (await findRelation(store.door, landed.after, here.tip)) !== 'unrelated')
    return { commit: landed.after, ...here }
  const there = landed.tip === null ? [] : [{ onto: landed.ref, tip: landed.tip }]
  const places = here === null || here.onto === landed.ref ? there : [here, ...there]
  for (const place of places) {
    const commit = await rewritten(world, store, change, place.tip)
    if (commit !== null) return { commit, ...place }
  }
  refuse(
    'wrong-state',
    `${landed.after} is not in the history of ${landed.ref}`,
    { id: change.id, commit: landed.after, ref: landed.ref },
    'If its edits are in another commit now, name that: galley undo <commit>',
  )
}

async function rewritten(
  world: World,
  store: Store,
  change: Change,
  tip: CommitId,
): Promise<CommitId | null> {
  const paths = change.revisions.at(-1)?.manifest.map((t) => t.path) ?? []
  for (const commit of await commitsWithLine(store.door, tip, `Galley-Change: ${change.id}`)) {
    const { parents } = await parseCommit(await world.reader(), commit)
    const [parent, another] = parents
    if (parent === undefined || another !== undefined) continue
    const found = (await diffTrees(store.door, parent, commit)).map((t) => t.path)
    // A squash holds more than this change: taking that back is for whoever names the commit.
    if (found.length === paths.length && found.every((path, i) => path === paths[i])) return commit
  }
  return null
}
