import { headBranch, resolveCommit } from '../git/refs.ts'
import type { Batch } from '../model/batch.ts'
import { isPending } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { type ChangeId, type CommitId, isChangeId, type RefName, type TreeId } from '../model/ids.ts'
import { findChange, readChange } from '../store/change-log.ts'
import type { World } from './world.ts'

/** The commit that a batch is proposed on, and where it is to land. */
export interface Base {
  /** null = an unborn branch. */
  readonly commit: CommitId | null
  readonly tree: TreeId | null
  readonly onto: RefName
  readonly stackedOn: ChangeId | null
  /** The work tree stands on this base, so that edits resolve against the working files. */
  readonly isCheckedOut: boolean
  /** Tree at the tip of `onto` now. */
  readonly ontoTree: TreeId | null
}

/**
 * Resolves `base` and `onto` of a batch.
 *
 * @throws GalleyError `stale`, if the base does not exist; `unknown-change`, `wrong-state`, for a base that is no pending change;
 * `usage`, for a branch that does not exist.
 */
export async function selectBase(world: World, batch: Pick<Batch, 'base' | 'onto'>): Promise<Base> {
  const head = await world.head()
  const onto = batch.onto === undefined ? head.ref : await resolveOnto(world, batch.onto)
  const treeOf = async (commit: CommitId | null) =>
    commit === null ? null : (await world.reader()).commitTree(commit)
  if (batch.base === undefined || batch.base === 'HEAD') {
    const tip = onto === head.ref ? head.tip : await resolveCommit(world.repository.door, onto)
    return {
      commit: tip,
      tree: await treeOf(tip),
      onto,
      stackedOn: null,
      isCheckedOut: onto === head.ref || tip === head.tip,
      ontoTree: await treeOf(tip),
    }
  }
  const treeAtTip = async (ref: RefName) => treeOf(await resolveCommit(world.repository.door, ref))
  const stacked = await pendingBase(world, batch.base)
  if (stacked !== null) {
    return {
      commit: stacked.commit,
      tree: await treeOf(stacked.commit),
      onto: stacked.onto,
      stackedOn: stacked.id,
      isCheckedOut: false,
      ontoTree: await treeAtTip(stacked.onto),
    }
  }
  const commit = await resolveCommit(world.repository.door, batch.base)
  if (commit === null) {
    refuse(
      'stale',
      `the base ${JSON.stringify(batch.base.slice(0, 100))} names no commit of this repository`,
      { base: batch.base.slice(0, 100) },
      'Leave "base" out for HEAD, or name a commit, a branch or a pending change.',
    )
  }
  const [tree, ontoTree] = await Promise.all([treeOf(commit), treeAtTip(onto)])
  return { commit, tree, onto, stackedOn: null, isCheckedOut: commit === head.tip, ontoTree }
}

async function pendingBase(
  world: World,
  text: string,
): Promise<{ readonly id: ChangeId; readonly commit: CommitId; readonly onto: RefName } | null> {
  if (!isChangeId(text)) return null
  const store = await world.store()
  const id = await findChange(store, text)
  const { change } = await readChange(store, await world.reader(), id)
  const revision = change.revisions.at(-1)
  if (!isPending(change.state) || revision === undefined) {
    refuse('wrong-state', `${id} is ${change.state}; only a pending change can be a base`, {
      id,
      state: change.state,
    })
  }
  return { id, commit: revision.commit, onto: change.onto }
}

/** A branch name, short or full. The branch checked out may be unborn; any other must exist. */
async function resolveOnto(world: World, text: string): Promise<RefName> {
  const full = text.startsWith('refs/heads/') ? text : `refs/heads/${text}`
  const current = await headBranch(world.repository.door)
  if (full === current) return current
  const isName =
    /^refs\/heads\/(?!-)[^\s~^:?*[\\\p{Cc}]+$/u.test(full) && !full.includes('..') && !full.includes('@{')
  if (!isName || (await resolveCommit(world.repository.door, full)) === null) {
    refuse(
      'stale',
      `"onto" names ${JSON.stringify(text.slice(0, 100))}, which is no branch of this repository`,
      { onto: text.slice(0, 100) },
      'Make the branch first, or leave "onto" out for the one checked out.',
    )
  }
  return full as RefName
}
