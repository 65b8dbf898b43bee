import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../model/errno.ts'

/**
 * The directory that holds one path of the work tree, open so that nobody can put a link in its place.
 *
 * On Linux `directory` leads through `/proc/self/fd`, that is to the very directory that was walked to,
 * wherever its name has gone since. Elsewhere it is the plain path: a link put among the parents between the
 * walk and the use is followed there, and looking again afterwards (`inParent` does) is all that can be done.
 */
export interface OpenParent {
  readonly kind: 'open'
  /** Prefix for system calls. */
  readonly directory: string
  /** Last part of the path. */
  readonly name: string
  /** `directory` and `name`, joined. */
  readonly file: string
  /** Directories that the walk had to make, as paths of the work tree, outermost first. */
  readonly made: readonly string[]
  readonly device: number
  /** Device and inode of the directory. */
  readonly identity: string
  readonly close: () => void
}

export type ParentProblem =
  /** `at` is the first part of the path that is missing. */
  | { readonly kind: 'missing'; readonly at: string }
  | { readonly kind: 'symlink'; readonly at: string }
  /** `at` is neither a directory nor a link. */
  | { readonly kind: 'blocked'; readonly at: string }

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/**
 * Walks to the parent of `path`, part by part, following no link.
 *
 * @param root - Root of the work tree; its own path may hold links.
 * @param path - Validated repository path.
 * @param makeMissing - Makes parents that are not there, with the permissions that the umask leaves.
 */
export function openParent(root: string, path: string, makeMissing: boolean): OpenParent | ParentProblem {
  const parts = path.split('/')
  const name = parts.pop() ?? path
  const made: string[] = []
  let held = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY)
  let directory = prefixOf(held, root)
  try {
    for (const [i, part] of parts.entries()) {
      const at = parts.slice(0, i + 1).join('/')
      const child = join(directory, part)
      if (makeMissing && makeDirectory(child)) made.push(at)
      const next = openDirectory(child, at)
      if (typeof next !== 'number') return giveUp(held, next)
      closeSync(held)
      held = next
      directory = prefixOf(held, child)
    }
    const { dev: device, ino } = fstatSync(held)
    const last = held
    return {
      kind: 'open',
      directory,
      name,
      file: join(directory, name),
      made,
      device,
      identity: `${device}:${ino}`,
      close: () => closeSync(last),
    }
  } catch (error) {
    closeSync(held)
    throw withPath(error, root, path)
  }
}

/** The names of held directories mean nothing to a reader. */
function withPath(error: unknown, root: string, path: string): unknown {
  if (typeof (error as NodeJS.ErrnoException).syscall === 'string')
    Object.assign(error as NodeJS.ErrnoException, { path: join(root, path) })
  return error
}

/**
 * Runs `use` in the parent of `path` and closes it again.
 *
 * @throws An error with code `ESTALE`, where directories can be reached by their paths alone and another one had
 * the parent's path afterwards: what `use` did may have been done there.
 */
export function inParent<T>(
  root: string,
  path: string,
  options: { readonly makeMissing: boolean },
  use: (parent: OpenParent) => T,
): T | ParentProblem {
  const parent = openParent(root, path, options.makeMissing)
  if (parent.kind !== 'open') return parent
  try {
    const result = use(parent)
    if (canReopen === false) expectSameParent(root, path, parent)
    return result
  } catch (error) {
    throw withPath(error, root, path)
  } finally {
    parent.close()
  }
}

function expectSameParent(root: string, path: string, before: OpenParent): void {
  const again = openParent(root, path, false)
  const isSame = again.kind === 'open' && again.identity === before.identity
  if (again.kind === 'open') again.close()
  if (isSame) return
  const message = `ESTALE: another directory took the place of the parent of ${path}`
  throw Object.assign(new Error(message), { code: 'ESTALE', syscall: 'walk' })
}

function giveUp(held: number, problem: ParentProblem): ParentProblem {
  closeSync(held)
  return problem
}

function openDirectory(child: string, at: string): number | ParentProblem {
  try {
    return openSync(child, DIRECTORY)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return { kind: 'missing', at }
    // With O_DIRECTORY and O_NOFOLLOW a link gives ENOTDIR on Linux and ELOOP elsewhere.
    if (code === 'ENOTDIR' || code === 'ELOOP') return { kind: isLink(child) ? 'symlink' : 'blocked', at }
    throw error
  }
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

let canReopen: boolean | null = null

/** Reaches directories by their paths alone, as on systems without `/proc`; `false` finds out again. For tests. */
export function reachByPathAlone(isAlone: boolean): void {
  canReopen = isAlone ? false : null
}

/** The name under which a held directory is reached, whatever happens to its path. */
function prefixOf(held: number, path: string): string {
  canReopen ??= process.platform === 'linux' && answers(held)
  return canReopen ? `/proc/self/fd/${held}` : path
}

/** Whether /proc is mounted; in a bare chroot it may not be. */
function answers(held: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${held}`) !== ''
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EINVAL'].includes(errorCode(error))) return false
    throw error
  }
}
