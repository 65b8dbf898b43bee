import { closeSync, ftruncateSync, lstatSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { randomName } from './clock.ts'
import { readPlainFile, standsAt } from './plain-file.ts'

/**
 * Puts a file of galley's own in place as a whole, without waiting for the device: for what can be made again, in a tree
 * whose state is not believed after a power cut. Mode 0600. Of several writers at once, the last one's content stands.
 */
export async function replaceQuickly(file: string, bytes: Uint8Array | string): Promise<void> {
  const passing = `${file}.${randomName()}`
  await writeFile(passing, bytes, { mode: 0o600 })
  await rename(passing, file)
}

/** Whether anything stands at a path; a link counts, wherever it leads. */
export const isThere = (path: string): boolean => standsAt(path) !== 'absent'

/** Whether a path and the two directories above it are directories and no links. */
export function isRealDirectory(path: string): boolean {
  return [path, dirname(path), dirname(dirname(path))].every((part) => standsAt(part) === 'directory')
}

/** Reads a file of galley's own at once; null when there is none. Waits for no pipe: what is no file reads as empty. */
export function readQuickly(file: string): Buffer | null {
  const bytes = readPlainFile(file)
  if (bytes === 'absent') return null
  return bytes === 'other' ? Buffer.alloc(0) : bytes
}

/** Puts a file in place whose content comes in parts. */
export function replaceWithParts(file: string, parts: readonly Buffer[]): void {
  const passing = `${file}.${randomName()}`
  const descriptor = openSync(passing, 'w', 0o600)
  try {
    writeParts(descriptor, parts)
  } finally {
    closeSync(descriptor)
  }
  renameSync(passing, file)
}

function writeParts(descriptor: number, parts: readonly Buffer[]): void {
  for (const part of parts) {
    for (let at = 0; at < part.length; ) at += writeSync(descriptor, part, at)
  }
}

/**
 * Writes ranges of a content that comes in parts over the same places of a file, and cuts the file where the content ends. Not in one
 * step: whoever is cut off here must not believe the file afterwards.
 */
export function overwriteRanges(
  file: string,
  parts: readonly Buffer[],
  ranges: readonly { readonly offset: number; readonly length: number }[],
): void {
  const descriptor = openSync(file, 'r+')
  try {
    for (const { offset, length } of ranges) writeRange(descriptor, parts, offset, offset + length)
    ftruncateSync(
      descriptor,
      parts.reduce((sum, part) => sum + part.length, 0),
    )
  } finally {
    closeSync(descriptor)
  }
}

function writeRange(descriptor: number, parts: readonly Buffer[], from: number, to: number): void {
  let start = 0
  for (const part of parts) {
    const [first, last] = [Math.max(from, start), Math.min(to, start + part.length)]
    for (let at = first; at < last; ) at += writeSync(descriptor, part, at - start, last - at, at)
    start += part.length
  }
}

/** Reads a file whose name anybody may have taken; null when there is none. What is no file (a link), or may not be read, counts as none. */
export function readIfFile(file: string): Buffer | null {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat?.isFile() !== true) return null
  try {
    return readFileSync(file)
  } catch (error) {
    if (errorCode(error) === 'EACCES' || errorCode(error) === 'ENOENT') return null
    throw error
  }
}
