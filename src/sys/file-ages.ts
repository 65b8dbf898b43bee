import { lstatSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isAbsent } from '../model/errno.ts'

export interface FileAge {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly modifiedMs: number
  readonly bytes: number
  readonly isDirectory: boolean
}

/** What is in a directory, with its age; nothing where there is no such directory. Looks at links themselves. */
export async function agesIn(directory: string): Promise<readonly FileAge[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (isAbsent(error)) return []
    throw error
  })
  return names.sort().flatMap((name) => {
    const stat = lstatSync(join(directory, name), { throwIfNoEntry: false })
    if (stat === undefined) return []
    return [{ name, modifiedMs: stat.mtimeMs, bytes: stat.size, isDirectory: stat.isDirectory() }]
  })
}

/** Removes a file of galley's own; one that is gone is no failure. */
export function removeQuietly(file: string): void {
  rmSync(file, { force: true })
}

/** What a directory takes on disk, in bytes, with all in it. Follows no link. */
export function diskUsage(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  const own = stat.blocks * 512
  if (!stat.isDirectory()) return own
  return readdirSync(path).reduce((sum, name) => sum + diskUsage(join(path, name)), own)
}

/** Puts a log aside once it has grown too large, over the one that was put aside before. */
export function rotateWhenLarge(file: string, maxBytes: number): void {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat !== undefined && stat.size > maxBytes) renameSync(file, `${file}.1`)
}

/** When a file was written last, by the file system's own clock; 0 where there is none. */
export const modifiedMs = (file: string): number => lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Makes a file of galley's own count as changed now. False when it is not there. */
export function touchQuietly(file: string): boolean {
  try {
    utimesSync(file, new Date(), new Date())
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

/** Sets when a file of galley's own counts as changed. */
export function setModified(file: string, modifiedMs: number): void {
  utimesSync(file, modifiedMs / 1000, modifiedMs / 1000)
}
