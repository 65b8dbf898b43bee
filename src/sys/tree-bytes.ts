import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
} from 'node:fs'
import { errorCode } from '../model/errno.ts'
import { inParent } from './held-directory.ts'
import { type BytePath, textOfBytes } from './walk-tree.ts'

export type TreeBytes =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly isExecutable: boolean }
  | { readonly kind: 'too-large' }
  /** It is gone, is something else by now, or may not be read even by its owner. */
  | { readonly kind: 'unreadable'; readonly why: string }

/** Reads a regular file, or the target of a link, of a tree that somebody else wrote. Goes through no link and waits for no pipe. */
export function readTreeBytes(root: string, path: BytePath, maxBytes: number): TreeBytes {
  const text = textOfBytes(path)
  if (text === null)
    return readAt(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]), maxBytes)
  const found = inParent(root, text, { makeMissing: false }, (parent) =>
    readAt(Buffer.from(parent.file), maxBytes),
  )
  return found.kind === 'missing' || found.kind === 'symlink' || found.kind === 'blocked'
    ? { kind: 'unreadable', why: 'it is gone' }
    : found
}

function readAt(file: Buffer, maxBytes: number): TreeBytes {
  try {
    const stat = lstatSync(file)
    if (stat.isSymbolicLink())
      return { kind: 'bytes', bytes: readlinkSync(file, { encoding: 'buffer' }), isExecutable: false }
    if (!stat.isFile()) return { kind: 'unreadable', why: 'it is no file any more' }
    if ((stat.mode & 0o400) === 0) chmodSync(file, (stat.mode & 0o777) | 0o400)
    return readRegular(file, maxBytes)
  } catch (error) {
    return { kind: 'unreadable', why: `it cannot be read (${errorCode(error)})` }
  }
}

function readRegular(file: Buffer, maxBytes: number): TreeBytes {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) return { kind: 'unreadable', why: 'it is no file any more' }
    if (stat.size > maxBytes) return { kind: 'too-large' }
    const bytes = readFileSync(descriptor)
    return { kind: 'bytes', bytes, isExecutable: (stat.mode & 0o100) !== 0 }
  } finally {
    closeSync(descriptor)
  }
}
