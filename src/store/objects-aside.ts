import { join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import { type ObjectReader, openObjectReader } from '../git/objects.ts'
import { randomName } from '../sys/clock.ts'
import { makePrivateDirectory } from '../sys/durable.ts'
import { writePassing } from '../sys/durable-files.ts'
import { removeTree } from '../sys/trees.ts'
import type { Store } from './open-store.ts'

/** A place for objects that nobody may need afterwards: everything of the store is seen, and what is written goes away again. */
export interface ObjectsAside {
  /** As the store's door; objects are written into the folder aside. */
  readonly door: GitDoor
  /** Sees the store's objects and those aside. */
  readonly reader: ObjectReader
}

/**
 * Runs a task that tries something out in objects, such as a merge that may conflict or that is only shown.
 *
 * Leaves nothing: the folder aside is removed at the end, whatever the end is.
 */
export async function withObjectsAside<T>(
  store: Store,
  task: (aside: ObjectsAside) => Promise<T>,
): Promise<T> {
  const directory = join(store.galleyDir, 'tmp', randomName())
  await makePrivateDirectory(join(directory, 'info'))
  // Relative to the folder itself. The store's own alternate, the user's objects, is followed from there.
  await writePassing(join(directory, 'info', 'alternates'), Buffer.from('../../store.git/objects\n'))
  const extraEnv = { ...store.door.extraEnv, GIT_OBJECT_DIRECTORY: directory }
  const door: GitDoor = { ...store.door, extraEnv }
  const reader = openObjectReader(door)
  try {
    return await task({ door, reader })
  } finally {
    await reader.close()
    await removeTree(directory)
  }
}
