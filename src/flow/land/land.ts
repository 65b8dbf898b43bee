import { isTrue } from '../../git/config.ts'
import { withIndexHeld } from '../../landing/hold-index.ts'
import { type LandRequest, landCommit } from '../../landing/land-commit.ts'
import type { HeldIndex } from '../../landing/request.ts'
import type { Landing, Revision } from '../../model/change.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { CommitId } from '../../model/ids.ts'
import { renamesOf } from '../../model/renames.ts'
import { checksHint } from '../../policy/check-hint.ts'
import type { LoggedChange } from '../../store/change-log.ts'
import { withLandingLock } from '../../store/lock.ts'
import type { Store } from '../../store/open-store.ts'
import { checkNames, checkRevision, currentRevision, recordChecks, runChecks } from '../check.ts'
import { believable } from '../exchange/foreign-change.ts'
import { takeRecorded } from '../finish-records.ts'
import { type Destination, findDestination, hasMoved } from '../follow-branch.ts'
import { loadChange, refuseLostBase } from '../logged-change.ts'
import { type PolicyInForce, readPolicy, withBasePolicy } from '../read-policy.ts'
import { finishRecorded, type Recorded, recordOrTell, rememberLanding } from '../record-landing.ts'
import { finishInterrupted } from '../recover.ts'
import { rewriterAmong, rewritersOf, rewritingJudge, stageRewritten } from '../rewritten.ts'
import type { World } from '../world.ts'
import { decide, movedReads, refuseByPolicy } from './land-facts.ts'
import { landingCommit } from './landing-commit.ts'
import { restageByMerge } from './restage.ts'
import { takenAlongBy, takenOverBy } from './taken-over.ts'

export type Landed = Recorded

export interface LandWish {
  readonly id: string
  /** What must stand at its paths, where its approval is bound to the files themselves (see `LandRequest`). */
  readonly bound?: LandRequest['bound']
  /** A branch to land on, where its own is gone. */
  readonly onto?: string
}

/**
 * Lands an approved change: re-checks it, then fast-forwards branch, index and working tree.
 *
 * Leaves the commit on the branch, the touched files and index entries at their new state, and a `landed` event. Everything
 * else of the user's is as before. On any refusal nothing of theirs has changed.
 *
 * @throws GalleyError with a code of DESIGN.md section 15: state, approval, checks, repository state or conflict.
 */
export async function land(world: World, request: LandWish): Promise<Landed> {
  const store = await world.store()
  return withLandingLock(store.galleyDir, world.clock, request.id, async () => {
    world.forgetHead()
    await finishInterrupted(world)
    // Asked for now: after the branch has moved nothing may be missing.
    await world.identity()
    const logged = await loadChange(world, store, request.id)
    const finished = takeRecorded(world, logged.change) ?? (await finishRecorded(world, store, logged))
    return finished ?? landPersistently(world, store, logged, request)
  })
}

/**
 * How often somebody may commit in the middle of one landing before it gives way; from the third try on the index is
 * locked before the branch is looked at, where nothing runs in between that takes its time.
 */
const LAND_TRIES = 8
const HOLD_FROM = 3

/** A commit of the user's that came in between is a base that moved, like one from before: decided on anew. */
async function landPersistently(
  world: World,
  store: Store,
  first: LoggedChange,
  { bound, onto }: Pick<LandWish, 'bound' | 'onto'>,
): Promise<Landed> {
  let logged = first
  for (let tries = 1; ; tries++) {
    let place: Destination | null = null
    const attempt = async (held?: HeldIndex) => {
      place = await findDestination(world, logged, onto)
      const { tip, remark } = place
      const landed = await landApproved(world, store, place.logged, { tip, bound, held })
      return remark === null ? landed : { ...landed, remarks: [remark, ...landed.remarks] }
    }
    try {
      const isHeld = tries >= HOLD_FROM && (await mayBeQuick(world, logged))
      return isHeld ? await landHeld(placeOf(world, store, logged), attempt) : await attempt()
    } catch (error) {
      const mayTryAgain = error instanceof GalleyError && error.code === 'branch-moved' && tries < LAND_TRIES
      if (!mayTryAgain) throw error
      if (!(await hasMoved(world, place))) throw error
      logged = await loadChange(world, store, logged.change.id)
    }
  }
}

/** Something in the user's way has to be let go of before a command of somebody's is run. */
class TakesTime extends Error {}

/** With the index locked, as long as that takes a moment only: where commands are to run, all is begun anew without the lock. */
async function landHeld(
  place: Parameters<typeof withIndexHeld>[0],
  attempt: (held?: HeldIndex) => Promise<Landed>,
): Promise<Landed> {
  try {
    return await withIndexHeld(place, attempt)
  } catch (error) {
    if (!(error instanceof TakesTime)) throw error
    return attempt()
  }
}

/** @throws TakesTime, where the index is held. */
const beforeCommands = ({ held }: Pick<LandingStep, 'held'>) => {
  if (held !== undefined) throw new TakesTime('a command is to run')
}

/** Checks and signatures take as long as they like; whether there are new ones to run is found out on the way. */
const mayBeQuick = async (world: World, { change }: LoggedChange): Promise<boolean> =>
  world.repository.workTree !== null &&
  change.checks.length === 0 &&
  !isTrue((await world.config()).get('commit.gpgsign'))

const placeOf = (world: World, store: Store, { change }: LoggedChange) => ({
  repository: world.repository,
  galleyDir: store.galleyDir,
  label: change.id,
  clock: world.clock,
})

interface LandingStep {
  readonly tip: CommitId | null
  readonly bound: LandWish['bound']
  readonly held: HeldIndex | undefined
}

async function landApproved(
  world: World,
  store: Store,
  found: LoggedChange,
  step: LandingStep,
): Promise<Landed> {
  const { tip, bound, held } = step
  await refuseUnlandedBase(world, store, found)
  await refuseLostBase(world, store, found)
  const inForce = await readPolicy(world, tip === null ? null : await (await world.reader()).commitTree(tip))
  await refuseByPolicy(world, inForce, found, tip)
  const logged = await believable(world, store, found, inForce, () => beforeCommands(step))
  const revision = currentRevision(logged)
  const reads = await movedReads(world, revision)
  const decision = await decide(world, store, logged, inForce, tip, reads)
  switch (decision.kind) {
    case 'refused':
      throw new GalleyError({ ...decision.refusal, data: { id: logged.change.id, ...decision.refusal.data } })
    case 'merge':
      beforeCommands(step)
      return restageByMerge(world, store, logged, { inForce, tip, moved: decision.movedPaths })
    case 'fast-forward':
    case 're-parent': {
      const after = await landingCommit(world, store, revision, tip)
      const remarks = [
        ...(decision.kind === 're-parent' ? [reparented(revision)] : []),
        ...reads.map((path) => `${path}, which the agent relied on, has changed since`),
      ]
      const ready = await checkAsItLands(world, store, logged, {
        tip: inForce,
        before: tip,
        after,
        again: reads.length > 0,
        held,
      })
      const landed = await landCommitOf(world, store, ready, { before: tip, after, bound, held })
      return { ...landed, remarks: [...remarks, ...landed.remarks] }
    }
  }
}

const reparented = (revision: Revision): string =>
  `the branch had moved on from ${revision.base?.slice(0, 7) ?? 'nothing'}, in none of these files; the same bytes landed on its new tip`

async function landCommitOf(
  world: World,
  store: Store,
  logged: LoggedChange,
  step: {
    readonly before: CommitId | null
    readonly after: CommitId
    readonly bound: LandWish['bound']
    readonly held: HeldIndex | undefined
  },
): Promise<Landed> {
  const { change } = logged
  const revision = currentRevision(logged)
  await rememberLanding(store, logged, step.after)
  const report = await landCommit({
    ...placeOf(world, store, logged),
    store: store.door,
    reader: await world.reader(),
    ref: change.onto,
    before: step.before,
    after: step.after,
    manifest: revision.manifest,
    working: workingOf(revision),
    renames: renamesOf([revision]),
    along: takenAlongBy(logged),
    takenOver: takenOverBy(logged),
    ...(step.bound === undefined ? {} : { bound: step.bound }),
    ...(step.held === undefined ? {} : { held: step.held }),
    reason: `galley: land ${change.id}`,
  })
  const landing: Landing = { ref: change.onto, before: step.before, after: step.after }
  const recorded = await recordOrTell(world, store, logged, landing)
  return { ...recorded, remarks: [...report.remarks, ...recorded.remarks] }
}

const workingOf = (revision: Revision) =>
  new Map(revision.files.flatMap((f) => (f.working === undefined ? [] : [[f.path, f.working] as const])))

/**
 * The change stands in its scratch tree at the very commit that lands. Results bound to that commit are good; a commit
 * that was re-parented or signed is checked again, unless the policy's `recheck` is `touched`: no file of the change has moved then,
 * nor what its agent has read.
 *
 * @throws GalleyError `checks-failed`, `check-missing`.
 */
async function checkAsItLands(
  world: World,
  store: Store,
  logged: LoggedChange,
  request: {
    readonly tip: PolicyInForce
    readonly before: CommitId | null
    readonly after: CommitId
    readonly again: boolean
    readonly held: LandingStep['held']
  },
): Promise<LoggedChange> {
  const revision = currentRevision(logged)
  const inForce = await withBasePolicy(world, request.tip, revision.base)
  const { policy } = inForce
  const wanted = await checkNames(world, policy, revision)
  const counting = policy.recheck === 'touched' ? [request.after, revision.commit] : [request.after]
  const has = (name: string) =>
    logged.change.checks.some((c) => counting.includes(c.commit) && c.name === name)
  // What ran before counts although nothing asks for it now.
  const names = [...wanted, ...logged.change.checks.map((check) => check.name)]
  const isChecked = !request.again && names.every(has)
  if (!isChecked) beforeCommands(request)
  const facts = { change: logged.change, revision, inForce, base: request.before }
  // On another tip there may be other things to rewrite; on its own commit, what rewrote it before has had its turn.
  const rewriters = request.after === revision.commit ? rewritersOf(logged.change) : []
  const judge = rewritingJudge(world, store, { ...facts, rewriters })
  const place = { commit: request.after, judge }
  const runs = isChecked ? [] : await runChecks(world, store, logged, policy, place)
  const found = { commit: request.after, runs }
  const checked = isChecked ? logged : await recordChecks(world, store, logged, found)
  const rewriter = rewriterAmong(runs)
  if (rewriter !== null) return refuseRewritten(world, store, checked, { ...rewriter, ...facts, rewriters })
  const bad = checked.change.checks.find(
    (c) => c.commit === request.after && c.required && c.outcome !== 'passed',
  )
  if (bad === undefined) return checked
  const code = bad.outcome === 'missing' ? 'check-missing' : 'checks-failed'
  const message = `the check ${bad.name} ${bad.outcome} on ${request.after.slice(0, 12)}: ${bad.summary}`
  refuse(code, message, { id: logged.change.id, check: bad }, checksHint([bad]))
}

/** What a check made of the files on the branch's tip is a new revision, and the approval was for other bytes. */
async function refuseRewritten(
  world: World,
  store: Store,
  logged: LoggedChange,
  request: Parameters<typeof stageRewritten>[3] & { readonly rewriters: readonly string[] },
): Promise<never> {
  const staged = await stageRewritten(world, store, logged, request)
  const { change } = await checkRevision(world, store, staged, request.inForce, [
    ...request.rewriters,
    request.name,
  ])
  const { id } = change
  const revision = change.revisions.length
  const message = `${request.name} rewrote files of ${id}; that is staged as revision ${revision}, which needs an approval of its own`
  const hint = `See the difference with \`galley diff ${id}\`, then approve and land again.`
  refuse('not-approved', message, { id, revision, paths: request.rewriting.paths }, hint)
}

/** A change stacked on a pending one lands after it. */
async function refuseUnlandedBase(world: World, store: Store, logged: LoggedChange): Promise<void> {
  const { stackedOn, id } = logged.change
  if (stackedOn === null) return
  const below = await loadChange(world, store, stackedOn)
  if (below.change.state === 'landed') return
  refuse(
    'wrong-state',
    `${id} stacks on ${stackedOn}, which is ${below.change.state}`,
    { id, stackedOn, state: below.change.state },
    `Land ${stackedOn} first.`,
  )
}
