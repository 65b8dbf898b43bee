import { join } from 'node:path'
import { refreshIndex } from '../git/index-update.ts'
import { type NewObjects, newObjects, promoteObjects } from '../git/promote.ts'
import { prepareRefMove, startRefTransaction } from '../git/ref-transaction.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { landDirectory } from '../store/landing-journal.ts'
import { withLandingLock } from '../store/lock.ts'
import { removeOwnDirectory } from '../sys/durable-files.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { landUnderLocks } from './critical-section.ts'
import {
  closeLanding,
  hookEnvironment,
  lateRemark,
  removeEmptyParents,
  runPostMergeHook,
  sweepDone,
} from './finish.ts'
import { makeReady, type ReadyLanding } from './make-ready.ts'
import { lateSaves, Raced } from './place-files.ts'
import { asRefusal, objectsDirectory, type RepositoryFacts, repositoryFacts } from './repository-facts.ts'
import type { LandReport, LandRequest } from './request.ts'
import type { LeftAlone } from './settle-files.ts'

export type { LandReport, LandRequest } from './request.ts'

/** How often a landing begins anew when something moved under it; from the third time on with the index locked throughout. */
const ATTEMPTS = 5
const LOCK_FIRST_FROM = 3

/**
 * Moves a branch to a commit and brings index and working tree along, touching only the paths that differ, without losing a byte of
 * the user's: all of it or nothing, also when the process is killed (see `recover`).
 *
 * Leaves, apart from what it is for: the commit's objects in the user's object store, the displaced files in galley's folder for some
 * hours, and a backup in the store where it merged beneath uncommitted work. On a refusal ref, index and files are as before.
 *
 * @throws GalleyError `in-progress`, `unmerged`, `locked`, `busy`, `branch-moved`, `checked-out-elsewhere`, `overlaps-uncommitted`,
 * `would-overwrite`, `symlink`, `filtered`, `hook-refused`, `stale`, `io-error`.
 */
export async function landCommit(request: LandRequest): Promise<LandReport> {
  return withLandingLock(request.galleyDir, request.clock, request.label, async () => {
    try {
      const facts = await repositoryFacts(request)
      const objects = newObjects(request.store, request.before, request.after)
      // It is awaited later; until then a failure must not count as unhandled.
      objects.catch(() => undefined)
      const { workTree } = facts
      return await (workTree === null
        ? moveRefOnly(request, facts, await objects)
        : land(request, { ...facts, workTree }, objects))
    } catch (error) {
      throw asRefusal(error, 'the landing failed; nothing was changed')
    }
  })
}

async function land(
  request: LandRequest,
  facts: RepositoryFacts & { readonly workTree: string },
  objects: Promise<NewObjects>,
): Promise<LandReport> {
  const indexFile = resolveFile(join(request.repository.gitDir, 'index'))
  for (let attempt = 1; ; attempt++) {
    const ready = await makeReady(request, facts, objects, attempt < LOCK_FIRST_FROM ? null : { indexFile })
    const outcome = await landUnderLocks(request, ready)
    if (outcome.kind === 'landed') {
      return finishLanding(request, ready, outcome)
    }
    await dropLanding(request, ready, outcome.left)
    if (outcome.cause instanceof Raced && attempt < ATTEMPTS) continue
    throw outcome.cause instanceof Raced ? racedRefusal(outcome.cause) : outcome.cause
  }
}

async function dropLanding(
  request: LandRequest,
  ready: ReadyLanding,
  left: readonly LeftAlone[],
): Promise<void> {
  const isNeeded = left.some(({ old }) => old !== null)
  if (isNeeded) await closeLanding(request.galleyDir, ready.journal)
  else await removeOwnDirectory(landDirectory(request.galleyDir, ready.journal.id))
}

const racedRefusal = ({ path, message }: Raced): GalleyError =>
  new GalleyError({ code: 'overlaps-uncommitted', message, data: { path } })

async function finishLanding(
  request: LandRequest,
  ready: ReadyLanding,
  outcome: { readonly locksHeldMs: number; readonly isIndexComplete: boolean },
): Promise<LandReport> {
  const { journal, plan } = ready
  removeEmptyParents(journal)
  // Kept open until the refresh has ended: a kill in the middle of it leaves an index.lock that is then known to be ours.
  if (!outcome.isIndexComplete) await refreshIndex(request.repository.door)
  const late = lateSaves(journal).map(({ path, file }) => lateRemark(path, file))
  await closeLanding(request.galleyDir, journal)
  request.reach?.('closed')
  const swept = await sweepDone(request.galleyDir, request.clock)
  const said = await runPostMergeHook(request.repository, plan.workTree)
  return {
    remarks: [...plan.remarks, ...late, ...swept, ...said],
    backups: ready.backups,
    locksHeldMs: outcome.locksHeldMs,
  }
}

/** A bare repository, or a branch that is checked out nowhere: nothing but the ref moves. */
async function moveRefOnly(
  request: LandRequest,
  facts: RepositoryFacts,
  objects: NewObjects,
): Promise<LandReport> {
  const { repository, store } = request
  await promoteObjects({
    store,
    user: repository.door,
    objectsDir: objectsDirectory(repository.commonDir),
    sharedRepository: facts.config.get('core.sharedrepository') ?? null,
    ids: objects.ids,
  })
  const begun = performance.now()
  const started = startRefTransaction(repository.door, request.reason, hookEnvironment(repository.env))
  const move = await prepareRefMove(repository.door, request, started)
  const again = await repositoryFacts(request)
  if (again.workTree !== null) {
    await move.abort()
    refuse('branch-moved', `${request.ref} was checked out in the meantime`, { ref: request.ref })
  }
  await move.commit()
  return { remarks: [], backups: [], locksHeldMs: performance.now() - begun }
}
