import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'

/** Files of an object store that somebody else wrote. Links, pipes and names that git would not use are none of them. */
export interface ObjectFiles {
  /** Ids of the objects that have a file of their own. */
  readonly loose: readonly string[]
  /** Names of packs, in `pack/`. */
  readonly packs: readonly PackFile[]
  /** What stands there and cannot be taken for either. */
  readonly others: readonly string[]
}

export interface PackFile {
  readonly name: string
  readonly bytes: number
}

/** Names in a directory that somebody else may have replaced: none for what is no directory, or cannot be listed. */
export function namesInPlace(directory: string): readonly string[] {
  try {
    return isDirectory(directory) ? readdirSync(directory) : []
  } catch {
    return []
  }
}

/** Lists the object files of a directory. Reads names alone, and never where `info/alternates` points. */
export function objectFilesIn(directory: string): ObjectFiles {
  const loose: string[] = []
  const packs: PackFile[] = []
  const others: string[] = []
  for (const name of namesInPlace(directory)) {
    const place = join(directory, name)
    if (/^[0-9a-f]{2}$/.test(name) && isDirectory(place)) {
      for (const rest of namesInPlace(place)) {
        if (/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(rest)) loose.push(name + rest)
        else if (!rest.startsWith('tmp_obj_')) others.push(`${name}/${rest}`)
      }
    } else if (name === 'pack' && isDirectory(place)) {
      for (const file of namesInPlace(place).filter((n) => n.endsWith('.pack'))) {
        const stat = lstatSync(join(place, file))
        if (stat.isFile()) packs.push({ name: file, bytes: stat.size })
        else others.push(`pack/${file}`)
      }
    } else if (name !== 'info' && name !== 'pack') others.push(name)
  }
  return { loose, packs, others }
}

const isDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

export interface RawObject {
  readonly type: 'blob' | 'tree' | 'commit' | 'tag'
  readonly content: Buffer
}

/** Reads an object's own file. Null for what is no file, is not whole, or is larger than asked for. Whether its name is right is not looked at. */
export function readLooseObject(directory: string, id: string, maxBytes: number): RawObject | null {
  try {
    const bytes = readRegular(join(directory, id.slice(0, 2), id.slice(2)), maxBytes)
    if (bytes === null) return null
    const whole = inflateSync(bytes, { maxOutputLength: maxBytes })
    const end = whole.indexOf(0)
    const [, type, size] =
      /^(blob|tree|commit|tag) (\d{1,15})$/.exec(whole.toString('latin1', 0, Math.min(end, 32))) ?? []
    const content = whole.subarray(end + 1)
    return type === undefined || Number(size) !== content.length
      ? null
      : { type: type as RawObject['type'], content }
  } catch {
    return null
  }
}

function readRegular(file: string, maxBytes: number): Buffer | null {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(descriptor)
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(descriptor) : null
  } finally {
    closeSync(descriptor)
  }
}
