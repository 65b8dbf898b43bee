import {
  type Dirent,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { inParent, type OpenParent, type ParentProblem } from './held-directory.ts'

export type Move =
  | { readonly kind: 'done' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'exists' }
  | ParentProblem

/** No hard links here, or none can be made now (on some file systems a link takes an inode). */
export const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'ENOSPC', 'EDQUOT']

/** Moves what stands at a path of the work tree to a name of galley's own. */
export function moveAway(root: string, path: string, aside: string): Move {
  return inParent(root, path, { makeMissing: false }, (parent) => renameIfThere(parent.file, aside))
}

/**
 * Gives a staged file its place in the work tree, unless something stands there. The staged name goes.
 *
 * @param makeMissing - Makes parents that are missing.
 */
export function putInPlace(root: string, path: string, staged: string, makeMissing: boolean): Move {
  return inParent(root, path, { makeMissing }, (parent) => linkThenUnlink(staged, parent))
}

/**
 * Exchanges the file at a path for a staged one: the old inode goes to `aside` as it is, open by an editor or
 * not. Between the two calls the name does not exist; that is the only instant at which a reader finds
 * nothing.
 *
 * @param onMovedAway - Called in between.
 */
export function exchange(
  root: string,
  path: string,
  staged: string,
  aside: string,
  onMovedAway: () => void,
): Move {
  return inParent(root, path, { makeMissing: false }, (parent) => {
    const away = renameIfThere(parent.file, aside)
    if (away.kind !== 'done') return away
    onMovedAway()
    return linkThenUnlink(staged, parent)
  })
}

function renameIfThere(from: string, to: string): Move {
  try {
    renameSync(from, to)
    return { kind: 'done' }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { kind: 'absent' }
    throw error
  }
}

/** A link never overwrites. Where there are none, what stands there is looked for a moment before. */
function linkThenUnlink(staged: string, parent: OpenParent): Move {
  // Elsewhere than on Linux a link to a symbolic link is one to the file that it leads to.
  const isLinkable = process.platform === 'linux' || lstatSync(staged).isFile()
  if (!isLinkable) return renameIfFree(staged, parent.file)
  try {
    linkSync(staged, parent.file)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return { kind: 'exists' }
    if (!NO_LINKS.includes(errorCode(error))) throw error
    return renameIfFree(staged, parent.file)
  }
  unlinkSync(staged)
  return { kind: 'done' }
}

function renameIfFree(staged: string, file: string): Move {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return { kind: 'exists' }
  renameSync(staged, file)
  return { kind: 'done' }
}

/** Removes a directory of the work tree if it is empty. False when it is not, or is none. */
export function removeEmptyDirectory(root: string, path: string): boolean {
  const removed = inParent(root, path, { makeMissing: false }, (parent) => rmdirIfEmpty(parent.file))
  return removed === true
}

/** Makes a directory of the work tree, and its parents, unless something stands there. */
export function makeDirectoryInTree(root: string, path: string): void {
  inParent(root, path, { makeMissing: true }, (parent) => {
    try {
      mkdirSync(parent.file)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    return parent
  })
}

function rmdirIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory)
    return true
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EINVAL'].includes(errorCode(error)))
      return false
    throw error
  }
}

/** Gives a directory its place again, unless something stands there or it is not aside. */
export function moveDirectoryBack(root: string, path: string, aside: string): void {
  inParent(root, path, { makeMissing: true }, (parent) => {
    const isFree = lstatSync(parent.file, { throwIfNoEntry: false }) === undefined
    return isFree ? renameIfThere(aside, parent.file) : { kind: 'exists' as const }
  })
}

/** Everything but directories in a directory of galley's own, at any depth, relative to it; nothing where it is not there. */
export function filesBelow(directory: string): readonly string[] {
  return entriesOf(directory).flatMap((entry) =>
    entry.isDirectory()
      ? filesBelow(join(directory, entry.name)).map((name) => `${entry.name}/${name}`)
      : [entry.name],
  )
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

export interface PlaceStat {
  readonly ctimeNs: bigint
  readonly mtimeNs: bigint
  readonly dev: bigint
  readonly ino: bigint
  readonly uid: bigint
  readonly gid: bigint
  readonly size: bigint
}

/** Times, numbers and size of the file at a path, as an index keeps them; null when there is none. */
export function placeStat(root: string, path: string): PlaceStat | null {
  const found = inParent(root, path, { makeMissing: false }, (parent) => ({
    kind: 'stat' as const,
    stat: lstatSync(parent.file, { bigint: true, throwIfNoEntry: false }) ?? null,
  }))
  return found.kind === 'stat' ? found.stat : null
}
