import { constants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { absentAsNull } from '../model/errno.ts'

/** What stands at a path of the work tree, without following any link on the way or at the end. */
export type WorkTreeFile =
  | { readonly kind: 'absent' /** Index of the first part that is missing. */; readonly missingFrom: number }
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly executable: boolean; readonly links: number }
  /** `target` is the link's text where it stands at the very path; null where it is among the parents. */
  | { readonly kind: 'symlink'; readonly at: string; readonly target: Buffer | null }
  | { readonly kind: 'directory' }
  | { readonly kind: 'special' }
  /** A part before the last is no directory. */
  | { readonly kind: 'blocked'; readonly by: string }
  /** The path lies in another repository, a submodule or a linked work tree that stands inside this one. */
  | { readonly kind: 'nested'; readonly repository: string }
  | { readonly kind: 'too-large'; readonly size: number }

/**
 * Reads one file of the work tree: the bytes as they stand, and whether it is executable.
 *
 * Every part of the path is looked at with `lstat`; the file itself is opened without following a link and without
 * waiting (a FIFO must not hang us), and what was opened is checked again. Reading has no side effect.
 *
 * @param path - Validated repository path.
 * @param maxBytes - A larger file is not read.
 */
export async function readWorkTreeFile(root: string, path: string, maxBytes: number): Promise<WorkTreeFile> {
  const parts = path.split('/')
  let at = root
  for (const [i, part] of parts.entries()) {
    at = join(at, part)
    const found = await lstat(at).catch(absentAsNull)
    if (found === null) return { kind: 'absent', missingFrom: i }
    const isLast = i === parts.length - 1
    if (found.isSymbolicLink()) {
      const target = isLast ? await readlink(at, { encoding: 'buffer' }) : null
      return { kind: 'symlink', at: parts.slice(0, i + 1).join('/'), target }
    }
    if (!isLast && !found.isDirectory()) return { kind: 'blocked', by: parts.slice(0, i + 1).join('/') }
    if (!isLast && (await lstat(join(at, '.git')).catch(absentAsNull)) !== null) {
      return { kind: 'nested', repository: parts.slice(0, i + 1).join('/') }
    }
    if (isLast && found.isDirectory()) return { kind: 'directory' }
    if (isLast && !found.isFile()) return { kind: 'special' }
  }
  return readRegularFile(at, maxBytes)
}

async function readRegularFile(file: string, maxBytes: number): Promise<WorkTreeFile> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    absentAsNull,
  )
  if (handle === null) return { kind: 'absent', missingFrom: 0 }
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return { kind: 'special' }
    if (stat.size > maxBytes) return { kind: 'too-large', size: stat.size }
    const bytes = await handle.readFile()
    return { kind: 'file', bytes, executable: (stat.mode & 0o100) !== 0, links: stat.nlink }
  } finally {
    await handle.close()
  }
}
