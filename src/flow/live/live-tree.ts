import { mergeTrees } from '../../git/merge-trees.ts'
import type { Landing } from '../../model/change.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import { type ChangeId, changeId, type TreeId } from '../../model/ids.ts'
import { refusalOf } from '../../model/refusal-of.ts'
import { quote } from '../../policy/quote.ts'
import type { LoggedChange } from '../../store/change-log.ts'
import type { GroupResult } from '../../sys/process-group.ts'
import { directoryInTree } from '../../sys/tree-files.ts'
import { type ChangeView, viewChange } from '../change-view.ts'
import { checkRevision } from '../check.ts'
import { loadChange } from '../logged-change.ts'
import { readPolicy } from '../read-policy.ts'
import { reject } from '../reject.ts'
import { beginRun } from '../run/run.ts'
import { collectWork } from '../run/run-collect.ts'
import { finishRun, titleOf } from '../run/run-finish.ts'
import { type RunStep, restageRun, stageRun } from '../run/run-stage.ts'
import type { RunOutcome, RunRequest, RunWork } from '../run/run-work.ts'
import { selectBase } from '../select-base.ts'
import type { World } from '../world.ts'

/** What came of one turn of an agent's. */
export interface Turn {
  /** null = nothing is left to decide: the agent changed nothing, or took its own work back. */
  readonly change: ChangeView | null
  /** What is to be known beside, each as a sentence. */
  readonly remarks: readonly string[]
}

/** What a turn's change is called, where it becomes a new one. */
export interface TurnWords {
  readonly title: string
  readonly body: string
}

/**
 * A full scratch tree in which an agent works for many turns. All that it did and that has not landed is one change: each turn is its next
 * revision. What is done after a landing becomes a change of its own.
 */
export interface LiveTree {
  /** The tree's root, and the directory in it that stands for the one that was asked for. */
  readonly path: string
  readonly directory: string
  /** The same tree, for another directory in it. */
  readonly at: (place: string) => LiveTree
  readonly work: RunWork
  /** Takes in what the agent has done by now. The tree stays as it is. */
  readonly takeTurn: (words: TurnWords) => Promise<Turn>
  /** A landing on the agent's behalf is no change that somebody else made meanwhile. */
  readonly noteLanding: (landed: Pick<Landing, 'ref' | 'after'>) => void
  /** Takes in what is left and gives the tree back; nothing may run in it any more. */
  readonly end: (ended: GroupResult, words: TurnWords) => Promise<RunOutcome>
}

/** @throws GalleyError as `run` does before its command starts. */
export async function openLiveTree(world: World, request: RunRequest): Promise<LiveTree> {
  const work = await beginRun(world, request)
  const live: Live = {
    work,
    base: work.base,
    given: work.given,
    taken: work.given,
    open: null,
    marks: work.marks,
  }
  return liveTreeAt(live, request.directory ?? '')
}

function liveTreeAt(live: Live, place: string): LiveTree {
  const { work } = live
  const { path } = work.tree.slot
  return {
    path,
    directory: directoryInTree(path, place),
    at: (other) => liveTreeAt(live, other),
    work,
    takeTurn: (words) => takeTurn(live, words),
    noteLanding: ({ ref, after }) => {
      live.marks = { ...live.marks, user: new Map(live.marks.user).set(ref, after) }
    },
    end: async (ended, words) => {
      const last = await takeTurn(live, words).catch((error: unknown) => error)
      if (last instanceof Error && !(last instanceof GalleyError)) throw last
      // What was refused is refused again, and kept as a commit.
      const outcome = await finishRun(
        { ...work, base: live.base, given: live.taken, marks: live.marks },
        ended,
      )
      const changes = 'change' in (last as object) ? [(last as Turn).change].filter((c) => c !== null) : []
      return { ...outcome, changes: [...changes, ...outcome.changes] }
    },
  }
}

interface Live {
  readonly work: RunWork
  /** What the open change stands on, or the next one will. */
  base: RunWork['base']
  /** What the agent's tree held beside the base: the user's uncommitted work, or all that has landed; null = nothing. */
  given: TreeId | null
  /** What it held when the last turn was taken in. */
  taken: TreeId | null
  open: ChangeId | null
  marks: RunWork['marks']
}

async function openChange({ work, open }: Live): Promise<LoggedChange | null> {
  if (open === null) return null
  const logged = await loadChange(work.world, work.store, open)
  return ['landed', 'undone'].includes(logged.change.state) ? null : logged
}

async function takeTurn(live: Live, words: TurnWords): Promise<Turn> {
  const { world, store, tree, commit, before, inForce, id } = live.work
  await world.atWork()
  const { fileMaxBytes } = inForce.policy.limits
  const found = await collectWork(world, store, tree.slot, { run: id, base: commit, before, fileMaxBytes })
  const [grown] = found.grown
  if (grown !== undefined)
    refuse('too-large', `${quote(grown)} cannot be part of a change: it is too large`, { path: grown })
  if (found.tree === (live.taken ?? live.base.tree)) return { change: null, remarks: [] }
  if (live.open !== null && (await openChange(live)) === null) await standOnLanded(live)
  const own = await ownWork(live, found.tree)
  const title = titleOf(words.title, 'Work of an agent')
  const turn = await stageTurn(live, { tree: own, title, body: words.body })
  live.taken = found.tree
  return turn
}

/** The change has landed: what comes now stands on the branch as it is, and holds nothing of it again. */
async function standOnLanded(live: Live): Promise<void> {
  live.base = await selectBase(live.work.world, {})
  live.given = live.taken
  live.open = null
}

/** What the agent did, without what it was given: merged onto the base. */
async function ownWork({ work, base, given }: Live, tree: TreeId): Promise<TreeId> {
  if (given === null) return tree
  const merge = await mergeTrees(work.store.door, { base: given, ours: base.tree, theirs: tree })
  if (merge.kind === 'clean') return merge.tree
  const paths = merge.paths.map(quote).join(', ')
  refuse(
    'conflict',
    `the agent changed lines of ${paths} that are others on the branch, or uncommitted work of yours`,
    { paths: merge.paths },
    'Its tree keeps its work. Begin a new session to have the branch as it is; when this one ends, what is left is kept as a commit.',
  )
}

async function stageTurn(live: Live, step: RunStep): Promise<Turn> {
  const { world, store, id: run, agent, tree } = live.work
  const { base } = live
  const inForce = await readPolicy(world, base.tree)
  const request = { run, base, inForce, agent, steps: [step], brought: tree.brought }
  const staged = await stageOrRestage(live, request)
  const remarks = [...staged.leftOut.values()]
  if (staged.logged === null) return takenBack(live, remarks)
  live.open = changeId(staged.logged.change.id)
  const checked = await checkRevision(world, store, staged.logged, inForce)
  return { change: viewChange(checked.change), remarks }
}

async function stageOrRestage(live: Live, request: Parameters<typeof stageRun>[2]) {
  const { world, store } = live.work
  if (live.open !== null) return restageRun(world, store, request, live.open)
  const { changes, leftOut } = await stageRun(world, store, request)
  return { logged: changes[0] ?? null, leftOut }
}

/** The tree is as the branch is again: nobody is to decide about what the agent itself gave up. */
async function takenBack(live: Live, remarks: readonly string[]): Promise<Turn> {
  const logged = await openChange(live)
  if (logged === null) return { change: null, remarks }
  const { id, state } = logged.change
  live.open = null
  if (state !== 'rejected') await reject(live.work.world, { id, reason: 'the agent took all of it back' })
  return { change: null, remarks: [...remarks, `the agent took all of ${id} back`] }
}

/** What stood in the way of a turn, as a sentence with its code and its hint. */
export function turnRefusal(error: unknown): string {
  const { code, message, hint } = refusalOf(error)
  return `${code}: ${message}${hint === undefined ? '' : `\n${hint}`}`
}
