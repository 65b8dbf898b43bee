import { join } from 'node:path'
import type { CommitId } from '../model/ids.ts'
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
 * Writes one pack of exactly these objects, as far as the store's alternate does not hold them.
 *
 * @returns Its name, `pack-<hash>`; null when nothing was left to write.
 */
export async function packThese(store: GitDoor, objects: readonly PackedObject[]): Promise<string | null> {
  if (objects.length === 0) return null
  return pack(store, [], objects.map(({ id, name }) => `${id} ${name}\n`).join(''))
}

/**
 * Writes one pack of everything in the store that its refs, its work trees and `also` lead to, but for what is in kept packs and in the
 * packs named. What is missing is passed over: the user's repository may have dropped it.
 *
 * @param options.ends - Commits whose history is the user's: it is not walked.
 */
export async function packReachable(
  store: GitDoor,
  options: {
    readonly also: readonly string[]
    readonly besides: readonly string[]
    /** A file with commits, in the form of git's own `shallow`. */
    readonly ends: string
  },
): Promise<string | null> {
  const roots = ['--revs', '--all', '--indexed-objects', '--honor-pack-keep']
  const left = options.besides.map((name) => `--keep-pack=${name}.pack`)
  const input = options.also.map((id) => `${id}\n`).join('')
  return pack(store, [...roots, '--missing=allow-any', ...left], input, { GIT_SHALLOW_FILE: options.ends })
}

async function pack(
  store: GitDoor,
  how: readonly string[],
  input: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  const common = ['-q', '--local', '--non-empty', '--delta-base-offset', '--threads=1']
  const result = await git(store, {
    args: ['pack-objects', ...common, ...how, join(packDirectory(store), 'pack')],
    input,
    env,
    timeoutMs: PACK_TIMEOUT_MS,
  })
  const hash = result.stdout.toString('latin1').trim()
  return hash === '' ? null : `pack-${hash}`
}

/** Takes into the store what a commit of another object directory leads to, but for what the base leads to. */
export async function packSince(
  store: GitDoor,
  { from, to, objects }: { readonly from: CommitId; readonly to: CommitId; readonly objects: string },
): Promise<void> {
  await git(store, {
    args: ['pack-objects', '-q', '--non-empty', '--revs', join(packDirectory(store), 'pack')],
    input: `${to}\n^${from}\n`,
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
    okCodes: [0, 128],
  })
}

/** Ids of the objects in a pack, from its index. */
export async function objectsIn(store: GitDoor, index: Buffer): Promise<readonly string[]> {
  const result = await git(store, { args: ['show-index'], input: index })
  return result.stdout
    .toString('latin1')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
}

/** Puts all refs of the store into one file, and removes loose objects that a pack holds. */
export async function foldRefsAndLoose(store: GitDoor): Promise<void> {
  await git(store, { args: ['pack-refs', '--all'] })
  await git(store, { args: ['prune-packed', '-q'] })
}
