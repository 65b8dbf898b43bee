import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
} from 'node:fs'
import { errorCode, isAbsent } from '../model/errno.ts'

/** What has a name; a link counts as one, wherever it leads. */
export type Entry = 'absent' | 'directory' | 'file' | 'link' | 'other'

export function standsAt(path: string): Entry {
  const stat = lstatOrNull(path)
  if (stat === null) return 'absent'
  if (stat.isDirectory()) return 'directory'
  if (stat.isSymbolicLink()) return 'link'
  return stat.isFile() ? 'file' : 'other'
}

function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** Whether anything is at a path: something in a directory, or what is no directory. */
export function holdsAnything(path: string): boolean {
  const found = standsAt(path)
  return found === 'directory' ? readdirSync(path).length > 0 : found !== 'absent'
}

/** Reads a file whose name anybody may have taken; `other` for what is no file (a directory, a pipe, a socket). Never waits. */
export function readPlainFile(file: string): Buffer | 'absent' | 'other' {
  let descriptor: number
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (isAbsent(error)) return 'absent'
    if (['ENXIO', 'ELOOP', 'EISDIR', 'ENODEV'].includes(errorCode(error))) return 'other'
    throw error
  }
  try {
    return fstatSync(descriptor).isFile() ? readFileSync(descriptor) : 'other'
  } finally {
    closeSync(descriptor)
  }
}
