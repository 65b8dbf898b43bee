import { chmodSync, closeSync, constants, lstatSync, openSync, readdirSync, type Stats } from 'node:fs'
import { errorCode } from '../model/errno.ts'

/**
 * A path below a root, one character for each of its bytes: a name that is not UTF-8 would be another one as text.
 *
 * @see textOfBytes
 */
export type BytePath = string

export const bytePath = (text: string): BytePath => Buffer.from(text, 'utf8').toString('latin1')

/** The path as text; null when its bytes are not UTF-8. */
export function textOfBytes(path: BytePath): string | null {
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : null
}

/** How a path reads in a message, whatever its bytes are. */
export const shownPath = (path: BytePath): string => Buffer.from(path, 'latin1').toString('utf8')

/** `special`: a pipe, a socket or a device. `closed`: a directory that cannot be listed. `directory`: one that was not entered. */
export type TreeKind = 'file' | 'link' | 'special' | 'closed' | 'directory'

export interface FoundEntry {
  readonly path: BytePath
  readonly kind: TreeKind
  readonly stat: Stats
}

/** What to do at a directory: list it, hand it over as one entry, or pass it over. */
export type AtDirectory = 'enter' | 'whole' | 'skip'

export interface WalkRequest {
  /** @param names - What it holds, as bytes. */
  readonly atDirectory: (path: BytePath, names: ReadonlySet<string>) => AtDirectory
  readonly found: (entry: FoundEntry) => void
}

/** Beyond these a directory counts as closed: nobody keeps work so deep, and each level costs a frame of the stack. */
const DEPTH_MAX = 2_000
/** The system takes no path of 4,096 bytes; from here on the walk goes on from a directory that is held open. */
const PATH_HELD_BYTES = 3_000

/**
 * Walks through a tree that somebody else wrote: follows no link, opens up directories that their owner closed, waits for no pipe. The root's own
 * `.git` is passed over, whatever it is.
 */
export function walkTree(root: string, request: WalkRequest): void {
  walk({ at: Buffer.from(root), path: '', depth: 0 }, request)
}

interface Place {
  /** Leads there for system calls. */
  readonly at: Buffer
  readonly path: BytePath
  readonly depth: number
}

const SLASH = Buffer.from('/')
const below = (at: Buffer, name: BytePath): Buffer => Buffer.concat([at, SLASH, Buffer.from(name, 'latin1')])

function walk(place: Place, request: WalkRequest): void {
  if (place.at.length <= PATH_HELD_BYTES || process.platform !== 'linux') {
    walkHere(place, request)
    return
  }
  const held = openSync(place.at, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    walkHere({ ...place, at: Buffer.from(`/proc/self/fd/${held}`) }, request)
  } finally {
    closeSync(held)
  }
}

function walkHere({ at, path, depth }: Place, request: WalkRequest): void {
  for (const name of namesOf(at)) {
    if (depth === 0 && name === '.git') continue
    const child = below(at, name)
    const stat = lstatSync(child, { throwIfNoEntry: false })
    if (stat === undefined) continue
    const childPath = path === '' ? name : `${path}/${name}`
    if (!stat.isDirectory()) request.found({ path: childPath, kind: kindOf(stat), stat })
    else lookInto({ at: child, path: childPath, depth: depth + 1 }, stat, request)
  }
}

function lookInto(place: Place, stat: Stats, request: WalkRequest): void {
  const { path, depth } = place
  if ((stat.mode & READS) !== READS) tryChange(place.at, stat.mode | 0o700)
  const names = depth > DEPTH_MAX ? null : tryNamesOf(place.at)
  const what = names === null ? 'closed' : request.atDirectory(path, new Set(names))
  if (what === 'enter') walk(place, request)
  else if (what !== 'skip') request.found({ path, kind: what === 'whole' ? 'directory' : what, stat })
}

function kindOf(stat: Stats): TreeKind {
  if (stat.isFile()) return 'file'
  return stat.isSymbolicLink() ? 'link' : 'special'
}

const namesOf = (at: Buffer): readonly string[] => readdirSync(at, 'latin1')

/** A directory is listed and gone into by these. */
const READS = 0o500

/** Null when it cannot be listed, even by its owner. */
function tryNamesOf(at: Buffer): readonly string[] | null {
  try {
    return namesOf(at)
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error
    return null
  }
}

function tryChange(at: Buffer, mode: number): void {
  try {
    chmodSync(at, mode & 0o7777)
  } catch {
    // Somebody else's: it counts as closed.
  }
}

/** Gives the owner of a directory every right on it; what is no directory stays as it is. */
export function openUpDirectory(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory() === true && (stat.mode & 0o700) !== 0o700)
    tryChange(Buffer.from(path), stat.mode | 0o700)
}

/** Gives the owner the right to read a directory and everything in it. Goes through no link. */
export function openUpTree(root: string): void {
  openUpDirectory(root)
  if (lstatSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return
  walkTree(root, {
    atDirectory: () => 'enter',
    found: ({ path, kind, stat }) => {
      if (kind === 'file' && (stat.mode & 0o400) === 0)
        tryChange(below(Buffer.from(root), path), stat.mode | 0o400)
    },
  })
}
