import { findRelation } from '../../git/ancestry.ts'
import { parseCommit } from '../../git/commit.ts'
import { newestFirst } from '../../git/commit-chain.ts'
import { resolveCommit } from '../../git/refs.ts'
import { readShallow } from '../../git/shallow.ts'
import type { Change, Landing } from '../../model/change.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import { type ChangeId, type CommitId, isChangeId, type RefName } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { takesBack, type UndoWish, undoRefusal } from '../../policy/undo-decision.ts'
import { findChange, listChanges, peekChange, readChange, readChanges } from '../../store/change-log.ts'
import type { Store } from '../../store/open-store.ts'
import { changeOfCommit } from '../mark-undone.ts'
import type { World } from '../world.ts'
import { findElsewhere } from './undo-elsewhere.ts'

/** One commit to take back (or, by a redo, to apply again), as one three-way merge. */
export interface UndoStep {
  readonly commit: CommitId
  /** What the commit is compared with. */
  readonly parent: CommitId
  readonly direction: 'back' | 'again'
  /** What made the lines as this step expects them: whoever changed them after this commit stands in the way. */
  readonly since: { readonly commit: CommitId; readonly parent: CommitId }
  readonly title: string
  /** The change that the commit landed; null for a commit that is not galley's. */
  readonly id: ChangeId | null
  /** The same, where it has been read. */
  readonly change: Change | null
  readonly isMerge: boolean
  readonly takesBack: boolean
  readonly isLater: boolean
}

export interface UndoPlan {
  readonly onto: RefName
  readonly tip: CommitId
  /** Newest first. */
  readonly steps: readonly UndoStep[]
  readonly session: string | null
  /** `galley redo` asked for it, which takes no part of anything. */
  readonly isRedo: boolean
}

/** A plan, and whether what it takes back is in the branch at all: that takes as long as the merge, and runs beside it. */
export interface QuickPlan {
  readonly plan: UndoPlan
  readonly isInHistory: Promise<boolean>
  /** The plan where `isInHistory` turned out false. */
  readonly elsewhere: () => Promise<UndoPlan>
}

/**
 * Finds what the wish names, and the branch that it stands in.
 *
 * @throws GalleyError `unknown-change`, `ambiguous-name`, `wrong-state`, `root-commit`, `needs-mainline`, `too-large`.
 */
export async function planUndo(world: World, store: Store, wish: UndoWish): Promise<QuickPlan> {
  if (wish.session !== undefined) return settled(await planSession(world, store, wish.session))
  const text = wish.target ?? ''
  const change = await namedChange(world, store, text)
  return change === null
    ? planCommit(world, store, text, wish.mainline)
    : planChange(world, store, change, wish.mainline)
}

const settled = (plan: UndoPlan): QuickPlan => ({
  plan,
  isInHistory: Promise.resolve(true),
  elsewhere: () => Promise.resolve(plan),
})

/** A short name that is no change may still be a branch or a tag. */
async function namedChange(world: World, store: Store, text: string): Promise<Change | null> {
  if (!/^g[0-9a-z]{2,9}$/.test(text)) return null
  if (!isChangeId(text) && (await resolveCommit(world.repository.door, text)) !== null) return null
  const id = await findChange(store, text)
  const reader = await world.reader()
  return ((await peekChange(reader, id)) ?? (await readChange(store, reader, id))).change
}

/** The plan for a change that landed: where its commit stands, or where it is found now. */
export async function planChange(
  world: World,
  store: Store,
  change: Change,
  mainline?: number,
): Promise<QuickPlan> {
  const refusal = undoRefusal(change)
  if (refusal !== null) throw new GalleyError(refusal)
  const { landing } = change
  if (landing === null) throw new Error(`BUG: ${change.id} has landed without a landing`)
  const [here, tip, parent] = await Promise.all([
    checkedOutWith(world, store, landing),
    resolveCommit(world.repository.door, landing.ref),
    parentOf(world, landing.after, mainline, landing.before),
  ])
  const step = stepOf({ commit: landing.after, parent, change, title: change.title })
  const plan = (onto: RefName, at: CommitId, one: UndoStep): UndoPlan => ({
    onto,
    tip: at,
    steps: [one],
    session: null,
    isRedo: false,
  })
  if (here !== null) return settled(plan(here.onto, here.tip, step))
  return {
    plan: plan(landing.ref, tip ?? landing.after, step),
    isInHistory: tip === null ? Promise.resolve(false) : isIn(store, landing.after, tip),
    elsewhere: async () => {
      const found = await findElsewhere(world, store, change, { ...landing, tip })
      const from = await parentOf(world, found.commit, mainline, null)
      return plan(
        found.onto,
        found.tip,
        stepOf({ commit: found.commit, parent: from, change, title: change.title }),
      )
    },
  }
}

/** The branch checked out, where it is another than the one of the landing and holds that all the same. */
async function checkedOutWith(
  world: World,
  store: Store,
  landing: Landing,
): Promise<{ readonly onto: RefName; readonly tip: CommitId } | null> {
  const { ref, tip, detached } = await world.head()
  if (detached || tip === null || ref === landing.ref) return null
  return (await isIn(store, landing.after, tip)) ? { onto: ref, tip } : null
}

async function planCommit(
  world: World,
  store: Store,
  text: string,
  mainline: number | undefined,
): Promise<QuickPlan> {
  const [commit, head] = await Promise.all([resolveCommit(world.repository.door, text), world.head()])
  if (commit === null) {
    const named = JSON.stringify(text.slice(0, 60))
    refuse('unknown-change', `${named} is neither a change nor a commit`, { target: text.slice(0, 60) })
  }
  if (head.tip === null)
    refuse('unknown-change', 'the branch has no commit, so that there is nothing to undo', {})
  const { message, parents } = await parseCommit(await world.reader(), commit)
  const [parent, change] = await Promise.all([
    parentOf(world, commit, mainline, null),
    changeOfCommit(world, store, commit),
  ])
  const title = message.split('\n', 1)[0]?.trim() || commit.slice(0, 12)
  const landed = change?.landing?.after === commit ? change : null
  const isMerge = parents.length > 1
  const step = stepOf({ commit, parent, change: landed, title: landed?.title ?? title, isMerge })
  return {
    plan: { onto: head.ref, tip: head.tip, steps: [step], session: null, isRedo: false },
    isInHistory: isIn(store, commit, head.tip),
    elsewhere: () => refuse('wrong-state', `${commit} is not in the history of ${head.ref}`, { commit }),
  }
}

const isIn = async (store: Store, commit: CommitId, tip: CommitId): Promise<boolean> =>
  (await findRelation(store.door, commit, tip)) !== 'unrelated'

export function stepOf(facts: {
  readonly commit: CommitId
  readonly parent: CommitId
  readonly change: Change | null
  readonly title: string
  readonly isMerge?: boolean
}): UndoStep {
  const { commit, parent, change, title } = facts
  return {
    commit,
    parent,
    direction: 'back',
    since: { commit, parent },
    title,
    id: change?.id ?? null,
    change,
    isMerge: facts.isMerge === true,
    takesBack: change !== null && takesBack(change),
    isLater: false,
  }
}

/**
 * What a commit is undone to: its parent; the one that `mainline` names; what its change began with, where that landed as several commits.
 *
 * @throws GalleyError `root-commit`, `needs-mainline`.
 */
export async function parentOf(
  world: World,
  commit: CommitId,
  mainline: number | undefined,
  before: CommitId | null,
): Promise<CommitId> {
  const { parents } = await parseCommit(await world.reader(), commit)
  const shallow = await readShallow(world.repository)
  const [only, another] = parents
  if (only === undefined || shallow.has(commit)) {
    refuse('root-commit', `${commit} has no parent here: undoing it would delete every file`, { commit })
  }
  if (another === undefined && mainline === undefined) {
    if (before === null || before === only) return only
    return (await findRelation((await world.store()).door, before, commit)) === 'unrelated' ? only : before
  }
  const chosen = parents[(mainline ?? 0) - 1]
  if (chosen === undefined) {
    const count = `${commit} has ${parents.length} parent${another === undefined ? '' : 's'}`
    const what =
      mainline === undefined ? 'which one to go back to is not said' : `none has the number ${mainline}`
    const ways = parents.map((_, i) => `\`galley undo ${commit.slice(0, 12)} -m ${i + 1}\``).join(' or ')
    refuse('needs-mainline', `${count}; ${what}`, { commit, parents }, `Say it: ${ways}.`)
  }
  return chosen
}

/** Everything that a session landed and that stands in the branch checked out, or else in the only branch where it landed. */
async function planSession(world: World, store: Store, session: string): Promise<UndoPlan> {
  const reader = await world.reader()
  const ids = new Set(
    (await listChanges(store))
      .filter((c) => c.session === session && c.state === 'landed')
      .map((c) => c.id as string),
  )
  if (ids.size > limits.undoMaxCommits) {
    const message = `the session ${JSON.stringify(session.slice(0, 60))} landed ${ids.size} changes; at most ${limits.undoMaxCommits} are undone together`
    refuse(
      'too-large',
      message,
      { count: ids.size, limit: limits.undoMaxCommits },
      'Undo some of them by id first.',
    )
  }
  const changes = await readChanges(store, reader, ids)
  const standing = changes.filter((c) => undoRefusal(c) === null && c.agent?.session === session)
  const steps = await stepsOf(world, standing)
  const head = await world.head()
  const isBranch = !head.detached || standing.some((c) => c.landing?.ref === head.ref)
  const here = head.tip === null || !isBranch ? [] : await stepsIn(store, steps, head.tip)
  if (head.tip !== null && here.length > 0)
    return { onto: head.ref, tip: head.tip, steps: here, session, isRedo: false }
  const onto = branchOf(standing, session)
  const tip = await resolveCommit(world.repository.door, onto)
  if (tip === null)
    refuse('unknown-change', `${onto} has no commit, so that there is nothing to undo`, { onto })
  const there = await stepsIn(store, steps, tip)
  if (there.length === 0) {
    refuse('wrong-state', `nothing that the session landed is in the history of ${onto}`, { session, onto })
  }
  return { onto, tip, steps: there, session, isRedo: false }
}

/** Those that are in the branch, newest first: what is not in it any more is not taken back from it. */
async function stepsIn(
  store: Store,
  steps: readonly UndoStep[],
  tip: CommitId,
): Promise<readonly UndoStep[]> {
  const commits = steps.map((s) => s.commit)
  const order = await newestFirst(store.door, commits, { tip, hint: oldestParent(steps) })
  return order.flatMap((commit) => steps.filter((s) => s.commit === commit))
}

async function stepsOf(world: World, changes: readonly Change[]): Promise<readonly UndoStep[]> {
  const steps = new Map<CommitId, UndoStep>()
  for (const change of changes) {
    const { landing } = change
    if (landing === null) continue
    const parent = await parentOf(world, landing.after, undefined, landing.before)
    steps.set(landing.after, stepOf({ commit: landing.after, parent, change, title: change.title }))
  }
  return [...steps.values()]
}

/** The only branch where the session landed. */
function branchOf(changes: readonly Change[], session: string): RefName {
  const refs = new Set(changes.flatMap((c) => c.landing?.ref ?? []))
  const [only, another] = refs
  const name = JSON.stringify(session.slice(0, 60))
  if (only === undefined)
    refuse('unknown-change', `nothing that the session ${name} landed stands`, { session })
  if (another === undefined) return only
  refuse(
    'ambiguous-name',
    `the session ${name} landed on ${refs.size} branches, none of which is checked out`,
    { session, branches: [...refs] },
    'Check one of them out, then repeat.',
  )
}

/** The parent of the step that landed first; only a guess, which the caller can do without. */
function oldestParent(steps: readonly UndoStep[]): CommitId | null {
  const landedAt = (step: UndoStep): string => step.change?.log.find((e) => e.kind === 'landed')?.at ?? ''
  const [oldest] = [...steps].sort((a, b) => (landedAt(a) < landedAt(b) ? -1 : 1))
  return oldest?.parent ?? null
}
