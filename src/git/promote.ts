import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { type CommitId, commitId } from '../model/ids.ts'
import { makeDirectories } from '../sys/directories.ts'
import { deviceOf } from '../sys/stage-file.ts'
import { type GitDoor, git } from './door.ts'
import { objectDirectories } from './object-directories.ts'

/**
 * Fewer objects become loose ones, more of them one pack. git's own fetch.unpackLimit is 100, without waiting
 * for the device; waiting for 53 loose objects took three times as long here as for one pack of them.
 */
const UNPACK_LIMIT = 32

/** No index is loaded: that would cost as much as the repository is large. */
const NO_INDEX = { GIT_INDEX_FILE: '/nonexistent' }

export interface NewObjects {
  /**
   * Ids of commits, trees and blobs that are in `after` and not in `before`, as far as their trees differ.
   */
  readonly ids: readonly string[]
  /** The commits among them, newest first. */
  readonly commits: readonly CommitId[]
}

/**
 * Lists what `after` has and `before` has not: the commits between them, their root trees, and every tree and
 * blob that differs from a parent's. One process, no index; cost by the size of the differences.
 */
export async function newObjects(
  store: GitDoor,
  before: CommitId | null,
  after: CommitId,
): Promise<NewObjects> {
  const range = before === null ? [after] : [after, `^${before}`]
  const format = ['--format=%x00%H %T', '-m', '-r', '-t', '--raw', '-z', '--no-abbrev', '--no-renames']
  const args = ['-c', 'log.showRoot=true', '-c', 'log.showSignature=false', 'log', ...format, ...range, '--']
  const result = await git(store, { args, env: NO_INDEX })
  return parseLog(result.stdout.toString('utf8').split('\0'))
}

/** Field by field: the field after a change is its path, which may look like anything. */
function parseLog(fields: readonly string[]): NewObjects {
  const ids = new Set<string>()
  const commits: CommitId[] = []
  for (let i = 0; i < fields.length; i++) {
    const field = (fields[i] ?? '').trim()
    if (field.startsWith(':')) {
      const [, mode, , id] = field.split(' ')
      if (id !== undefined && mode !== '000000' && mode !== '160000') ids.add(id)
      i++
      continue
    }
    const [commit, tree] = field.split(' ')
    if (!commit || !tree) continue
    commits.push(commitId(commit))
    ids.add(commit).add(tree)
  }
  return { ids: [...ids], commits }
}

/** A folder in which objects wait beside the user's object store, as in a push that was received and is not accepted yet. */
export interface ObjectsAside {
  readonly directory: string
  /** `objects` of the user's common directory. */
  readonly objectsDir: string
}

/** Writes into the folder what neither it nor the user's object store holds. */
const writingAside = ({ directory, objectsDir }: ObjectsAside) => ({
  ...NO_INDEX,
  GIT_OBJECT_DIRECTORY: directory,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(objectsDir),
})

/** Sees what waits in the folder too. */
export const seeingAside = ({ directory }: ObjectsAside): Record<string, string> => ({
  GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(directory),
})

/**
 * Copies objects from the store into a folder aside, where the user's object store does not have them yet, and waits
 * until the device has them. Leaves loose objects or one pack there, and never starts a collection.
 */
export async function stageObjects(options: {
  readonly store: GitDoor
  readonly user: GitDoor
  readonly aside: ObjectsAside
  /** core.sharedRepository of the user, for the permissions of a new pack. */
  readonly sharedRepository: string | null
  readonly ids: readonly string[]
}): Promise<void> {
  const { store, user, aside, ids } = options
  if (ids.length === 0) return
  const input = `${ids.join('\n')}\n`
  // `--local`: what the user's store has already (the store's alternate) stays out.
  const local = isFar(store, aside) ? [] : ['--local']
  const pack = ['pack-objects', '-q', ...local, '--delta-base-offset', '--threads=1']
  if (ids.length >= UNPACK_LIMIT) {
    const shared =
      options.sharedRepository === null ? [] : ['-c', `core.sharedRepository=${options.sharedRepository}`]
    const durable = ['-c', 'core.fsync=pack,pack-metadata']
    const target = join(aside.directory, 'pack', 'pack')
    await makeDirectories(join(aside.directory, 'pack'))
    await git(store, { args: [...shared, ...durable, ...pack, target], input, env: packingEnv(store, aside) })
  } else {
    const packed = await git(store, { args: [...pack, '--stdout'], input, env: NO_INDEX })
    const durable = ['-c', 'core.fsync=loose-object', '-c', 'core.fsyncMethod=batch']
    await git(user, {
      args: [...durable, 'unpack-objects', '-q'],
      input: packed.stdout,
      env: writingAside(aside),
    })
  }
  await expectObjects(user, aside, ids)
}

const isFar = (store: GitDoor, aside: ObjectsAside): boolean =>
  deviceOf(join(store.gitDir, 'objects')) !== deviceOf(aside.directory)

/**
 * git makes a pack in the object store that it works in and then renames it. Where that is another device than the user's, it works in
 * the folder aside; nothing is `--local` there.
 */
const packingEnv = (store: GitDoor, aside: ObjectsAside): Record<string, string> =>
  isFar(store, aside)
    ? {
        ...NO_INDEX,
        GIT_OBJECT_DIRECTORY: aside.directory,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(join(store.gitDir, 'objects')),
      }
    : NO_INDEX

/**
 * With fsyncMethod=batch git 2.39 ends well even when the device was full and the objects did not get their
 * places.
 */
async function expectObjects(user: GitDoor, aside: ObjectsAside, ids: readonly string[]): Promise<void> {
  const args = ['cat-file', '--batch-check=%(objectname)']
  const env = { ...NO_INDEX, ...seeingAside(aside) }
  const { stdout } = await git(user, { args, input: `${ids.join('\n')}\n`, env })
  const missing = stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line.endsWith(' missing'))
  if (missing.length === 0) return
  refuse('io-error', `${missing.length} objects could not be written (is the device full?)`, {
    missing: missing.slice(0, 10).map((line) => line.split(' ')[0]),
  })
}

/**
 * Copies objects that the store sees only through its alternate into the store itself: the user's own
 * collection may drop them there.
 */
export async function keepInStore(store: GitDoor, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const pack = join(store.gitDir, 'objects', 'pack', 'pack')
  await git(store, { args: ['pack-objects', '-q', pack], input: `${ids.join('\n')}\n`, env: NO_INDEX })
}

/** Writes blobs aside, as `git add` would, and gives nothing back: the caller knows their ids. */
export async function writeBlobsAside(
  user: GitDoor,
  aside: ObjectsAside,
  blobs: Iterable<Uint8Array>,
): Promise<void> {
  const durable = ['-c', 'core.fsync=loose-object']
  for (const bytes of blobs) {
    const args = [...durable, 'hash-object', '-w', '--no-filters', '--stdin']
    await git(user, { args, input: bytes, env: writingAside(aside) })
  }
}
