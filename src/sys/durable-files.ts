import { randomUUID } from 'node:crypto'
import { constants, rmdirSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, isAbsent } from '../model/errno.ts'

/**
 * Waits until the device has the names in a directory. Systems that cannot do that for directories are left
 * alone.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if (!['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP'].includes(errorCode(error))) throw error
  } finally {
    await handle.close()
  }
}

/**
 * Writes a new file and waits until the device has it under its name. A kill in the middle leaves a part of
 * it: whoever reads it must be able to tell.
 */
export async function writeNamedDurably(
  file: string,
  bytes: Uint8Array | string,
  mode: number,
): Promise<void> {
  const handle = await open(file, 'wx', mode)
  try {
    await handle.writeFile(bytes)
    // Together: one flush of the device serves both.
    await Promise.all([handle.sync(), syncDirectory(dirname(file))])
  } finally {
    await handle.close()
  }
}

/** The file's bytes, or null when there is none. Waits for no pipe: one without a writer reads as empty. */
export async function readFileOrNull(file: string): Promise<Buffer | null> {
  return readFile(file, { flag: constants.O_RDONLY | constants.O_NONBLOCK }).catch((error: unknown) => {
    if (isAbsent(error)) return null
    throw error
  })
}

/** Names in a directory, sorted; none when there is no such directory. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  })
  return names.sort()
}

export async function fileExists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: unknown) => {
      if (isAbsent(error)) return false
      throw error
    },
  )
}

/** Makes a directory of galley's own, for this account alone. */
export const makePrivateDirectory = (directory: string): Promise<void> => makeDirectories(directory, 0o700)

/**
 * Makes a directory and what is missing above it; permissions are those that the umask leaves. node's own way of doing
 * so says that something does not exist where the device is full.
 */
export async function makeDirectories(directory: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(directory, { mode })
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && (await stat(directory)).isDirectory()) return
    if (errorCode(error) !== 'ENOENT' || dirname(directory) === directory) throw error
    await makeDirectories(dirname(directory), mode)
    await makeDirectories(directory, mode)
  }
}

/** Removes a directory of galley's own with all it holds; links in it are removed, never followed. */
export async function removeOwnDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
}

/** Writes a small file that has the same content whoever writes it; the first one stays. */
export async function writeOnce(file: string, content: string): Promise<void> {
  const passing = `${file}.${randomUUID()}`
  await writeFile(passing, content, { mode: 0o600 })
  await rename(passing, file)
}

/** Moves a directory of galley's own. */
export async function moveOwnDirectory(from: string, to: string): Promise<void> {
  await rename(from, to)
}

/** Writes a file that is read once and thrown away. */
export async function writePassing(file: string, bytes: Uint8Array): Promise<void> {
  await writeFile(file, bytes, { mode: 0o600 })
}

/** The same, at once: for the moments in which nothing else may happen in between. */
export function writePassingSync(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
}

/**
 * Removes a directory of galley's own if nothing is in it; somebody may be about to use it, which is no
 * failure.
 */
export function removeDirectoryIfEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error
  }
}
