import { join } from 'node:path'
import { newObjects } from '../git/promote.ts'
import { asSystemRefusal } from '../model/errno.ts'
import { GalleyError, refuse } from '../model/error.ts'
import type { Manifest } from '../model/manifest.ts'
import { isDotGit } from '../policy/paths.ts'
import { landDirectory, landRoot } from '../store/landing-journal.ts'
import { withLandingLock } from '../store/lock.ts'
import { removeDirectoryIfEmpty, removeOwnDirectory } from '../sys/directories.ts'
import { holdingSignals } from '../sys/hold-signals.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { type LandedUnderLocks, landUnderLocks } from './critical-section.ts'
import { closeLanding, finishLanding } from './finish.ts'
import { type LockFirst, type Lookups, makeReady, type ReadyLanding } from './make-ready.ts'
import { moveRefOnly } from './move-ref.ts'
import { Raced } from './place-files.ts'
import { rawVersions } from './raw-versions.ts'
import { landingConfig, type RepositoryFacts, repositoryFacts } from './repository-facts.ts'
import type { LandReport, LandRequest } from './request.ts'
import type { LeftAlone } from './settle-files.ts'

export type { LandReport, LandRequest } from './request.ts'

/**
 * How often a landing begins anew when something moved under it; from the third time on with the index locked
 * throughout.
 */
const ATTEMPTS = 5
const LOCK_FIRST_FROM = 3

/**
 * Moves a branch to a commit and brings index and working tree along, touching only the paths that differ,
 * without losing a byte of the user's: all of it or nothing, also when the process is killed (see `recover`).
 *
 * Leaves, apart from what it is for: the commit's objects in the user's object store, the displaced files in
 * galley's folder for some hours, and a backup in the store where it merged beneath uncommitted work. On a
 * refusal ref, index, files and object store are as before; objects stay there, unreferenced, only when the
 * device failed, or the process was killed, in the moment between their move and that of the ref.
 *
 * @throws GalleyError `in-progress`, `unmerged`, `locked`, `busy`, `branch-moved`, `checked-out-elsewhere`,
 * `overlaps-uncommitted`, `would-overwrite`, `symlink`, `filtered`, `hook-refused`, `stale`, `io-error`.
 */
export async function landCommit(request: LandRequest): Promise<LandReport> {
  try {
    return await withLandingLock(request.galleyDir, request.clock, request.label, () => landWithLock(request))
  } catch (error) {
    throw asSystemRefusal(error, 'the landing failed and nothing was changed')
  }
}

async function landWithLock(request: LandRequest): Promise<LandReport> {
  refuseDangerousPaths(request.manifest)
  const config = landingConfig(request)
  const lookups: Lookups = {
    objects: newObjects(request.store, request.before, request.after),
    raw: rawVersions(request, config),
  }
  // They are awaited later; until then a failure must not count as unhandled.
  const all = [config, lookups.objects, lookups.raw]
  for (const lookup of all) lookup.catch(() => undefined)
  try {
    const facts = await repositoryFacts(request, config)
    const { workTree } = facts
    if (workTree === null) {
      refuseUnwatched(request)
      return await moveRefOnly(request, facts, await lookups.objects)
    }
    return await land(request, { ...facts, workTree }, lookups)
  } finally {
    await Promise.allSettled(all)
  }
}

/** An approval bound to the files that stand in a work tree says nothing where the branch is not checked out there any more. */
function refuseUnwatched({ bound, repository, ref }: LandRequest): void {
  const [path] = bound?.keys() ?? []
  if (path === undefined || repository.workTree === null) return
  const message = `${ref} is not checked out any more, so that ${path} is not the file that was approved`
  refuse('changed-after-approval', message, { path, ref })
}

async function land(
  request: LandRequest,
  facts: RepositoryFacts & { readonly workTree: string },
  lookups: Lookups,
): Promise<LandReport> {
  const indexFile = resolveFile(join(request.repository.gitDir, 'index'))
  for (let attempt = 1; ; attempt++) {
    const lockFirst =
      attempt === 1 ? (request.held ?? null) : attempt < LOCK_FIRST_FROM ? null : { indexFile }
    const tried = await holdingSignals(() => tryLanding(request, facts, lookups, lockFirst))
    if (tried.kind === 'landed') return finishLanding(request, tried.ready, tried)
    if (tried.cause instanceof Raced && attempt < ATTEMPTS) continue
    throw tried.cause instanceof Raced ? racedRefusal(tried.cause) : tried.cause
  }
}

type Try =
  | ({ readonly kind: 'landed'; readonly ready: ReadyLanding } & LandedUnderLocks)
  /** Nothing was changed. */
  | { readonly kind: 'not-landed'; readonly cause: unknown }

async function tryLanding(
  request: LandRequest,
  facts: RepositoryFacts & { readonly workTree: string },
  lookups: Lookups,
  lockFirst: LockFirst | null,
): Promise<Try> {
  let ready: ReadyLanding
  try {
    ready = await makeReady(request, facts, lookups, lockFirst)
  } catch (cause) {
    return { kind: 'not-landed', cause }
  }
  const outcome = await landUnderLocks(request, ready)
  if (outcome.kind === 'landed') return { ...outcome, ready }
  await dropLanding(request, ready, outcome.left)
  return { kind: 'not-landed', cause: outcome.cause }
}

/** Displaced files whose place somebody else has taken are kept. */
async function dropLanding(
  request: LandRequest,
  ready: ReadyLanding,
  left: readonly LeftAlone[],
): Promise<void> {
  const isNeeded = left.some(({ old }) => old !== null)
  if (isNeeded) {
    await closeLanding(request.galleyDir, ready.journal, left)
    return
  }
  for (const stage of [...ready.extraStages, ready.aside.directory]) await removeOwnDirectory(stage)
  await removeOwnDirectory(landDirectory(request.galleyDir, ready.journal.id))
  removeDirectoryIfEmpty(landRoot(request.galleyDir))
}

const racedRefusal = ({ path, message }: Raced): GalleyError =>
  new GalleyError({ code: 'overlaps-uncommitted', message, data: { path } })

/**
 * A tree that somebody else made can hold any name; none may lead out of the work tree or into a git
 * directory, even if nobody looked at it before.
 */
function refuseDangerousPaths(manifest: Manifest): void {
  for (const { path } of manifest) {
    const bad = path.split('/').find((part) => part === '' || part === '.' || part === '..' || isDotGit(part))
    if (bad !== undefined)
      refuse('path-invalid', `${JSON.stringify(path)} is not a path to write to`, { path, segment: bad })
  }
}
