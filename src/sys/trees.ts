import { lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Renames a directory into place. False when something stands there already (another process was first). */
export async function moveDirectory(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw error
  }
}

/** Names in a directory. */
export const listDirectory = (path: string): Promise<readonly string[]> => readdir(path)

/**
 * Removes a tree of galley's own. Links are unlinked, never followed; a part that is already gone is no failure.
 */
export async function removeTree(path: string): Promise<void> {
  const found = await lstat(path).catch(missing)
  if (found === null) return
  if (!found.isDirectory()) return unlink(path).catch(ignoreMissing)
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const child = join(path, entry.name)
    // `isDirectory` of a directory entry is false for a link to one.
    if (entry.isDirectory()) await removeTree(child)
    else await unlink(child).catch(ignoreMissing)
  }
  await rmdir(path).catch(ignoreMissing)
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
