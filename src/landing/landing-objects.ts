import { basename, join } from 'node:path'
import { type NewObjects, type ObjectsAside, stageObjects } from '../git/promote.ts'
import { deviceOf } from '../sys/stage-file.ts'
import type { RepositoryFacts } from './repository-facts.ts'
import type { LandRequest } from './request.ts'

/** Writes the commit's objects aside: the user's object store gets them when nothing can refuse the landing any more. */
export async function stageLandingObjects(
  request: LandRequest,
  facts: RepositoryFacts,
  objects: NewObjects,
  aside: ObjectsAside,
): Promise<void> {
  const { repository, store } = request
  await stageObjects({
    store,
    user: repository.door,
    aside,
    sharedRepository: facts.config.get('core.sharedrepository') ?? null,
    ids: objects.ids,
  })
}

/**
 * The places where a landing's objects may wait: in its own folder, or, where the user's object store is on another
 * device, inside that, under a name that git's own collection takes for a passing one.
 */
export function asideDirectories(objectsDir: string, landDir: string): readonly [string, string] {
  return [join(landDir, 'objects'), join(objectsDir, `tmp_objdir-galley-${basename(landDir)}`)]
}

export function chooseAside(objectsDir: string, landDir: string): ObjectsAside {
  const [near, far] = asideDirectories(objectsDir, landDir)
  return { directory: deviceOf(landDir) === deviceOf(objectsDir) ? near : far, objectsDir }
}
