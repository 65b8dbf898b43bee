import { constants, copyFileSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { errorCode } from '../model/errno.ts'
import { readPlainFile } from './plain-file.ts'

/** Writes a small file of galley's own; an older one of that name goes. */
export function writeNew(file: string, text: string): void {
  rmSync(file, { force: true })
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
}

/** Gives a file a second name unless that exists. False when it does. */
export function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errorCode(error)))
      throw error
  }
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

export type FileMatch = 'removed' | 'absent' | 'other'

/** Removes a file if it holds exactly this text. */
export function removeIfSame(file: string, text: string): FileMatch {
  const found = readPlainFile(file)
  if (found === 'absent') return 'absent'
  if (found === 'other' || found.toString('utf8') !== text) return 'other'
  rmSync(file, { force: true })
  return 'removed'
}

/** Puts a file in the place of another in one step, from another device too. */
export function replaceFile(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    copyFileSync(from, `${to}.galley`)
    renameSync(`${to}.galley`, to)
  }
}

/** Removes a file of galley's own, if it is there. */
export const removeFile = (file: string): void => rmSync(file, { force: true })

/** A lock file as it was seen. */
export interface SeenLock {
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly changedAtMs: number
  /** Device, inode and times: inode numbers alone are used again at once. */
  readonly identity: string
}

/** null = there is none, or something that is no file, and so nobody's that galley knows. Never waits. */
export function lookAtLock(file: string): SeenLock | null {
  try {
    const bytes = readPlainFile(file)
    if (bytes === 'absent' || bytes === 'other') return null
    const stat = statSync(file, { bigint: true })
    return {
      text: bytes.toString('utf8'),
      changedAtMs: Number(stat.mtimeMs),
      identity: `${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}`,
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Removes a lock if it is still the very file that was seen. */
export function removeUnchanged(file: string, seen: SeenLock): void {
  const now = lookAtLock(file)
  if (now?.identity === seen.identity && now.text === seen.text) rmSync(file, { force: true })
}

/** null = there is none, or it is no file. Never waits. */
export function readTextOrNull(file: string): string | null {
  const bytes = readPlainFile(file)
  return bytes === 'absent' || bytes === 'other' ? null : bytes.toString('utf8')
}
