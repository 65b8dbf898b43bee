import { join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import { looseObject, loosePath } from '../git/loose-object.ts'
import { type ObjectReader, openObjectReader } from '../git/objects.ts'
import { type CommitId, commitId } from '../model/ids.ts'
import { randomName } from '../sys/clock.ts'
import { writeDeflated } from '../sys/deflated-file.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { moveFile } from '../sys/move-file.ts'
import { writePassing } from '../sys/small-files.ts'
import { removeTree } from '../sys/trees.ts'
import type { Store } from './open-store.ts'

/** A place for objects that nobody may need afterwards: everything of the store is seen, and what is written goes away again. */
export interface ObjectsAside {
  /** As the store's door; objects are written into the folder aside. */
  readonly door: GitDoor
  /** Sees the store's objects and those aside. A process of its own, started at first use. */
  readonly reader: ObjectReader
  /** Sees the store's objects alone, and runs already. */
  readonly stored: ObjectReader
  /** Writes a commit object aside without a process, which would take longer than the merge that needs it. */
  readonly makeCommit: (content: string) => Promise<CommitId>
  /** Moves a blob into the store; false if it does not lie aside in a file of its own. */
  readonly adopt: (blob: string) => Promise<boolean>
  /** Removes all of it, for a task that has what it wanted and goes on with something else meanwhile. */
  readonly close: () => Promise<void>
}

/**
 * Runs a task that tries something out in objects, such as a merge that may conflict or that is only shown.
 *
 * Leaves nothing: the folder aside is removed at the end, whatever the end is.
 */
export async function withObjectsAside<T>(
  store: Store,
  stored: ObjectReader,
  task: (aside: ObjectsAside) => Promise<T>,
): Promise<T> {
  const directory = join(store.galleyDir, 'tmp', randomName())
  const extraEnv = { ...store.door.extraEnv, GIT_OBJECT_DIRECTORY: directory }
  const door: GitDoor = { ...store.door, extraEnv }
  const reader = openObjectReader(door)
  let closed: Promise<void> | null = null
  const close = (): Promise<void> => {
    closed ??= reader.close().then(() => removeTree(directory))
    return closed
  }
  try {
    await makePrivateDirectory(join(directory, 'info'))
    // Relative to the folder itself. The store's own alternate, the user's objects, is followed from there.
    await writePassing(join(directory, 'info', 'alternates'), Buffer.from('../../store.git/objects\n'))
    return await task({
      door,
      reader,
      stored,
      close,
      makeCommit: (content) => writeCommit(directory, content, door),
      adopt: (blob) =>
        moveFile(join(directory, loosePath(blob)), join(store.door.gitDir, 'objects', loosePath(blob))),
    })
  } finally {
    await close()
  }
}

async function writeCommit(directory: string, content: string, door: GitDoor): Promise<CommitId> {
  const { id, path, bytes } = looseObject('commit', Buffer.from(content, 'utf8'), door.objectFormat)
  await writeDeflated(join(directory, path), bytes)
  return commitId(id)
}
