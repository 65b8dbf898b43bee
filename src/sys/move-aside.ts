import { chmodSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { inParent } from './held-directory.ts'
import { type BytePath, textOfBytes } from './walk-tree.ts'

const under = (root: string, path: BytePath): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])

/** A tree that is moved again under the same name stands beside the first. */
const NAMES_MAX = 1_000

/**
 * Moves whatever stands at a path of a tree, a directory with all it holds, to the same path in a directory of galley's own on the same device.
 * Goes through no link, opens up directories that their owner closed, and overwrites nothing.
 *
 * @param as - The path that it gets there.
 * @returns false if nothing stands there any more.
 */
export function moveIntoDirectory(root: string, path: BytePath, directory: string, as = path): boolean {
  const plain = path.replace(/\/$/, '')
  const parent = dirname(as)
  mkdirSync(parent === '.' ? directory : under(directory, parent), { recursive: true, mode: 0o700 })
  const target = freeName(under(directory, as.replace(/\/$/, '')))
  const text = textOfBytes(plain)
  if (text === null) return rename(under(root, plain), target)
  const moved = inParent(root, text, { makeMissing: false }, ({ file }) => rename(Buffer.from(file), target))
  return moved === true
}

function freeName(target: Buffer): Buffer {
  for (let n = 2, name = target; n <= NAMES_MAX; n++) {
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name
    name = Buffer.concat([target, Buffer.from(`~${n}`)])
  }
  throw new Error(`${target} stands there ${NAMES_MAX} times`)
}

function rename(from: Buffer, to: Buffer): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EPERM') throw error
  }
  // Either the directory above is closed, or the directory itself: its `..` is written.
  const above = from.subarray(0, from.lastIndexOf('/'))
  // A held directory is reached by a link of the system's.
  const isHeld = above.toString('latin1').startsWith('/proc/self/fd/')
  if (isHeld || lstatSync(above).isDirectory()) chmodSync(above, 0o700)
  if (lstatSync(from).isDirectory()) chmodSync(from, 0o700)
  renameSync(from, to)
  return true
}
