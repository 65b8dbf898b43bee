import { currentHead } from '../git/head.ts'
import { type PreparedRefMove, prepareRefMove, refValue } from '../git/ref-transaction.ts'
import { GalleyError, refuse } from '../model/error.ts'
import type { LandingJournal } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import type { Conversation } from '../sys/conversation.ts'
import { lookAt } from '../sys/file-key.ts'
import { identityOfFile } from '../sys/index-snapshot.ts'
import { replaceFile } from '../sys/lock-file.ts'
import { placeObjects } from '../sys/place-objects.ts'
import { completeImage, imageFile } from './index-image.ts'
import { lockIndex, unlockIndex } from './locks.ts'
import type { ReadyLanding } from './make-ready.ts'
import { checkDisplaced, matches, placeFiles, Raced, validateFiles } from './place-files.ts'
import { noteRefLocks, removeOwnRefLocks } from './recover-locks.ts'
import { refuseInProgress } from './repository-facts.ts'
import type { LandingPoint, LandRequest } from './request.ts'
import { type LeftAlone, settleFiles } from './settle-files.ts'

/** What the part of a landing with the locks held has come to, once the ref has moved. */
export interface LandedUnderLocks {
  readonly locksHeldMs: number
  /** Whether the index says of every placed file what the system says of it. */
  readonly isIndexComplete: boolean
}

export type CriticalOutcome =
  | ({ readonly kind: 'landed' } & LandedUnderLocks)
  /** Nothing has moved; `left` names files that somebody else changed in between. */
  | { readonly kind: 'called-off'; readonly cause: unknown; readonly left: readonly LeftAlone[] }

/**
 * The part of a landing during which git's locks are held: looks again, moves files, and moves the ref as the
 * last thing. Either all of it is done or none.
 */
export async function landUnderLocks(request: LandRequest, ready: ReadyLanding): Promise<CriticalOutcome> {
  const { journal } = ready
  const reach = request.reach ?? (() => undefined)
  const begun = performance.now()
  let move: PreparedRefMove | null = null
  let isIndexComplete = true
  let isPlacing = false
  try {
    if (!ready.isIndexLocked) await lockIndex(journal.indexFile, ready.landDir, journal.id, request.clock)
    reach('index-locked')
    if (identityOfFile(journal.indexFile) !== journal.indexBasis)
      throw new Raced('the index', 'changed while the change was landing')
    await refuseInProgress(journal.gitDir)
    move = await prepareRefMove(request.repository.door, request, ready.refProcess)
    noteRefLocks(request.repository.commonDir, ready.landDir, journal)
    reach('ref-prepared')
    await expectHead(request)
    validateFiles(journal, ready.standings)
    reach('validated')
    isPlacing = true
    placeFiles(journal, reach)
    reach('all-placed')
    checkDisplaced(journal)
    reach('checked')
    if (ready.image !== null)
      isIndexComplete = completeImage(journal, ready.image, ready.staged) && !ready.plan.needsRefresh
    reach('index-completed')
    placeObjects(ready.aside.directory, ready.aside.objectsDir)
    reach('objects-moved')
    await commitRef(request, ready, move)
  } catch (cause) {
    return await callOff(request, ready, { move, isPlacing }, cause)
  }
  reach('committed')
  swapIndex(ready, reach)
  reach('unlocked')
  return { kind: 'landed', locksHeldMs: performance.now() - begun, isIndexComplete }
}

/**
 * Takes back what was done. The ref's locks go in any case; if a file cannot be put back, the index lock and
 * the journal stay, so that nothing happens on top of a half landing before it is recovered.
 */
async function callOff(
  request: LandRequest,
  { journal, refProcess }: ReadyLanding,
  { move, isPlacing }: { readonly move: PreparedRefMove | null; readonly isPlacing: boolean },
  cause: unknown,
): Promise<CriticalOutcome> {
  try {
    const left = isPlacing ? await settleBack(journal, request.clock) : []
    unlockIndex(journal.indexFile, journal.id)
    return { kind: 'called-off', cause, left }
  } catch (second) {
    const message = `the landing failed (${textOf(cause)}) and could not be taken back at once (${textOf(second)})`
    const hint = 'Run `galley recover` when the reason is gone: the journal is kept, and so are all files.'
    throw new GalleyError(
      { code: 'io-error', message, data: { cause: textOf(cause) }, hint },
      { cause: second },
    )
  } finally {
    await move?.abort()
    await removeLocksOfDead(request, journal, refProcess)
  }
}

/** How often, and how long apart, a path is looked at again whose directories somebody swaps at that moment. */
const SETTLE_TRIES = 20
const SETTLE_WAIT_MS = 20

/** Takes the files back; where one of ours is left because it could not be reached, once more. */
async function settleBack(journal: LandingJournal, clock: Clock): Promise<readonly LeftAlone[]> {
  for (let tries = 1; ; tries++) {
    const left = settleFiles(journal, 'back')
    const isOurs = ({ path }: LeftAlone) => {
      const now = lookAt(journal.workTree, path, journal.objectFormat)
      const next = journal.files.find((step) => step.path === path)?.next ?? null
      return now.kind === 'link-above' || (next !== null && matches(now, next))
    }
    if (tries === SETTLE_TRIES || !left.some(isOurs)) return left
    await clock.sleep(SETTLE_WAIT_MS)
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function swapIndex({ journal, image, landDir }: ReadyLanding, reach: (point: LandingPoint) => void): void {
  try {
    if (image !== null) replaceFile(imageFile(landDir), journal.indexFile)
    reach('index-swapped')
    unlockIndex(journal.indexFile, journal.id)
  } catch (cause) {
    const message = `${journal.ref} has moved to ${journal.after}, but the index could not be put in place`
    const hint = 'Run `galley recover`: the journal is kept and the rest will be done.'
    throw new GalleyError(
      { code: 'io-error', message, data: { ref: journal.ref, landed: true }, hint },
      { cause },
    )
  }
}

/** The work tree must still be on the branch; HEAD's own lock is held by now, so it stays so. */
async function expectHead({ repository, ref }: LandRequest): Promise<void> {
  const head = await currentHead(repository.door)
  if (head === (ref === 'HEAD' ? null : ref)) return
  refuse('branch-moved', `HEAD is on ${head ?? 'no branch'} now, not on ${ref}`, {
    expected: ref,
    actual: head,
  })
}

/** When the process that moves the ref ends without an answer, the ref itself tells what happened. */
async function commitRef(
  request: LandRequest,
  { journal, refProcess }: ReadyLanding,
  move: PreparedRefMove,
): Promise<void> {
  try {
    await move.commit()
  } catch (cause) {
    if ((await refValue(request.repository.door, request.ref)) !== request.after) {
      const message = `git was ended before it had moved ${request.ref}`
      throw new GalleyError({ code: 'io-error', message, data: { ref: request.ref } }, { cause })
    }
    await removeLocksOfDead(request, journal, refProcess)
  }
}

/** A `git update-ref` that was killed has left its locks; after one that ended by itself, those that are there are others'. */
async function removeLocksOfDead(
  { repository, galleyDir, clock }: LandRequest,
  journal: LandingJournal,
  refProcess: Conversation,
): Promise<void> {
  const wasKilled = (await refProcess.end()) === null
  if (wasKilled) await removeOwnRefLocks(repository.commonDir, galleyDir, journal, clock)
}
