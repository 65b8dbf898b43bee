import { join } from 'node:path'
import { invariant } from '../model/error.ts'
import { findJournal } from '../store/find-journal.ts'
import { landDirectory, landingId, landRoot } from '../store/landing-journal.ts'
import { holdsLandingLock } from '../store/lock.ts'
import { makePrivateDirectory, removeDirectoryIfEmpty } from '../sys/directories.ts'
import { holdingSignals } from '../sys/hold-signals.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { lockIndex } from './locks.ts'
import type { HeldIndex, LandRequest } from './request.ts'
import { noteTraces, removeUnjournaled } from './unjournaled.ts'

/** Of one landing: the folder that it works in is named after it. */
export const newLandingId = ({ label, clock }: Pick<LandRequest, 'label' | 'clock'>): string =>
  landingId(label, clock.random(6))

/** Folders of landings that hold an index for a task of this process: nobody recovers them meanwhile. */
const heldHere = new Set<string>()

/** Whether a landing's folder belongs to a running `withIndexHeld` of this process. */
export const isHeldHere = (landDir: string): boolean => heldHere.has(landDir)

/**
 * Runs a short task while the index is locked, so that nobody commits in this work tree between looking at the branch and
 * landing on it; the landing takes the lock over. Only while the landing lock is held.
 *
 * Leaves nothing; what a kill leaves is recovered like a landing that had no journal yet.
 *
 * @throws GalleyError `locked`.
 */
export async function withIndexHeld<T>(
  request: Pick<LandRequest, 'repository' | 'galleyDir' | 'label' | 'clock'>,
  task: (held: HeldIndex) => Promise<T>,
): Promise<T> {
  invariant(holdsLandingLock(request.galleyDir), 'an index is held for a landing that has the landing lock')
  const id = newLandingId(request)
  const landDir = landDirectory(request.galleyDir, id)
  const indexFile = resolveFile(join(request.repository.gitDir, 'index'))
  heldHere.add(landDir)
  try {
    await makePrivateDirectory(landDir)
    await noteTraces(landDir, { indexFile, stages: [] })
    return await holdingSignals(async (obeySignals) => {
      await lockIndex(indexFile, landDir, id, request.clock)
      return task({ id, indexFile, obeySignals })
    })
  } finally {
    heldHere.delete(landDir)
    // A landing that could not be taken back at once keeps its journal, and the lock until it is recovered.
    if (findJournal(landDir).kind === 'none') await removeUnjournaled(request.repository, landDir, id)
    removeDirectoryIfEmpty(landRoot(request.galleyDir))
  }
}
