import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { makeDirectories } from './directories.ts'

/** Moves a file of galley's own, making the directory that it goes to. False when it is not there. */
export async function moveFile(from: string, to: string): Promise<boolean> {
  await makeDirectories(dirname(to))
  return rename(from, to).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'ENOENT') return false
      throw error
    },
  )
}
