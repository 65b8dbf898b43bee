import { randomUUID } from 'node:crypto'
import { constants, writeFileSync } from 'node:fs'
import { open, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { absentAsNull } from '../model/errno.ts'
import { syncDirectory } from './directories.ts'

/** The bytes of a small file, or null when there is none. Waits for no pipe: one without a writer reads as empty. */
export const readFileOrNull = (file: string): Promise<Buffer | null> =>
  readFile(file, { flag: constants.O_RDONLY | constants.O_NONBLOCK }).catch(absentAsNull)

/** Whether anything is at a path; links are followed. */
export const fileExists = async (file: string): Promise<boolean> =>
  (await stat(file).catch(absentAsNull)) !== null

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

/** Writes a small file that has the same content whoever writes it; the first one stays. */
export async function writeOnce(file: string, content: string): Promise<void> {
  const passing = `${file}.${randomUUID()}`
  await writeFile(passing, content, { mode: 0o600 })
  await rename(passing, file)
}

/** Writes a file that is read once and thrown away. */
export async function writePassing(file: string, bytes: Uint8Array): Promise<void> {
  await writeFile(file, bytes, { mode: 0o600 })
}

/** The same, at once: for the moments in which nothing else may happen in between. */
export function writePassingSync(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
}
