import { join } from 'node:path'
import { type FileMerge, mergeFiles } from '../git/merge-file.ts'
import { randomName } from '../sys/clock.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { writeOwnFile } from '../sys/small-files.ts'
import { removeTree } from '../sys/trees.ts'
import type { Store } from './open-store.ts'

/** Merges three versions of a file that are in memory. Writes them into galley's own folder for git, and removes them again. */
export async function mergeBytes(
  store: Store,
  versions: { readonly mine: Uint8Array; readonly base: Uint8Array; readonly theirs: Uint8Array },
): Promise<FileMerge> {
  const directory = join(store.galleyDir, 'tmp', randomName())
  await makePrivateDirectory(directory)
  try {
    const files = [join(directory, 'mine'), join(directory, 'base'), join(directory, 'theirs')] as const
    await writeOwnFile(files[0], versions.mine, 'mine.tmp')
    await writeOwnFile(files[1], versions.base, 'base.tmp')
    await writeOwnFile(files[2], versions.theirs, 'theirs.tmp')
    return await mergeFiles(store.door, files)
  } finally {
    await removeTree(directory)
  }
}
