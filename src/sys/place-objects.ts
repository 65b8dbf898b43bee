import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../model/errno.ts'
import { removeDirectoryIfEmpty } from './directories.ts'
import { NO_LINKS } from './swap-file.ts'

/**
 * Gives objects that waited in a folder their places in an object store on the same device: every directory that is
 * needed first, then the files, of a pack its index last. Nothing that is there already is changed, since an object's
 * name is its content. May be repeated. When there is no room for the directories, nothing is left.
 *
 * Where the file system has links they stay in the folder too, out of the reach of a collection, until the caller removes it.
 */
export function placeObjects(from: string, to: string): void {
  const directories = readdirSync(from).filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name))
  makeDirectories(directories.map((name) => ({ model: join(from, name), directory: join(to, name) })))
  for (const name of directories) {
    const files = readdirSync(join(from, name)).filter((file) => !file.startsWith('tmp_'))
    for (const file of [...files].sort(indexLast)) placeNew(join(from, name, file), join(to, name, file))
  }
}

/** A link never overwrites. Where there are none, what stands there is looked for a moment before. */
function placeNew(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return
    if (!NO_LINKS.includes(errorCode(error))) throw error
    renameSync(from, to)
  }
}

const isIndex = (file: string): boolean => file.endsWith('.idx')
const indexLast = (a: string, b: string): number => Number(isIndex(a)) - Number(isIndex(b))

interface Directory {
  /** Made by git with the permissions that its like shall have. */
  readonly model: string
  readonly directory: string
}

function makeDirectories(all: readonly Directory[]): void {
  const made: string[] = []
  try {
    for (const one of all) {
      if (makeAlike(one)) made.push(one.directory)
    }
  } catch (error) {
    // Should somebody have put something in meanwhile, it stays.
    for (const directory of made) removeDirectoryIfEmpty(directory)
    throw error
  }
}

/** False when it is there already. */
function makeAlike({ model, directory }: Directory): boolean {
  try {
    mkdirSync(directory)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !statSync(directory).isDirectory()) throw error
    return false
  }
  const mode = statSync(model).mode & 0o7777
  if ((statSync(directory).mode & 0o7777) !== mode) chmodSync(directory, mode)
  return true
}
