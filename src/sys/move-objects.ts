import { chmodSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from './durable-files.ts'

/**
 * Gives objects that waited in a folder their places in an object store on the same device: every directory that is
 * needed first, then the files, of a pack its index last. Nothing that is there already is changed, since an object's
 * name is its content. May be repeated.
 */
export function moveObjects(from: string, to: string): void {
  const directories = readdirSync(from).filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name))
  for (const name of directories) makeAlike(join(from, name), join(to, name))
  for (const name of directories) {
    const files = readdirSync(join(from, name)).filter((file) => !file.startsWith('tmp_'))
    for (const file of [...files].sort(indexLast)) renameSync(join(from, name, file), join(to, name, file))
  }
}

const isIndex = (file: string): boolean => file.endsWith('.idx')
const indexLast = (a: string, b: string): number => Number(isIndex(a)) - Number(isIndex(b))

/** Makes the directory with the permissions that git gave its like, unless it is there. */
function makeAlike(model: string, directory: string): void {
  try {
    mkdirSync(directory)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return
  }
  const mode = statSync(model).mode & 0o7777
  if ((statSync(directory).mode & 0o7777) !== mode) chmodSync(directory, mode)
}
