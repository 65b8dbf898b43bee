import { join } from 'node:path'
import { landDirectory, landRoot, readJournal } from '../store/landing-journal.ts'
import { makePrivateDirectory, removeDirectoryIfEmpty } from '../sys/durable-files.ts'
import { holdingSignals } from '../sys/hold-signals.ts'
import { resolveFile } from '../sys/index-snapshot.ts'
import { lockIndex } from './locks.ts'
import type { HeldIndex, LandRequest } from './request.ts'
import { noteTraces, removeUnjournaled } from './unjournaled.ts'

/** Of one landing: the folder that it works in is named after it. */
export const newLandingId = ({ label, clock }: Pick<LandRequest, 'label' | 'clock'>): string =>
  `${label.replaceAll(/[^\w.-]/g, '_')}-${Buffer.from(clock.random(6)).toString('hex')}`

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
  const id = newLandingId(request)
  const landDir = landDirectory(request.galleyDir, id)
  const indexFile = resolveFile(join(request.repository.gitDir, 'index'))
  await makePrivateDirectory(landDir)
  try {
    await noteTraces(landDir, { indexFile, stages: [] })
    return await holdingSignals(async () => {
      await lockIndex(indexFile, landDir, id, request.clock)
      return task({ id, indexFile })
    })
  } finally {
    // A landing that could not be taken back at once keeps its journal, and the lock until it is recovered.
    if ((await readJournal(landDir)) === null) await removeUnjournaled(landDir, id)
    removeDirectoryIfEmpty(landRoot(request.galleyDir))
  }
}
