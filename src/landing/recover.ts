import { basename, join } from 'node:path'
import { findRelation } from '../git/ancestry.ts'
import { type GitDoor, git } from '../git/door.ts'
import { currentHead } from '../git/head.ts'
import { refreshIndex } from '../git/index-update.ts'
import type { Repository } from '../git/open-repository.ts'
import { refValue } from '../git/ref-transaction.ts'
import { withoutFilters } from '../git/without-filters.ts'
import { asSystemRefusal } from '../model/errno.ts'
import { refuse } from '../model/error.ts'
import { commitId } from '../model/ids.ts'
import { quote } from '../policy/quote.ts'
import { type RecoveryDirection, recoveryDirection } from '../policy/recovery-decision.ts'
import { findJournal, holdsDisplaced } from '../store/find-journal.ts'
import { type LandingJournal, landDirectory, landRoot, newFile } from '../store/landing-journal.ts'
import {
  isLockFile,
  landingLockFile,
  removeNobodysLock,
  sweepLockFiles,
  tryLandingLock,
} from '../store/lock.ts'
import { refuseForeignFolder } from '../store/own-folder.ts'
import type { Clock } from '../sys/clock.ts'
import { namesIn, removeDirectoryIfEmpty, removeOwnDirectory } from '../sys/directories.ts'
import { placeObjects } from '../sys/place-objects.ts'
import { standsAt } from '../sys/plain-file.ts'
import { livenessOf } from '../sys/process-identity.ts'
import { fileExists } from '../sys/small-files.ts'
import { stageFile, stageLink } from '../sys/stage-file.ts'
import { closeLanding, lateRemarks, tidyDirectories } from './finish.ts'
import { isHeldHere } from './hold-index.ts'
import { asideDirectories } from './landing-objects.ts'
import { unlockIndex } from './locks.ts'
import { whereWorkTreeIs } from './moved-work-tree.ts'
import { foreignPlace } from './own-places.ts'
import { bringIndexForward, isIndexSwapped } from './recover-index.ts'
import { removeOwnRefLocks, removeRefreshLock } from './recover-locks.ts'
import { objectsDirectory } from './repository-facts.ts'
import { type LeftAlone, settleFiles, stepsToRestage } from './settle-files.ts'
import { removeUnjournaled } from './unjournaled.ts'

/** One landing that had been cut off. */
export interface RecoveredLanding {
  readonly id: string
  readonly label: string
  readonly ref: string
  /** `finished`: the ref had moved. `rolled-back`: it had not. */
  readonly outcome: 'finished' | 'rolled-back'
  /** Files that somebody changed meanwhile: they are as they were found. */
  readonly left: readonly LeftAlone[]
  readonly remarks: readonly string[]
}

export interface RecoveryReport {
  readonly landings: readonly RecoveredLanding[]
}

/** How long the process that moves the ref may take to notice that its master is gone. */
const ORPHAN_WAIT_MS = 10_000

/**
 * Finishes landings that were cut off after the ref had moved, and takes back those that were cut off before;
 * after it every path, index entry and lock of theirs is all new or all old.
 *
 * Costs one look at a directory when there is nothing to do. Does nothing while a living process lands, nor to a landing that the running task itself has begun. May
 * be cut off itself and run again.
 *
 * @throws GalleyError `locked`, when somebody else's git command holds a lock that is needed; `io-error`, also for a journal that
 * cannot be read or names foreign places: it is kept with all that lies beside it; `unsupported-repository`, where a part of
 * galley's folder is a link.
 */
export async function recover(
  repository: Repository,
  galleyDir: string,
  clock: Clock,
): Promise<RecoveryReport> {
  refuseForeignFolder(galleyDir)
  const names = await namesIn(galleyDir)
  if (!names.some((name) => name === 'land' || isLockFile(name))) return { landings: [] }
  if (names.includes(basename(landingLockFile(galleyDir)))) removeNobodysLock(galleyDir, clock)
  const done = await tryLandingLock(galleyDir, clock, 'recover', async () => {
    sweepLockFiles(galleyDir, names)
    const landings: RecoveredLanding[] = []
    for (const id of await namesIn(landRoot(galleyDir))) {
      const recovered = await recoverOne(repository, galleyDir, id, clock)
      if (recovered !== null) landings.push(recovered)
    }
    // So that the next look need not go inside.
    removeDirectoryIfEmpty(landRoot(galleyDir))
    return { landings }
  })
  return done ?? { landings: [] }
}

async function recoverOne(
  repository: Repository,
  galleyDir: string,
  id: string,
  clock: Clock,
): Promise<RecoveredLanding | null> {
  const directory = landDirectory(galleyDir, id)
  if (isHeldHere(directory)) return null
  // A file or a link that somebody put there is no landing; what a link leads to is not ours.
  if (standsAt(directory) !== 'directory') return null
  try {
    const found = findJournal(directory)
    if (found.kind === 'unreadable') refuseJournal(directory, found.reason)
    if (found.kind === 'none') {
      await removeUnjournaled(repository, directory, id)
      return null
    }
    const journal = await whereWorkTreeIs(repository, found.journal)
    const foreign = await foreignPlace(repository, directory, journal)
    if (foreign !== null)
      refuseJournal(directory, `it names ${quote(foreign)}, which is no place of this landing's`)
    await waitForOrphan(journal, clock)
    return await settle(repository, galleyDir, journal, clock)
  } catch (error) {
    throw asSystemRefusal(error, `the landing ${id} could not be recovered`)
  }
}

/** Nothing is moved or removed by a journal that is not understood, and nothing of what lies beside it. */
function refuseJournal(directory: string, reason: string): never {
  const file = join(directory, 'journal.json')
  refuse(
    'io-error',
    `the journal ${file} of a landing that was cut off is not used: ${reason}`,
    { file, reason },
    HINT,
  )
}

const HINT =
  'Run `galley recover` with the galley, and in the place, that began it. The files that it displaced are in `old/` beside the journal: when you need nothing of them, remove that folder.'

/** The orphaned `git update-ref` finds its input closed and gives its locks back by itself. */
async function waitForOrphan(journal: LandingJournal, clock: Clock): Promise<void> {
  const until = clock.elapsedMs() + ORPHAN_WAIT_MS
  while (livenessOf(journal.refProcess) === 'alive' && clock.elapsedMs() < until) await clock.sleep(10)
}

async function settle(
  repository: Repository,
  galleyDir: string,
  journal: LandingJournal,
  clock: Clock,
): Promise<RecoveredLanding> {
  const door: GitDoor = { ...repository.door, gitDir: journal.gitDir, workTree: journal.workTree }
  const isThere = (await fileExists(journal.gitDir)) && (await fileExists(journal.workTree))
  const isSwapped = isIndexSwapped(galleyDir, journal)
  const isForward = isThere && (isSwapped || (await refHolds(door, journal)))
  const direction = recoveryDirection(isForward)
  const isElsewhere = isForward && (await hasGoneOn(door, journal, isSwapped))
  if (isForward && !isElsewhere) await restage(repository, galleyDir, journal)
  const left = isThere && !isElsewhere ? settleFiles(journal, direction) : []
  if (isForward) await removeRefreshLock(journal, galleyDir, clock)
  await settleObjects(repository, galleyDir, journal, direction)
  if (isForward && !isElsewhere) await bringIndexForward(door, galleyDir, journal, clock)
  await removeOwnRefLocks(repository.commonDir, galleyDir, journal, clock)
  unlockIndex(journal.indexFile, journal.id)
  const remarks = isForward ? await finish(door, galleyDir, journal, isElsewhere) : []
  const moved = isThere && !isForward ? await movedRemarks(door, journal) : []
  const landDir = landDirectory(galleyDir, journal.id)
  const isNeeded =
    direction === 'forward' || left.some(({ old }) => old !== null) || (!isThere && holdsDisplaced(landDir))
  if (isNeeded) await closeLanding(galleyDir, journal, left)
  else await removeOwnDirectory(landDir)
  const { id, label, ref } = journal
  return {
    id,
    label,
    ref,
    outcome: direction === 'forward' ? 'finished' : 'rolled-back',
    left,
    remarks: [...remarks, ...moved],
  }
}

/** Commits that were made while files of the landing stood there may hold some of them: rolled back, those look changed then. */
async function movedRemarks(door: GitDoor, { ref, before }: LandingJournal): Promise<readonly string[]> {
  const now = await refValue(door, ref)
  if (now === before || now === null) return []
  const since = before === null ? '' : ` (git diff ${before.slice(0, 12)} ${now.slice(0, 12)})`
  return [
    `${ref} has moved since: what was committed in between may hold files of this landing${since}, and git shows them as changed now`,
  ]
}

/**
 * After a loss of power: writes new files aside again, from the objects, which were on the device before
 * anything moved.
 */
async function restage(repository: Repository, galleyDir: string, journal: LandingJournal): Promise<void> {
  const store: GitDoor = {
    ...repository.door,
    kind: 'store',
    gitDir: join(galleyDir, 'store.git'),
    workTree: null,
  }
  for (const { step, n } of stepsToRestage(journal)) {
    if (step.next === null) continue
    const { exitCode, stdout } = await git(store, {
      args: ['cat-file', 'blob', step.next.id],
      okCodes: [0, 128],
    })
    if (exitCode !== 0) continue
    const executable = step.next.mode === '100755'
    if (step.next.mode === '120000') stageLink(newFile(step, n), stdout)
    else
      await stageFile(newFile(step, n), stdout, { executable, permissions: null, owner: null, group: null })
  }
}

/**
 * They had their places before the ref moved. After a loss of power, or a collection that found none but the new index to hold one of
 * them, it is given again.
 */
async function settleObjects(
  repository: Repository,
  galleyDir: string,
  journal: LandingJournal,
  direction: RecoveryDirection,
): Promise<void> {
  const objectsDir = objectsDirectory(repository.commonDir)
  for (const aside of asideDirectories(objectsDir, landDirectory(galleyDir, journal.id))) {
    if (direction === 'forward' && (await fileExists(aside))) placeObjects(aside, objectsDir)
    await removeOwnDirectory(aside)
  }
}

async function finish(
  door: GitDoor,
  galleyDir: string,
  journal: LandingJournal,
  isElsewhere: boolean,
): Promise<readonly string[]> {
  if (!isElsewhere) tidyDirectories(journal)
  await refreshIndex(await withoutFilters(door))
  return lateRemarks(galleyDir, journal)
}

/**
 * Whether the user has left the place where the landing ended: on another branch nothing is missing, and once the index was in its place
 * and its lock given back, whatever the branch has got since is theirs.
 */
async function hasGoneOn(
  door: GitDoor,
  { ref, after }: LandingJournal,
  isSwapped: boolean,
): Promise<boolean> {
  if ((await currentHead(door)) !== (ref === 'HEAD' ? null : ref)) return true
  return isSwapped && (await refValue(door, ref)) !== after
}

async function refHolds(door: GitDoor, journal: LandingJournal): Promise<boolean> {
  const now = await refValue(door, journal.ref)
  return now !== null && (await findRelation(door, commitId(journal.after), commitId(now))) !== 'unrelated'
}
