import { type NewObjects, promoteObjects } from '../git/promote.ts'
import { prepareRefMove, startRefTransaction } from '../git/ref-transaction.ts'
import { refuse } from '../model/error.ts'
import { hookEnvironment } from './hook-environment.ts'
import { objectsDirectory, type RepositoryFacts, repositoryFacts } from './repository-facts.ts'
import type { LandReport, LandRequest } from './request.ts'

/** Copies the commit's objects into the user's object store. */
export async function promote(
  request: LandRequest,
  facts: RepositoryFacts,
  objects: NewObjects,
): Promise<void> {
  const { repository, store } = request
  await promoteObjects({
    store,
    user: repository.door,
    objectsDir: objectsDirectory(repository.commonDir),
    sharedRepository: facts.config.get('core.sharedrepository') ?? null,
    ids: objects.ids,
  })
}

/** Lands on a branch that is checked out nowhere, or in a bare repository: nothing but the ref moves. */
export async function moveRefOnly(
  request: LandRequest,
  facts: RepositoryFacts,
  objects: NewObjects,
): Promise<LandReport> {
  const { repository, ref } = request
  await promote(request, facts, objects)
  const begun = performance.now()
  const started = startRefTransaction(repository.door, request.reason, hookEnvironment(repository.env))
  const move = await prepareRefMove(repository.door, request, started)
  try {
    const again = await repositoryFacts(request, Promise.resolve(facts.config))
    if (again.workTree !== null) refuse('branch-moved', `${ref} was checked out in the meantime`, { ref })
  } catch (error) {
    await move.abort()
    throw error
  }
  await move.commit()
  return { remarks: [], backups: [], locksHeldMs: performance.now() - begun }
}
