import { join } from 'node:path'
import { type GitDoor, git } from './door.ts'

/** A long work in a large store. */
const PACK_TIMEOUT_MS = 60 * 60_000

export interface PackedObject {
  readonly id: string
  /** Objects with like names are tried as differences of one another. */
  readonly name: string
}

export const packDirectory = (store: GitDoor): string => join(store.gitDir, 'objects', 'pack')

/**
 * Writes one pack of exactly these objects.
 *
 * @param options.local - Leaves out what the store's alternate, the user's repository, holds.
 * @returns Its name, `pack-<hash>`; null when nothing was left to write.
 */
export async function packThese(
  store: GitDoor,
  objects: readonly PackedObject[],
  options: { readonly local: boolean },
): Promise<string | null> {
  if (objects.length === 0) return null
  const how = options.local ? ['--local'] : []
  return pack(store, how, objects.map(({ id, name }) => `${id} ${name}\n`).join(''))
}

/** Writes one pack of all that some packs of the store and its loose objects hold, whatever its alternate holds too. */
export async function joinPacks(store: GitDoor, names: readonly string[]): Promise<string | null> {
  const input = names.map((name) => `${name}.pack\n`).join('')
  return pack(store, ['--stdin-packs', '--unpacked'], input)
}

/**
 * Writes one pack of everything that some objects lead to and that the store's alternate does not hold, but for what is in kept packs.
 * What is missing below them is passed over: the user's repository may have dropped it.
 *
 * @param options.from - Ids of objects that are there, and of all that the refs lead to.
 * @param options.ends - Commits whose history is the user's: it is not walked.
 */
export async function packReachable(
  store: GitDoor,
  options: {
    readonly from: readonly string[]
    /** A file with commits, in the form of git's own `shallow`. */
    readonly ends: string
  },
): Promise<string | null> {
  const how = ['--local', '--revs', '--indexed-objects', '--honor-pack-keep', '--missing=allow-any']
  const input = options.from.map((id) => `${id}\n`).join('')
  return pack(store, how, input, { GIT_SHALLOW_FILE: options.ends })
}

async function pack(
  store: GitDoor,
  how: readonly string[],
  input: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  const common = ['-q', '--non-empty', '--delta-base-offset', '--threads=1']
  const result = await git(store, {
    args: ['pack-objects', ...common, ...how, join(packDirectory(store), 'pack')],
    input,
    env,
    timeoutMs: PACK_TIMEOUT_MS,
  })
  const hash = result.stdout.toString('latin1').trim()
  return hash === '' ? null : `pack-${hash}`
}

/** Ids of the objects in a pack, from its index. */
export async function objectsIn(store: GitDoor, index: Buffer): Promise<readonly string[]> {
  const result = await git(store, { args: ['show-index'], input: index })
  return result.stdout
    .toString('latin1')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
}

/** Puts all refs of the store into one file. */
export async function foldRefs(store: GitDoor): Promise<void> {
  await git(store, { args: ['pack-refs', '--all'] })
}
