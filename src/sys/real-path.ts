import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../model/errno.ts'

/** The path with every link on the way resolved; what does not exist yet is taken as it is named. */
export async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    return join(await realPath(dirname(path)), basename(path))
  }
}
