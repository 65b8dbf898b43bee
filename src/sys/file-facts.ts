import { realpathSync, statSync } from 'node:fs'
import { isAbsent } from '../model/errno.ts'

/** The true place of a file, and when it was last written, in seconds since the epoch; null = it is not there. Follows links. */
export function fileFacts(
  path: string,
): { readonly realPath: string; readonly modifiedSeconds: number } | null {
  try {
    return { realPath: realpathSync(path), modifiedSeconds: statSync(path).mtimeMs / 1000 }
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** Another text whenever the file has been written or replaced; `-` while it cannot be looked at. Follows links. */
export function fileStamp(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return '-'
  }
}
