import { join } from 'node:path'
import { type NewObjects, type ObjectsAside, seeingAside } from '../git/promote.ts'
import { prepareRefMove, startRefTransaction } from '../git/ref-transaction.ts'
import { refuse } from '../model/error.ts'
import type { Conversation } from '../sys/conversation.ts'
import { makePrivateDirectory, removeOwnDirectory } from '../sys/directories.ts'
import { placeObjects } from '../sys/place-objects.ts'
import { hookEnvironment } from './hook-environment.ts'
import { chooseAside, stageLandingObjects } from './landing-objects.ts'
import { removeRefLocks } from './recover-locks.ts'
import { objectsDirectory, type RepositoryFacts, repositoryFacts } from './repository-facts.ts'
import type { LandReport, LandRequest } from './request.ts'

/** Lands on a branch that is checked out nowhere, or in a bare repository: nothing but the ref moves. */
export async function moveRefOnly(
  request: LandRequest,
  facts: RepositoryFacts,
  objects: NewObjects,
): Promise<LandReport> {
  const { galleyDir, clock } = request
  const name = `objects-${clock.now()}-${Buffer.from(clock.random(8)).toString('hex')}`
  const scratch = join(galleyDir, 'tmp', name)
  await makePrivateDirectory(scratch)
  const aside = chooseAside(objectsDirectory(request.repository.commonDir), scratch)
  try {
    await makePrivateDirectory(aside.directory)
    await stageLandingObjects(request, facts, objects, aside)
    return await moveRefWith(request, facts, aside)
  } finally {
    await removeOwnDirectory(aside.directory)
    await removeOwnDirectory(scratch)
  }
}

async function moveRefWith(
  request: LandRequest,
  facts: RepositoryFacts,
  aside: ObjectsAside,
): Promise<LandReport> {
  const { repository, ref } = request
  const begun = performance.now()
  const env = { ...hookEnvironment(repository.env), ...seeingAside(aside) }
  const startedAt = request.clock.now()
  const started = startRefTransaction(repository.door, request.reason, env)
  try {
    return await moveWhenPrepared(request, facts, aside, started, begun)
  } catch (error) {
    // A git that was killed leaves its locks; after one that ended by itself, those that are there are others'.
    if ((await started.end()) === null) {
      const { gitDir, workTree, commonDir } = repository
      const killed = { ref, after: request.after, gitDir, workTree: workTree ?? gitDir, startedAt }
      await removeRefLocks(commonDir, killed, [], request.clock)
    }
    throw error
  }
}

async function moveWhenPrepared(
  request: LandRequest,
  facts: RepositoryFacts,
  aside: ObjectsAside,
  started: Conversation,
  begun: number,
): Promise<LandReport> {
  const { repository, ref } = request
  const move = await prepareRefMove(repository.door, request, started)
  try {
    const again = await repositoryFacts(request, Promise.resolve(facts.config))
    if (again.workTree !== null) refuse('branch-moved', `${ref} was checked out in the meantime`, { ref })
    placeObjects(aside.directory, aside.objectsDir)
  } catch (error) {
    await move.abort()
    throw error
  }
  await move.commit()
  return { remarks: [], backups: [], locksHeldMs: performance.now() - begun }
}
