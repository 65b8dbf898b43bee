import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Census {
  /** Files and links that were there at the time asked about. */
  readonly files: number
  /** Files and links made since, relative to the root. */
  readonly added: readonly string[]
  /** Of `files`, how many have changed since, in content or attributes. */
  readonly changed: number
  /** The newest change seen, in milliseconds since the epoch as the file system has it; fractions count. */
  readonly newestMs: number
}

/**
 * Counts the files in some places of a tree, and those that are new or changed since a moment. Goes by the times of the inodes'
 * own changes, which no program can set back. Follows no link.
 *
 * @param sinceMs - Left out: everything counts as there before.
 */
export function takeCensus(
  root: string,
  places: readonly string[],
  sinceMs: number = Number.POSITIVE_INFINITY,
): Census {
  const added: string[] = []
  let files = 0
  let changed = 0
  let newestMs = 0
  const look = (path: string): void => {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false })
    if (stat === undefined) return
    if (stat.isDirectory()) {
      for (const name of readdirSync(join(root, path))) look(`${path}/${name}`)
      return
    }
    newestMs = Math.max(newestMs, stat.ctimeMs)
    if (stat.birthtimeMs > sinceMs) added.push(path)
    else {
      files++
      if (stat.ctimeMs > sinceMs) changed++
    }
  }
  for (const place of places) look(place.replace(/\/$/, ''))
  return { files, added, changed, newestMs }
}

/**
 * Pipes, sockets and devices in a tree, which git does not list. Looks at names and types alone.
 *
 * @param skips - Whether to leave a directory out, by its path from the root.
 */
export function specialFiles(root: string, skips: (path: string) => boolean): readonly string[] {
  const found: string[] = []
  const look = (directory: string): void => {
    for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`
      if (entry.isDirectory()) {
        if (!skips(path)) look(path)
      } else if (!entry.isFile() && !entry.isSymbolicLink()) found.push(path)
    }
  }
  look('')
  return found
}
