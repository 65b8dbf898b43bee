import { constants, rmdirSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { absentAsNull, errorCode, isAbsent } from '../model/errno.ts'

/** Whether a directory is at a path; links are followed. */
export const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(absentAsNull))?.isDirectory() === true

/** Names in a directory, sorted; none when there is no such directory. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (isAbsent(error)) return []
    throw error
  })
  return names.sort()
}

/** Another process may make or take away a parent at any time. */
const MAKE_ATTEMPTS = 4

/** Makes a directory of galley's own, and what is missing above it: nobody else may read them. */
export const makePrivateDirectory = (directory: string): Promise<void> => makeDirectories(directory, 0o700)

/**
 * Makes a directory and what is missing above it; permissions are those that the umask leaves. node's own way of doing
 * so says that something does not exist where the device is full, and never ends where a parent cannot be made (in /proc).
 */
export async function makeDirectories(directory: string, mode = 0o777): Promise<void> {
  const parent = dirname(directory)
  for (let attempt = 1; ; attempt++) {
    try {
      await mkdir(directory, { mode })
      return
    } catch (error) {
      const code = errorCode(error)
      if (code === 'EEXIST' && (await isDirectory(directory))) return
      if (code !== 'ENOENT' || parent === directory || attempt === MAKE_ATTEMPTS) throw error
    }
    if (!(await isDirectory(parent))) await makeDirectories(parent, mode)
  }
}

/**
 * Waits until the device has the names in a directory. Systems that cannot do that for directories are left
 * alone.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY)
  try {
    await handle.sync()
  } catch (error) {
    if (!['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP'].includes(errorCode(error))) throw error
  } finally {
    await handle.close()
  }
}

/** Moves a directory of galley's own. */
export async function moveOwnDirectory(from: string, to: string): Promise<void> {
  await rename(from, to)
}

/** Removes a directory of galley's own with all it holds; links in it are removed, never followed. */
export async function removeOwnDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
}

/**
 * Removes a directory of galley's own if nothing is in it. False when there is none, or when something is in it or stands there in its
 * place: somebody may be about to use it, which is no failure.
 */
export function removeDirectoryIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory)
    return true
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(error))) return false
    throw error
  }
}
