import { mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from './trees.ts'

/**
 * Runs a task with a directory of its own that nobody else may look into, for programs that take files only.
 *
 * Leaves nothing: the directory is removed at the end, whatever the end is.
 */
export async function withTemporaryDirectory<T>(task: (directory: string) => Promise<T>): Promise<T> {
  // Mode 0700, by mkdtemp itself.
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'galley-'))
  try {
    return await task(directory)
  } finally {
    await removeTree(directory)
  }
}

/** Writes a file into a temporary directory, for this account alone, and gives its path. */
export async function writeTemporary(
  directory: string,
  name: string,
  bytes: Uint8Array | string,
  mode = 0o600,
): Promise<string> {
  const file = join(directory, name)
  await writeFile(file, bytes, { mode, flag: 'wx' })
  return file
}
