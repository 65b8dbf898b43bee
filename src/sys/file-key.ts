import { createHash } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { errorCode } from '../model/errno.ts'
import { inParent } from './held-directory.ts'

export type HashName = 'sha1' | 'sha256'

/** What stands at a path of the work tree, as landing compares it: by bytes, never by times. */
export type Standing =
  | { readonly kind: 'absent' }
  | StandingFile
  /** `id` is the blob id of the link's text. */
  | { readonly kind: 'symlink'; readonly id: string; readonly identity: string }
  | { readonly kind: 'directory' }
  | { readonly kind: 'special' }
  /** A parent is a link, or neither link nor directory. */
  | { readonly kind: 'link-above'; readonly at: string }
  | { readonly kind: 'file-above'; readonly at: string }

export interface StandingFile {
  readonly kind: 'file'
  /** Blob id of the bytes as they stand. */
  readonly id: string
  readonly executable: boolean
  /** Permission bits, 0o7777. */
  readonly permissions: number
  readonly owner: number
  readonly group: number
  /** Names that the file has. */
  readonly links: number
  /** Device and inode: the same for two names of one file. */
  readonly identity: string
}

const CHUNK_BYTES = 1024 * 1024

/** Looks at one path of the work tree, following no link. */
export function lookAt(root: string, path: string, hash: HashName): Standing {
  const found = inParent(
    root,
    path,
    { makeMissing: false },
    (parent): Standing => standingOf(parent.file, hash),
  )
  if (found.kind === 'missing') return { kind: 'absent' }
  if (found.kind === 'blocked') return { kind: 'file-above', at: found.at }
  // `symlink` of the walk carries `at`, that of the file its id.
  if (found.kind === 'symlink' && 'at' in found) return { kind: 'link-above', at: found.at }
  return found
}

/** Looks at one file by a name that is safe to use, such as one in a held directory. */
export function standingOf(file: string, hash: HashName): Standing {
  const found = lstatSync(file, { throwIfNoEntry: false, bigint: true })
  if (found === undefined) return { kind: 'absent' }
  if (found.isDirectory()) return { kind: 'directory' }
  if (found.isSymbolicLink()) {
    const text = readlinkSync(file, { encoding: 'buffer' })
    return { kind: 'symlink', id: blobHash(text, hash), identity: identityOf(found) }
  }
  return found.isFile() ? openFile(file, hash) : { kind: 'special' }
}

const identityOf = (stat: BigIntStats): string => `${stat.dev}:${stat.ino}`

function openFile(file: string, hash: HashName): Standing {
  let descriptor: number
  try {
    // O_NONBLOCK: a FIFO put there meanwhile must not hang us.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { kind: 'absent' }
    if (errorCode(error) === 'ELOOP') return { kind: 'special' }
    throw error
  }
  try {
    const stat = fstatSync(descriptor, { bigint: true })
    if (!stat.isFile()) return { kind: 'special' }
    const permissions = Number(stat.mode) & 0o7777
    return {
      kind: 'file',
      id: hashDescriptor(descriptor, Number(stat.size), hash),
      executable: (permissions & 0o100) !== 0,
      permissions,
      owner: Number(stat.uid),
      group: Number(stat.gid),
      links: Number(stat.nlink),
      identity: identityOf(stat),
    }
  } finally {
    closeSync(descriptor)
  }
}

/**
 * The blob id of an open file. The id names the size first, so a file that grows while it is read is read
 * again.
 */
function hashDescriptor(descriptor: number, size: number, hash: HashName): string {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1))
  for (let expected = size, round = 0; ; round++) {
    const digest = createHash(hash).update(`blob ${expected}\0`)
    let position = 0
    for (;;) {
      const count = readSync(descriptor, buffer, 0, buffer.length, position)
      if (count === 0) break
      digest.update(buffer.subarray(0, count))
      position += count
    }
    // A file that changes size again and again gets an id that matches nothing: it is certainly not what was
    // expected.
    if (position === expected || round === 3) return digest.digest('hex')
    expected = position
  }
}

/** The blob id of bytes in memory. */
export const blobHash = (bytes: Uint8Array, hash: HashName): string =>
  createHash(hash).update(`blob ${bytes.length}\0`).update(bytes).digest('hex')

/** Reads a file whose name is safe to use. Null when it is no regular file, or larger than `maxBytes`. */
export function readStanding(root: string, path: string, maxBytes: number): Buffer | null {
  const found = inParent(root, path, { makeMissing: false }, (parent) => ({
    kind: 'read' as const,
    bytes: readRegular(parent.file, maxBytes),
  }))
  return found.kind === 'read' ? found.bytes : null
}

function readRegular(file: string, maxBytes: number): Buffer | null {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() || stat.size > maxBytes) return null
    const bytes = Buffer.alloc(stat.size)
    const count = readSync(descriptor, bytes, 0, stat.size, 0)
    return bytes.subarray(0, count)
  } finally {
    closeSync(descriptor)
  }
}

/** The bytes of a regular file of the work tree, of any size, piece by piece; each piece only until the next. None when it is no such file. */
export function* piecesOf(root: string, path: string): Generator<Uint8Array> {
  const found = inParent(root, path, { makeMissing: false }, (parent) => ({
    kind: 'opened' as const,
    descriptor: openSync(parent.file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  }))
  if (found.kind !== 'opened') return
  const { descriptor } = found
  try {
    if (!fstatSync(descriptor).isFile()) return
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    for (;;) {
      const count = readSync(descriptor, buffer, 0, buffer.length, null)
      if (count === 0) return
      yield buffer.subarray(0, count)
    }
  } finally {
    closeSync(descriptor)
  }
}

/** Names in a directory of the work tree; null when it is none, or a link stands among its parents. */
export function namesAt(root: string, path: string): readonly string[] | null {
  const found = inParent(root, path, { makeMissing: false }, (parent) => ({
    kind: 'names' as const,
    names: lstatSync(parent.file, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(parent.file) : null,
  }))
  return found.kind === 'names' ? found.names : null
}
