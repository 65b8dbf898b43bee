import {
  closeSync,
  copyFileSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { errorCode } from '../model/errno.ts'

export interface FileSnapshot {
  /** null = there is no such file. */
  readonly bytes: Buffer | null
  readonly identity: string
}

/** Enough for the checksum that ends an index, in either object format. */
const TAIL_BYTES = 32

/**
 * The file that a name leads to: an index may be a link, and git then locks and replaces what it leads to.
 */
export function resolveFile(file: string): string {
  try {
    return realpathSync(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return file
    throw error
  }
}

/** Reads a file that is only ever replaced as a whole, with an identity that changes when it is. */
export function snapshotFile(file: string): FileSnapshot {
  return withOpenFile(file, (descriptor) => {
    const bytes = readFileSync(descriptor)
    return { bytes, identity: identityOf(descriptor) }
  })
}

/**
 * What `snapshotFile` would give as identity, without reading the file: device, inode, size, time of change
 * and last bytes (an index ends with its checksum). Times of the inode's own changes are left out: making a
 * link to it is one.
 */
export function identityOfFile(file: string): string {
  return withOpenFile(file, (descriptor) => ({ bytes: null, identity: identityOf(descriptor) })).identity
}

function withOpenFile(file: string, use: (descriptor: number) => FileSnapshot): FileSnapshot {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { bytes: null, identity: 'absent' }
    throw error
  }
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function identityOf(descriptor: number): string {
  const stat = fstatSync(descriptor, { bigint: true })
  const size = Number(stat.size)
  const tail = Buffer.alloc(Math.min(TAIL_BYTES, size))
  readSync(descriptor, tail, 0, tail.length, size - tail.length)
  return [stat.dev, stat.ino, stat.size, stat.mtimeNs, tail.toString('hex')].join(':')
}

/**
 * Gives a file a second name, or a copy with the same time of change where names cannot be added: git judges
 * the age of index entries by that time.
 *
 * @returns false if there is no such file.
 */
export function linkOrCopy(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errorCode(error)))
      throw error
  }
  copyFileSync(from, to)
  const { mtime, atime } = statSync(from)
  utimesSync(to, atime, mtime)
  return true
}

/** Writes parts of `bytes` over the same places of a file. */
export function overwriteParts(
  file: string,
  bytes: Buffer,
  parts: Iterable<{ readonly offset: number; readonly length: number }>,
): void {
  const descriptor = openSync(file, 'r+')
  try {
    for (const { offset, length } of parts) writeSync(descriptor, bytes, offset, length, offset)
  } finally {
    closeSync(descriptor)
  }
}
