import { constants } from 'node:fs'
import {
  chmod,
  type FileHandle,
  lstat,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  unlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode, isAbsent } from '../model/errno.ts'
import { randomName } from './clock.ts'

/** A path whose names need not be UTF-8: as bytes where they are not. */
type Place = string | Buffer

/** Renames a directory into place. False when something stands there already (another process was first). */
export async function moveDirectory(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw error
  }
}

/** Names in a directory; none where there is no directory. */
export async function listDirectory(path: string): Promise<readonly string[]> {
  return (await readdir(path).catch(missing)) ?? []
}

/** Directories that are held open one below the other; what lies deeper is brought up first. */
const DEPTH_HELD_MAX = 64
/** How often the outermost directory is looked at again: for what was brought up, not for a program that goes on writing. */
const ROUNDS_MAX = 10_000

/**
 * Removes a tree of galley's own. Links are unlinked, never followed; a part that is already gone is no failure; directories
 * that their owner may not read or write are opened up first.
 *
 * On Linux every directory is held open while it is emptied, so that a link put in its place meanwhile leads nowhere, and the depth
 * of the tree does not matter. Elsewhere the walk goes by path.
 */
export async function removeTree(path: string): Promise<void> {
  const found = await lstat(path).catch(missing)
  if (found === null) return
  if (!found.isDirectory()) return unlink(path).catch(ignoreMissing)
  await removeDirectory(path, { depth: 0, top: null })
}

/** What stands in a directory under a name as the system has it: a name that is not UTF-8 would be another one as text. */
function placeIn(directory: Place, name: Buffer): Place {
  const text = name.toString('utf8')
  if (typeof directory === 'string' && Buffer.from(text).equals(name)) return join(directory, text)
  return Buffer.concat([Buffer.from(directory), Buffer.from('/'), name])
}

const parentOf = (path: Place): Place =>
  typeof path === 'string' ? dirname(path) : path.subarray(0, path.lastIndexOf('/'))

interface Walk {
  readonly depth: number
  /** Where deep directories are brought to: the outermost directory, held. */
  readonly top: Place | null
}

async function removeDirectory(path: Place, walk: Walk): Promise<void> {
  const handle = await openDirectory(path)
  if (handle !== null) {
    try {
      const held = await heldPath(handle, path)
      await empty(held, { depth: walk.depth, top: walk.top ?? held })
    } finally {
      await handle.close()
    }
  }
  await retryOpenedUp(parentOf(path), () => rmdir(path).catch(ignoreMissing))
}

async function empty(held: Place, walk: Walk): Promise<void> {
  // What is brought up from below arrives while this one is emptied, so the outermost is looked at until nothing is left.
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const entries = await readdir(held, { withFileTypes: true, encoding: 'buffer' }).catch(gone)
    if (entries.length === 0) return
    for (const entry of entries) await removeEntry(placeIn(held, entry.name), entry.isDirectory(), walk)
    if (walk.depth > 0) return
  }
}

async function removeEntry(child: Place, isDirectory: boolean, walk: Walk): Promise<void> {
  // `isDirectory` of a directory entry is false for a link to one.
  if (!isDirectory) return retryOpenedUp(parentOf(child), () => unlink(child).catch(ignoreMissing))
  if (walk.depth < DEPTH_HELD_MAX || walk.top === null)
    return removeDirectory(child, { ...walk, depth: walk.depth + 1 })
  const to = placeIn(walk.top, Buffer.from(`.removed-${randomName()}`))
  await retryOpenedUp(parentOf(child), () => rename(child, to).catch(ignoreMissing))
}

/** Null when it is gone, or is no directory any more. */
async function openDirectory(path: Place): Promise<FileHandle | null> {
  const tryOpen = () => open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    return await tryOpen()
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return null
    if (code !== 'EACCES' && code !== 'ENOTDIR' && code !== 'ELOOP') throw error
    if (code !== 'EACCES') return unlink(path).then(() => null, ignoreMissingAsNull)
    await openUp(path)
    return tryOpen()
  }
}

/** Runs a task in a directory; when permissions are in the way, gives the owner all of them and tries once more. */
async function retryOpenedUp(directory: Place, task: () => Promise<void>): Promise<void> {
  try {
    await task()
  } catch (error) {
    if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EPERM') throw error
    await openUp(directory)
    await task()
  }
}

/** O_PATH of Linux: a handle to a directory that may not be read. */
const PATH_ONLY = 0o10000000

/** Gives the owner every permission on a directory, never through a link. */
async function openUp(directory: Place): Promise<void> {
  if (process.platform !== 'linux') return chmod(directory, 0o700)
  const isHeld = directory.toString('latin1').startsWith('/proc/self/fd/')
  const flags = PATH_ONLY | constants.O_DIRECTORY | (isHeld ? 0 : constants.O_NOFOLLOW)
  const handle = await open(directory, flags)
  try {
    await chmod(`/proc/self/fd/${handle.fd}`, 0o700)
  } finally {
    await handle.close()
  }
}

let canReopen: boolean | null = null

/** The name under which a held directory is reached, whatever happens to its path. */
async function heldPath(handle: FileHandle, path: Place): Promise<Place> {
  const held = `/proc/self/fd/${handle.fd}`
  canReopen ??=
    process.platform === 'linux' &&
    (await readlink(held).then(
      () => true,
      () => false,
    ))
  return canReopen ? held : path
}

function missing(error: unknown): null {
  if (isAbsent(error)) return null
  throw error
}

function gone(error: unknown): [] {
  if (errorCode(error) === 'ENOENT') return []
  throw error
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error
}

function ignoreMissingAsNull(error: unknown): null {
  ignoreMissing(error)
  return null
}
