import { findRelation } from '../git/ancestry.ts'
import { blobIdOf } from '../git/blob-id.ts'
import { parseCommit } from '../git/commit.ts'
import { lookUpPath } from '../git/objects.ts'
import { resolveCommit, updateRefs } from '../git/refs.ts'
import { landCommit } from '../landing/land-commit.ts'
import { type CheckResult, isPending, type Landing, type Revision } from '../model/change.ts'
import { GalleyError, refuse } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { judgeTransitions } from '../policy/judge.ts'
import { decideLanding } from '../policy/land-decision.ts'
import { readApprovals } from '../store/approvals.ts'
import type { LoggedChange } from '../store/change-log.ts'
import { landingRef } from '../store/change-refs.ts'
import { withLandingLock } from '../store/lock.ts'
import type { Store } from '../store/open-store.ts'
import { removeScratch } from '../store/scratch.ts'
import { readWorkTreeFile } from '../sys/work-tree-file.ts'
import { confirmStored, loadChange, refuseLostBase } from './approve.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { currentRevision, recordChecks, runChecks } from './check.ts'
import { landingCommit } from './landing-commit.ts'
import { recordWithMarks } from './mark-undone.ts'
import { type PolicyInForce, readPolicy } from './read-policy.ts'
import { messageHash } from './record-approval.ts'
import { finishInterrupted } from './recover.ts'
import { refreshSession } from './refresh-session.ts'
import { restageByMerge } from './restage.ts'
import { judgeApprovals, withReasons } from './verify-approval.ts'
import type { World } from './world.ts'

export interface Landed {
  readonly change: ChangeView
  readonly landed: Landing
  readonly remarks: readonly string[]
}

/**
 * Lands an approved change: re-checks it, then fast-forwards branch, index and working tree.
 *
 * Leaves the commit on the branch, the touched files and index entries at their new state, and a `landed` event. Everything
 * else of the user's is as before. On any refusal nothing of theirs has changed.
 *
 * @throws GalleyError with a code of DESIGN.md section 15: state, approval, checks, repository state or conflict.
 */
export async function land(world: World, request: { readonly id: string }): Promise<Landed> {
  const store = await world.store()
  return withLandingLock(store.galleyDir, world.clock, request.id, async () => {
    await finishInterrupted(world)
    const logged = await loadChange(world, store, request.id)
    const finished = await finishRecorded(world, store, logged)
    return finished ?? landApproved(world, store, logged)
  })
}

async function landApproved(world: World, store: Store, logged: LoggedChange): Promise<Landed> {
  const { change } = logged
  const revision = currentRevision(logged)
  await refuseUnlandedBase(world, store, logged)
  await refuseLostBase(world, store, logged)
  const tip = await resolveCommit(world.repository.door, change.onto)
  const inForce = await readPolicy(world, tip === null ? null : await (await world.reader()).commitTree(tip))
  refuseByPolicy(inForce, revision)
  const decision = await decide(world, store, logged, inForce, tip)
  switch (decision.kind) {
    case 'refused':
      throw new GalleyError(decision.refusal)
    case 'merge':
      return restageByMerge(world, store, logged, tip, decision.movedPaths)
    case 'fast-forward':
    case 're-parent': {
      const after = await landingCommit(world, store, revision, tip)
      const landed = await landCommitOf(world, store, logged, inForce, { before: tip, after })
      return decision.kind === 're-parent'
        ? { ...landed, remarks: [reparented(revision), ...landed.remarks] }
        : landed
    }
  }
}

const reparented = (revision: Revision): string =>
  `the branch had moved on from ${revision.base?.slice(0, 7) ?? 'nothing'}, in none of these files; the same bytes landed on its new tip`

/** What the tip's policy denies does not land, whatever base it was proposed on. */
function refuseByPolicy({ policy }: PolicyInForce, revision: Revision): void {
  if (policy.mode === 'read-only')
    refuse('read-only', 'the policy at the tip of the branch allows reading only', { mode: policy.mode })
  const [denied] = judgeTransitions(policy, revision.manifest, () => 0)
  if (denied !== undefined) throw new GalleyError(denied)
}

/** Gathers the facts from the objects themselves and asks the pure decision. */
async function decide(
  world: World,
  store: Store,
  logged: LoggedChange,
  inForce: PolicyInForce,
  tip: CommitId | null,
) {
  const { change } = logged
  const revision = currentRevision(logged)
  // A change in another state is refused for that, whatever its objects hold.
  const recomputedDigest = isPending(change.state) ? await confirmStored(store, logged) : revision.digest
  const reader = await world.reader()
  const [records, hash] = await Promise.all([
    readApprovals(reader, logged.refs, change.id, revision.number),
    messageHash(reader, revision.commit),
  ])
  const tree = tip === null ? null : await reader.commitTree(tip)
  const judged = await judgeApprovals(world, records, inForce.policy, tree)
  const decision = decideLanding({
    id: change.id,
    state: change.state,
    revision,
    recomputedDigest,
    messageHash: hash,
    approvals: judged.approvals,
    signedTags: judged.signedTags,
    checks: change.checks,
    policy: inForce.policy,
    tip,
    movedPaths: await movedPaths(world, revision, tip),
    movedReads: await movedReads(world, revision),
    now: world.now(),
  })
  return withReasons(decision, judged.setAside)
}

/** Paths of the manifest whose entry at the tip is not the one that the change starts from. */
async function movedPaths(
  world: World,
  revision: Revision,
  tip: CommitId | null,
): Promise<readonly string[]> {
  if (tip === revision.base) return []
  const reader = await world.reader()
  const tree = tip === null ? null : await reader.commitTree(tip)
  const moved: string[] = []
  for (const t of revision.manifest) {
    const found = await lookUpPath(reader, tree, t.path)
    const entry =
      found.kind === 'file'
        ? `${found.entry.mode} ${found.entry.id}`
        : found.kind === 'absent'
          ? 'absent'
          : found.kind
    const expected = t.oldMode === '000000' ? 'absent' : `${t.oldMode} ${t.oldBlob}`
    if (entry !== expected) moved.push(t.path)
  }
  return moved
}

/** Files that the agent relied on and that are no longer as it saw them, by the bytes in the work tree. */
async function movedReads(world: World, revision: Revision): Promise<readonly string[]> {
  const root = world.repository.workTree
  if (root === null) return []
  const moved: string[] = []
  for (const { path, blob } of revision.reads) {
    const file = await readWorkTreeFile(root, path, limits.fileMaxBytes)
    const now = file.kind === 'file' ? await blobIdOf(file.bytes, world.repository.objectFormat) : null
    if (now !== blob) moved.push(path)
  }
  return moved
}

async function landCommitOf(
  world: World,
  store: Store,
  logged: LoggedChange,
  inForce: PolicyInForce,
  step: { readonly before: CommitId | null; readonly after: CommitId },
): Promise<Landed> {
  const { change } = logged
  const revision = currentRevision(logged)
  const { checked, results } = await recheck(world, store, logged, inForce, step.after)
  const failed = results.find((c) => c.required && c.outcome !== 'passed')
  if (failed !== undefined) {
    refuse(
      'checks-failed',
      `the check ${failed.name} ${failed.outcome} on ${step.after.slice(0, 12)}: ${failed.summary}`,
      { check: failed },
    )
  }
  await rememberLanding(store, logged, step.after)
  const report = await landCommit({
    repository: world.repository,
    store: store.door,
    galleyDir: store.galleyDir,
    label: change.id,
    ref: change.onto,
    before: step.before,
    after: step.after,
    manifest: revision.manifest,
    working: new Map(
      revision.files.flatMap((f) => (f.working === undefined ? [] : [[f.path, f.working] as const])),
    ),
    reason: `galley: land ${change.id}`,
    clock: world.clock,
  })
  const landing: Landing = { ref: change.onto, before: step.before, after: step.after }
  return { ...(await recordLanding(world, store, checked, landing)), remarks: report.remarks }
}

/**
 * The change stands in its scratch tree at the very commit that lands. Results bound to that commit are good; a commit
 * that was re-parented is checked again.
 */
async function recheck(
  world: World,
  store: Store,
  logged: LoggedChange,
  inForce: PolicyInForce,
  after: CommitId,
) {
  const known = logged.change.checks.filter((c) => c.commit === after)
  const wanted = inForce.policy.checks.length
  if (after === currentRevision(logged).commit && known.length >= wanted)
    return { checked: logged, results: known }
  const runs = await runChecks(world, store, logged, inForce.policy, after)
  const results: readonly CheckResult[] = runs.map((r) => r.result)
  return { checked: runs.length === 0 ? logged : await recordChecks(world, store, logged, runs), results }
}

/** Says which commit is about to land, so that a kill between the landing and its log event can be told. */
async function rememberLanding(store: Store, logged: LoggedChange, after: CommitId): Promise<void> {
  const { id } = logged.change
  if (logged.refs.landing === after) return
  const update = { ref: landingRef(id), expected: logged.refs.landing, next: after }
  if (await updateRefs(store.door, [update], 'galley: landing')) return
  refuse('busy', `another process is landing ${id}`, { id })
}

/** A landing that was killed after the branch moved is in the branch already: only its event is missing. */
async function finishRecorded(world: World, store: Store, logged: LoggedChange): Promise<Landed | null> {
  const { change } = logged
  if (change.state !== 'approved') return null
  const after = logged.refs.landing
  if (after === null) return null
  const tip = await resolveCommit(world.repository.door, change.onto)
  if (tip === null || (await findRelation(store.door, after, tip)) === 'unrelated') return null
  const { parents } = await parseCommit(await world.reader(), after)
  const landing: Landing = { ref: change.onto, before: parents[0] ?? null, after }
  return {
    ...(await recordLanding(world, store, logged, landing)),
    remarks: ['the landing had been interrupted after the branch moved'],
  }
}

async function recordLanding(
  world: World,
  store: Store,
  logged: LoggedChange,
  landing: Landing,
): Promise<{ readonly change: ChangeView; readonly landed: Landing }> {
  const identity = await world.identity()
  const by = `${identity.name} <${identity.email}>`
  const event = {
    kind: 'landed',
    at: world.now(),
    by,
    revision: currentRevision(logged).number,
    landing,
  } as const
  const done = await recordWithMarks(world, store, logged, event, identity)
  await refreshSession(world, store, done.change)
  await removeScratch(world.repository, store, done.change.id)
  world.log.note('landed', { change: done.change.id, ref: landing.ref, after: landing.after })
  return { change: viewChange(done.change), landed: landing }
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
