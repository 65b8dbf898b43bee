import { join } from 'node:path'
import { type CommitId, commitId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { personVariables } from './commit-tree.ts'
import { type GitDoor, git, withoutIndex } from './door.ts'
import { objectDirectories } from './object-directories.ts'

/** A folder of objects that belong to nobody yet, with the object stores that they build on. */
export interface Quarantine {
  /** Sees the folder and the store. */
  readonly door: GitDoor
  /** Sees the folder alone. */
  readonly alone: GitDoor
  readonly directory: string
}

/** Makes the doors of a quarantine; the folder is the caller's to make and to remove. */
export function quarantineAt(store: GitDoor, directory: string): Quarantine {
  const own = { ...withoutIndex(store), GIT_OBJECT_DIRECTORY: directory }
  const above = { GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(join(store.gitDir, 'objects')) }
  return {
    door: { ...store, extraEnv: { ...store.extraEnv, ...own, ...above } },
    alone: { ...store, extraEnv: { ...store.extraEnv, ...own } },
    directory,
  }
}

/** An old or a long history; what git is given is bounded before. */
const TIMEOUT_MS = 10 * 60_000

/** Takes a pack in, if every object in it is sound; looks at no links between them. */
export async function admitPack({ door }: Quarantine, pack: Buffer): Promise<boolean> {
  const args = ['index-pack', '--stdin', '--fsck-objects']
  return (await git(door, { args, input: pack, okCodes: [0, 1, 128], timeoutMs: TIMEOUT_MS })).exitCode === 0
}

/** Takes in a pack whose file lies in the quarantine's `pack/` already. */
export async function admitPackFile({ door, directory }: Quarantine, name: string): Promise<boolean> {
  const args = ['index-pack', '--fsck-objects', join(directory, 'pack', name)]
  return (await git(door, { args, okCodes: [0, 1, 128], timeoutMs: TIMEOUT_MS })).exitCode === 0
}

/** Writes what can be read of a pack as objects of their own; they have not been looked at. */
export async function unpackReadable({ door }: Quarantine, pack: Buffer | string): Promise<void> {
  const args = ['unpack-objects', '-r', '-q']
  await git(door, { args, input: pack, okCodes: [0, 1, 128], timeoutMs: TIMEOUT_MS })
}

export interface HeldObject {
  readonly id: string
  readonly type: 'blob' | 'tree' | 'commit' | 'tag'
}

/** Everything that the folder itself holds. */
export async function heldObjects({ alone }: Quarantine): Promise<readonly HeldObject[]> {
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)', '--batch-all-objects', '--unordered']
  const { stdout } = await git(alone, { args })
  return linesOf(stdout).map((line) => {
    const [id, type] = line.split(' ')
    return { id: id ?? '', type: type as HeldObject['type'] }
  })
}

/** Of some ids, those that a repository does not hold. */
export async function missingFrom(door: GitDoor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const args = ['cat-file', '--batch-check=%(objectname)']
  const { stdout } = await git(door, { args, input: `${ids.join('\n')}\n`, env: withoutIndex(door) })
  return new Set(
    linesOf(stdout).flatMap((line) => (line.endsWith(' missing') ? [line.slice(0, -' missing'.length)] : [])),
  )
}

/** Each commit with its parents, as the commits say. */
export async function parentsOf(
  { door }: Quarantine,
  commits: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (commits.length === 0) return new Map()
  const args = ['rev-list', '--no-walk=unsorted', '--parents', '--stdin']
  const { stdout } = await git(door, { args, input: `${commits.join('\n')}\n` })
  return new Map(
    linesOf(stdout).map((line) => {
      const [id = '', ...parents] = line.split(' ')
      return [id, parents]
    }),
  )
}

/**
 * Everything that some objects lead to, themselves included, and that some commits do not.
 *
 * @returns null, if a part of it is missing.
 */
export async function reachableFrom(
  { door }: Quarantine,
  roots: readonly string[],
  known: readonly string[],
): Promise<ReadonlySet<string> | null> {
  if (roots.length === 0) return new Set()
  const input = [...roots, ...known.map((id) => `^${id}`)].join('\n')
  const result = await git(door, {
    args: ['rev-list', '--objects', '--no-object-names', '--stdin'],
    input: `${input}\n`,
    okCodes: [0, 1, 128],
    timeoutMs: TIMEOUT_MS,
  })
  return result.exitCode === 0 ? new Set(linesOf(result.stdout)) : null
}

/** Makes a tree that holds some objects under their own ids. */
export async function treeOfObjects({ door }: Quarantine, objects: readonly HeldObject[]): Promise<string> {
  const lines = objects.map(({ id, type }) =>
    type === 'tree' ? `040000 tree ${id}\t${id}` : `100644 blob ${id}\t${id}`,
  )
  const result = await git(door, { args: ['mktree'], input: lines.map((line) => `${line}\n`).join('') })
  return result.stdout.toString('latin1').trim()
}

const linesOf = (stdout: Buffer): readonly string[] =>
  stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')

/** Makes a commit of galley's own whose parents are the commits given. */
export async function gatherCommits(
  { door }: Quarantine,
  tree: string,
  parents: readonly string[],
  facts: { readonly who: Person; readonly message: string },
): Promise<CommitId> {
  const result = await git(door, {
    args: ['commit-tree', tree, ...parents.flatMap((id) => ['-p', id]), '-F', '-'],
    input: facts.message,
    env: personVariables(facts.who, facts.who),
  })
  return commitId(result.stdout.toString('latin1').trim())
}
