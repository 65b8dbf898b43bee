import { constants } from 'node:fs'
import { mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { absentAsNull, errorCode } from '../model/errno.ts'

/** Reads a small file of galley's own, or null when it is not there. Waits for no pipe: one without a writer reads as empty. */
export async function readOwnFile(file: string): Promise<Buffer | null> {
  return readFile(file, { flag: constants.O_RDONLY | constants.O_NONBLOCK }).catch(absentAsNull)
}

export const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(absentAsNull))?.isDirectory() === true

/** Makes a directory for galley's own files: nobody else may read them. */
export async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const code = errorCode(error)
    const parent = dirname(path)
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || parent === path) throw error
    // Part by part: node's own recursion never ends where a parent cannot be made (in /proc). Another process may have made the
    // parent since, so a last try decides.
    if (!(await isDirectory(parent))) await makePrivateDirectory(parent)
    await mkdir(path, { mode: 0o700 }).catch(existsIsFine)
  }
}

function existsIsFine(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** Writes a file of galley's own in one step: temporary file, fsync, rename, fsync of the directory. Mode 0600. */
export async function writeOwnFile(
  file: string,
  bytes: Uint8Array | string,
  temporaryName: string,
): Promise<void> {
  const temporary = join(dirname(file), temporaryName)
  const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file).catch(async (error) => {
    await unlink(temporary)
    throw error
  })
  await syncDirectory(dirname(file))
}

/** Appends one line to a file of galley's own and syncs it before returning. Mode 0600. */
export async function appendOwnLine(file: string, line: string): Promise<void> {
  const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600)
  try {
    await handle.writeFile(`${line}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
