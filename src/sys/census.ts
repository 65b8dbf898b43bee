import { lstatSync, readdirSync } from 'node:fs'

/** Names of a walk are kept byte by byte, one character for each: a name that is not UTF-8 would be another one as text. */
const bytesOf = (root: string, walked: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(walked, 'latin1')])

const walkedOf = (path: string): string => Buffer.from(path).toString('latin1')

/** The path as text; null when its bytes are not UTF-8. */
function textOf(walked: string): string | null {
  const bytes = Buffer.from(walked, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : null
}

export interface Census {
  /** Files and links that were there at the time asked about. */
  readonly files: number
  /** Files and links made since, relative to the root. */
  readonly added: readonly string[]
  /** How many of `files` have changed since, in content or attributes, and files made since under a name that is not UTF-8. */
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
  const look = (walked: string): void => {
    const bytes = bytesOf(root, walked)
    const stat = lstatSync(bytes, { throwIfNoEntry: false })
    if (stat === undefined) return
    if (stat.isDirectory()) {
      for (const name of readdirSync(bytes, 'latin1')) look(`${walked}/${name}`)
      return
    }
    newestMs = Math.max(newestMs, stat.ctimeMs)
    const isNew = stat.birthtimeMs > sinceMs
    const path = isNew ? textOf(walked) : null
    if (path !== null) added.push(path)
    else if (isNew) changed++
    else {
      files++
      if (stat.ctimeMs > sinceMs) changed++
    }
  }
  for (const place of places) look(walkedOf(place.replace(/\/$/, '')))
  return { files, added, changed, newestMs }
}

/**
 * Pipes, sockets and devices in a tree, which git does not list. Looks at names and types alone.
 *
 * @param skips - Whether to leave a directory out, by its path from the root.
 * @returns null = the name of one of them is not UTF-8.
 */
export function specialFiles(root: string, skips: (path: string) => boolean): readonly string[] | null {
  const found: (string | null)[] = []
  const look = (directory: string): void => {
    for (const entry of readdirSync(bytesOf(root, directory), { withFileTypes: true, encoding: 'buffer' })) {
      const name = entry.name.toString('latin1')
      const walked = directory === '' ? name : `${directory}/${name}`
      const path = textOf(walked)
      if (entry.isDirectory()) {
        if (path === null || !skips(path)) look(walked)
      } else if (!entry.isFile() && !entry.isSymbolicLink()) found.push(path)
    }
  }
  look('')
  return found.every((path) => path !== null) ? found : null
}
