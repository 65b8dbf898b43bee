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

/** What a path is known by: another one of the same name is none. null = there is nothing. */
export function passingIdentity(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}:${stat.ctimeNs}`
}
