import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { listDirectory } from './trees.ts'

/** The path with every link on the way resolved; what does not exist yet is taken as it is named. */
export async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    return join(await realPath(dirname(path)), basename(path))
  }
}

/** Where the names in a directory really lie, links followed; none where there is no directory, and without links that lead nowhere. */
export async function realPathsIn(directory: string): Promise<readonly string[]> {
  const names = await listDirectory(directory)
  const found = await Promise.allSettled(names.map((name) => realpath(join(directory, name))))
  return found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}
