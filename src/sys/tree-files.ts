import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { removeDirectoryIfEmpty } from './directories.ts'
import { inParent, type OpenParent, openParent, type ParentProblem } from './held-directory.ts'
import type { PlaceStat } from './swap-file.ts'
import { removeTree } from './trees.ts'

/** A parent is no directory, or a directory stands where the file belongs. */
export type TreeProblem = ParentProblem | { readonly kind: 'in-the-way' }

export type Written = { readonly kind: 'written'; readonly stat: PlaceStat } | TreeProblem

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * Writes one file of a tree that is galley's own and that nobody uses just now: a new inode, through no link. The bytes are
 * not synced, since such a tree can be made again.
 */
export function writeInTree(root: string, path: string, bytes: Uint8Array, isExecutable: boolean): Written {
  return inParent(root, path, { makeMissing: true }, (parent): Written => {
    if (!makeRoom(parent)) return { kind: 'in-the-way' }
    const descriptor = openSync(parent.file, NEW_FILE, isExecutable ? 0o777 : 0o666)
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
      return { kind: 'written', stat: placeStatOf(fstatSync(descriptor, { bigint: true })) }
    } finally {
      closeSync(descriptor)
    }
  })
}

/** Makes a symbolic link in such a tree. */
export function linkInTree(root: string, path: string, target: Uint8Array): Written {
  return inParent(root, path, { makeMissing: true }, (parent): Written => {
    if (!makeRoom(parent)) return { kind: 'in-the-way' }
    symlinkSync(Buffer.from(target), parent.file)
    return { kind: 'written', stat: placeStatOf(lstatSync(parent.file, { bigint: true })) }
  })
}

const placeStatOf = ({ ctimeNs, mtimeNs, dev, ino, uid, gid, size }: BigIntStats): PlaceStat => ({
  ctimeNs,
  mtimeNs,
  dev,
  ino,
  uid,
  gid,
  size,
})

/** Takes a file or a link away; an empty directory too. False where something else stands. */
function makeRoom(parent: OpenParent): boolean {
  try {
    unlinkSync(parent.file)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true
    if (errorCode(error) !== 'EISDIR' && errorCode(error) !== 'EPERM') throw error
    return removeDirectoryIfEmpty(parent.file)
  }
}

/** Removes one file of such a tree, and the directories that are empty then. False when a directory stands there. */
export function removeFromTree(root: string, path: string): boolean {
  const removed = inParent(root, path, { makeMissing: false }, (parent) => makeRoom(parent))
  if (removed === false) return false
  for (let directory = dirname(path); directory !== '.'; directory = dirname(directory)) {
    const emptied = inParent(root, directory, { makeMissing: false }, (parent) =>
      removeDirectoryIfEmpty(parent.file),
    )
    if (emptied !== true) break
  }
  return true
}

/** Removes whatever stands at a path of such a tree, a directory with all it holds. Goes through no link. */
export async function removeAllInTree(root: string, path: string): Promise<void> {
  const parent = openParent(root, path, false)
  if (parent.kind !== 'open') return
  try {
    await removeTree(parent.file)
  } finally {
    parent.close()
  }
}

export type CopyOutcome =
  | { readonly kind: 'copied'; readonly size: number }
  /** Not a regular file, or behind a link. */
  | { readonly kind: 'not-regular' }
  | { readonly kind: 'too-large'; readonly size: number }
  | TreeProblem

const CHUNK_BYTES = 1024 * 1024

/**
 * Copies one regular file from a tree of the user's into one of galley's own, with its permissions. Goes through no link on
 * either side; the source is opened for reading only.
 */
export function copyIntoTree(from: string, to: string, path: string, maxBytes: number): CopyOutcome {
  const source = inParent(from, path, { makeMissing: false }, (parent) => openRegular(parent.file))
  if (typeof source !== 'number') return source === null ? { kind: 'not-regular' } : source
  try {
    const stat = fstatSync(source)
    if (!stat.isFile()) return { kind: 'not-regular' }
    if (stat.size > maxBytes) return { kind: 'too-large', size: stat.size }
    return inParent(to, path, { makeMissing: true }, (parent): CopyOutcome => {
      if (!makeRoom(parent)) return { kind: 'in-the-way' }
      const target = openSync(parent.file, NEW_FILE, stat.mode & 0o777)
      try {
        return { kind: 'copied', size: copyBytes(source, target, maxBytes) }
      } finally {
        closeSync(target)
      }
    })
  } finally {
    closeSync(source)
  }
}

export type ReadOutcome =
  | { readonly kind: 'read'; readonly bytes: Buffer; readonly isExecutable: boolean }
  | { readonly kind: 'absent' }
  /** Not a regular file, or behind a link. */
  | { readonly kind: 'not-regular' }
  | { readonly kind: 'too-large'; readonly size: number }

/** Reads one regular file of a tree in which somebody else is at work. Goes through no link, and never waits. */
export function readInTree(root: string, path: string, maxBytes: number): ReadOutcome {
  const opened = inParent(root, path, { makeMissing: false }, (parent) =>
    lstatSync(parent.file, { throwIfNoEntry: false }) === undefined ? 'absent' : openRegular(parent.file),
  )
  if (opened === 'absent') return { kind: 'absent' }
  if (opened === null) return { kind: 'not-regular' }
  if (typeof opened !== 'number')
    return opened.kind === 'missing' ? { kind: 'absent' } : { kind: 'not-regular' }
  try {
    const stat = fstatSync(opened)
    const { size, mode } = stat
    if (!stat.isFile()) return { kind: 'not-regular' }
    if (size > maxBytes) return { kind: 'too-large', size }
    const bytes = Buffer.alloc(size)
    let at = 0
    for (let count = 1; count > 0 && at < size; at += count)
      count = readSync(opened, bytes, at, size - at, null)
    return { kind: 'read', bytes: bytes.subarray(0, at), isExecutable: (mode & 0o111) !== 0 }
  } finally {
    closeSync(opened)
  }
}

function openRegular(file: string): number | null {
  try {
    // O_NONBLOCK: a FIFO must not hang us.
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EACCES', 'ENXIO'].includes(errorCode(error))) return null
    throw error
  }
}

function copyBytes(source: number, target: number, maxBytes: number): number {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let size = 0
  for (;;) {
    const count = readSync(source, buffer, 0, buffer.length, null)
    if (count === 0 || size > maxBytes) return size
    for (let at = 0; at < count; ) at += writeSync(target, buffer, at, count - at)
    size += count
  }
}

/** The directory at a path of a tree, or the root where there is none such without a link on the way. */
export function directoryInTree(root: string, path: string): string {
  let at = root
  for (const part of path.split('/').filter((p) => p !== '')) {
    const next = join(at, part)
    if (lstatSync(next, { throwIfNoEntry: false })?.isDirectory() !== true) return root
    at = next
  }
  return at
}
