import { findRelation } from '../git/ancestry.ts'
import { sha256Hex } from '../git/blob-id.ts'
import { parseCommit } from '../git/commit.ts'
import { diffTrees, findRenames } from '../git/diff-tree.ts'
import { emptyTree } from '../git/fast-import.ts'
import { mergeTrees } from '../git/merge-trees.ts'
import { resolveCommit } from '../git/refs.ts'
import { readShallow } from '../git/shallow.ts'
import { refuse } from '../model/error.ts'
import { type CommitId, isChangeId } from '../model/ids.ts'
import { judgeTransitions } from '../policy/judge.ts'
import { findChange, readChange } from '../store/change-log.ts'
import { findStore, type Store } from '../store/open-store.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { checkRevision } from './check.ts'
import { countFiles } from './count-files.ts'
import { changeOfCommit } from './mark-undone.ts'
import { readPolicy } from './read-policy.ts'
import { finishInterrupted } from './recover.ts'
import { refuseBatch } from './refuse-batch.ts'
import { stageNewChange } from './stage.ts'
import type { World } from './world.ts'

export interface UndoRequest {
  /** The id of a landed change, or a revision expression. */
  readonly target: string
  /** For a merge commit: the parent to go back to, from 1. */
  readonly mainline?: number
}

/**
 * Stages the inverse of a landed change, or of any commit, as a new change: one three-way merge in the object store. It goes
 * through review, checks and landing like any other.
 *
 * @throws GalleyError `unknown-change`, `wrong-state`, `root-commit`, `needs-mainline`, `overlaps-later`, `no-change`.
 */
export async function undo(world: World, request: UndoRequest): Promise<{ readonly change: ChangeView }> {
  await finishInterrupted(world)
  const target = await findTarget(world, request)
  const head = await world.head()
  const tip = target.onto === null ? head.tip : await resolveCommit(world.repository.door, target.onto)
  if (tip === null) refuse('unknown-change', 'the branch has no commit, so that there is nothing to undo', {})
  const store = await world.store()
  if ((await findRelation(store.door, target.commit, tip)) === 'unrelated') {
    refuse('wrong-state', `${target.commit} is not in the history of ${target.onto ?? head.ref}`, {
      commit: target.commit,
    })
  }
  const parent = await parentOf(world, target.commit, request.mainline)
  return stageInverse(world, store, { ...target, parent, tip, onto: target.onto ?? head.ref })
}

interface Target {
  readonly commit: CommitId
  readonly title: string
  readonly onto: import('../model/ids.ts').RefName | null
}

async function findTarget(world: World, request: UndoRequest): Promise<Target> {
  const store = await findStore(world.repository)
  if (store !== null && /^g[0-9a-z]{2,9}$/.test(request.target)) {
    const found = await findLanded(world, store, request.target)
    if (found !== null) return found
  }
  const commit = await resolveCommit(world.repository.door, request.target)
  if (commit === null) {
    refuse(
      'unknown-change',
      `${JSON.stringify(request.target.slice(0, 60))} is neither a change nor a commit`,
      { target: request.target.slice(0, 60) },
    )
  }
  const { message } = await parseCommit(await world.reader(), commit)
  return { commit, title: message.split('\n', 1)[0] ?? '', onto: null }
}

async function findLanded(world: World, store: Store, text: string): Promise<Target | null> {
  // A short name that is no change may still be a branch or a tag.
  if (!isChangeId(text) && (await resolveCommit(world.repository.door, text)) !== null) return null
  const { change } = await readChange(store, await world.reader(), await findChange(store, text))
  if (change.landing === null || change.state !== 'landed') {
    const by = change.undoneBy === null ? '' : ` by ${change.undoneBy}`
    refuse('wrong-state', `${change.id} is ${change.state}${by}; only a landed change can be undone`, {
      id: change.id,
      state: change.state,
    })
  }
  return { commit: change.landing.after, title: change.title, onto: change.landing.ref }
}

async function parentOf(world: World, commit: CommitId, mainline: number | undefined): Promise<CommitId> {
  const { parents } = await parseCommit(await world.reader(), commit)
  const shallow = await readShallow(world.repository)
  if (parents.length === 0 || shallow.has(commit)) {
    refuse('root-commit', `${commit} has no parent here: undoing it would delete every file`, { commit })
  }
  if (parents.length === 1 && mainline === undefined) return parents[0] as CommitId
  const chosen = parents[(mainline ?? 0) - 1]
  if (chosen === undefined) {
    refuse('needs-mainline', `${commit} has ${parents.length} parents; which one to go back to is not said`, {
      commit,
      parents,
    })
  }
  return chosen
}

async function stageInverse(
  world: World,
  store: Store,
  facts: Target & {
    readonly parent: CommitId
    readonly tip: CommitId
    readonly onto: import('../model/ids.ts').RefName
  },
): Promise<{ readonly change: ChangeView }> {
  const reader = await world.reader()
  const [base, ours, theirs] = await Promise.all(
    [facts.commit, facts.tip, facts.parent].map((c) => reader.commitTree(c)),
  )
  const merge = await mergeTrees(store.door, {
    base: base ?? null,
    ours: ours ?? null,
    theirs: theirs ?? null,
  })
  if (merge.kind === 'conflict') {
    refuse('overlaps-later', `later commits touch the same lines in ${merge.paths.join(', ')}`, {
      commit: facts.commit,
      paths: merge.paths,
      messages: merge.messages,
    })
  }
  const manifest = await diffTrees(store.door, ours ?? emptyTree(store.door.objectFormat), merge.tree)
  if (manifest.length === 0)
    refuse('no-change', `nothing of ${facts.commit} is left to undo`, { commit: facts.commit })
  const inForce = await readPolicy(world, ours ?? null)
  const denied = judgeTransitions(inForce.policy, manifest, () => 0)
  if (denied.length > 0) refuseBatch(denied)
  const identity = await world.identity()
  const undone = await changeOfCommit(world, store, facts.commit)
  const staged = await stageNewChange(
    world,
    store,
    {
      title: `Revert "${facts.title}"`,
      body: `This reverts commit ${facts.commit}.`,
      agent: null,
      onto: facts.onto,
      stackedOn: null,
      key: null,
      batchHash: sha256Hex(`undo ${facts.commit} ${facts.tip}`),
      undoes: [facts.commit],
      redoes: [],
    },
    {
      base: facts.tip,
      content: { kind: 'tree', tree: merge.tree, manifest },
      files: await countFiles(reader, manifest, [], await findRenames(store.door, facts.tip, merge.tree)),
      remarks: [],
      reads: [],
      author: identity,
      committer: identity,
    },
    () => [],
  )
  world.log.note('undo staged', { change: staged.change.id, undoes: undone?.id ?? facts.commit })
  return { change: viewChange((await checkRevision(world, store, staged, inForce)).change) }
}
