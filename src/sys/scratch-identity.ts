import { lstat, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { absentAsNull } from '../model/errno.ts'

/**
 * Whether `path` is a full tree of galley's: a real directory, no link on its last three parts, that `view` names as its own. What git
 * repository it has is the word of whoever works there.
 */
export async function isFullTree(path: string, view: string): Promise<boolean> {
  for (const part of [path, dirname(path), dirname(dirname(path)), view]) {
    const found = await lstat(part).catch(absentAsNull)
    if (found === null || !found.isDirectory()) return false
  }
  const named = await readText(join(view, 'gitdir'))
  return named !== null && (await real(dirname(named.trim()))) === (await real(path))
}

/**
 * Whether `path` is a real directory, no link on its last three parts, whose `.git` and whose registration in `gitDir` name each
 * other. Whatever writes into a scratch tree asks this first: a link in its place would lead into files of the user's.
 */
export async function isScratchTree(path: string, gitDir: string): Promise<boolean> {
  for (const part of [path, dirname(path), dirname(dirname(path))]) {
    const found = await lstat(part).catch(absentAsNull)
    if (found === null || !found.isDirectory()) return false
  }
  const pointer = await lstat(join(path, '.git')).catch(absentAsNull)
  if (pointer === null || !pointer.isFile()) return false
  const [named, back] = await Promise.all([readText(join(path, '.git')), readText(join(gitDir, 'gitdir'))])
  if (named === null || back === null) return false
  const [ours, theirs] = await Promise.all([real(gitDir), real(named.replace(/^gitdir: /, () => '').trim())])
  return ours !== null && ours === theirs && (await real(dirname(back.trim()))) === (await real(path))
}

const readText = (file: string): Promise<string | null> => readFile(file, 'utf8').catch(absentAsNull)

const real = (path: string): Promise<string | null> => realpath(path).catch(absentAsNull)
