import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { absentAsNull } from '../model/errno.ts'

export type OutsideFile =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  | { readonly kind: 'absent' }
  /** It lies in one of the directories that it must be outside of, by its real path. */
  | { readonly kind: 'inside'; readonly directory: string }
  | { readonly kind: 'too-large'; readonly size: number }

/**
 * Reads a file that must not lie in certain directories, such as a repository that others may write in. Links are followed
 * first: where the file really is counts.
 */
export async function readOutsideFile(
  file: string,
  outsideOf: readonly string[],
  maxBytes: number,
): Promise<OutsideFile> {
  const real = await realpath(file).catch(absentAsNull)
  if (real === null) return { kind: 'absent' }
  for (const directory of outsideOf) {
    const way = relative((await realpath(directory).catch(absentAsNull)) ?? directory, real)
    if (way === '' || (way !== '..' && !way.startsWith(`..${sep}`))) return { kind: 'inside', directory }
  }
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    absentAsNull,
  )
  if (handle === null) return { kind: 'absent' }
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return { kind: 'absent' }
    if (stat.size > maxBytes) return { kind: 'too-large', size: stat.size }
    return { kind: 'file', bytes: await handle.readFile() }
  } finally {
    await handle.close()
  }
}
