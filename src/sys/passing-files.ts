import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isAbsent } from '../model/errno.ts'

/**
 * Files and directories below a directory whose names are wanted; inside of those found it is not looked further. Follows no link; nothing
 * where there is no such directory.
 *
 * @param leaveOut - Names of directories that are not gone into.
 */
export function findNames(
  directory: string,
  isWanted: (name: string) => boolean,
  leaveOut: readonly string[] = [],
): readonly string[] {
  const found: string[] = []
  const waiting = [directory]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of entriesOf(at)) {
      const path = join(at, entry.name)
      if (isWanted(entry.name)) found.push(path)
      else if (entry.isDirectory() && !leaveOut.includes(entry.name)) waiting.push(path)
    }
  }
  return found
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

/** A file or a directory that is being made, as it was seen. */
export interface PassingFile {
  /** What it is known by: another one of the same name is none. */
  readonly identity: string
  /** Milliseconds since the epoch. */
  readonly changedAtMs: number
}

/** null = there is nothing. */
export function lookAtPassing(path: string): PassingFile | null {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  if (stat === undefined) return null
  return { identity: `${stat.dev}:${stat.ino}:${stat.ctimeNs}`, changedAtMs: Number(stat.ctimeMs) }
}
