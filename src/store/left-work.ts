import { join } from 'node:path'
import { findRelation } from '../git/ancestry.ts'
import { commitTree } from '../git/commit-tree.ts'
import type { Repository } from '../git/open-repository.ts'
import { listRefs, type RefRow, type RefUpdate, resolveCommit, updateRefs } from '../git/refs.ts'
import { refuse } from '../model/error.ts'
import { type CommitId, isZeroId, type TreeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { moveIntoDirectory } from '../sys/move-aside.ts'
import { isThere } from '../sys/quick-files.ts'
import type { BytePath } from '../sys/walk-tree.ts'
import { noteLeft } from './left-since.ts'
import type { Store } from './open-store.ts'
import { scratchHome } from './scratch-home.ts'

/** Work of a run that did not become part of a change: commits under refs, files in a folder. Kept for `LEFT_DAYS`. */
export const LEFT_PREFIX = 'refs/galley/left/'
export const LEFT_DAYS = 30

export const leftRef = (run: string, name: string): string => `${LEFT_PREFIX}${run}/${name}`
/** The run that a ref was left by. */
export const runOfLeft = (ref: string): string => ref.slice(LEFT_PREFIX.length).split('/')[0] ?? ''
export const leftDirectory = (repository: Repository, run: string): string =>
  join(scratchHome(repository), `left-${run}`)

/** Commits the files that stood in a run's tree, with the run's own last commit as its parent. Makes no ref. */
export async function commitLeft(
  store: Store,
  run: string,
  work: { readonly tree: TreeId; readonly parent: CommitId },
  who: Person,
): Promise<CommitId> {
  const message = `What the run ${run} left\n`
  return commitTree(store.door, work.tree, { base: work.parent, author: who, committer: who, message })
}

/** What is to be kept, and what it is called among what the run left. */
export interface LeftObject {
  readonly name: string
  readonly id: string
}

/** A run that was collected twice has its names already. */
const NAMES_MAX = 50

/**
 * Keeps objects under refs of the run, from now on for `LEFT_DAYS`. A name that is taken by something else gets a number.
 *
 * @returns The refs.
 * @throws GalleyError `io-error`, where they cannot be made.
 */
export async function keepRefs(
  store: Store,
  run: string,
  objects: readonly LeftObject[],
): Promise<readonly string[]> {
  if (objects.length === 0) return []
  await noteLeft(store, run)
  const rows = await listRefs(store.door, `${LEFT_PREFIX}${run}/`)
  const there = new Map(rows.map((row) => [row.ref, row.object]))
  const refs = objects.map(({ name, id }) => {
    let ref = leftRef(run, name)
    for (let n = 2; n < NAMES_MAX && (there.get(ref) ?? id) !== id; n++) ref = leftRef(run, `${name}-${n}`)
    return { ref, id }
  })
  const updates = refs
    .filter(({ ref }) => !there.has(ref))
    .map(({ ref, id }): RefUpdate => ({ ref, expected: null, next: id }))
  if (updates.length > 0 && !(await updateRefs(store.door, updates, 'galley: left')))
    refuse('io-error', `the refs of what the run ${run} left could not be made`, { run })
  return refs.map(({ ref }) => ref)
}

/** Moves the repository of a run's tree into the run's folder, under a name by which git does not find it from there. */
export function keepRepository(repository: Repository, run: string, tree: string): string {
  const directory = leftDirectory(repository, run)
  moveIntoDirectory(tree, '.git', directory, 'git-directory')
  return join(directory, 'git-directory')
}

/** Moves what a run left beside its change into the run's folder, each under the path that it had. Null = the folder holds nothing. */
export function keepFiles(
  repository: Repository,
  run: string,
  tree: string,
  paths: readonly BytePath[],
): string | null {
  const directory = leftDirectory(repository, run)
  for (const path of paths) moveIntoDirectory(tree, path, directory)
  return isThere(directory) ? directory : null
}

/** Refs of the store that are none of galley's: what runs in scratch trees made them. */
export async function foreignRefs(store: Store): Promise<readonly RefRow[]> {
  const rows = await listRefs(store.door, 'refs/')
  return rows.filter((row) => !row.ref.startsWith('refs/galley/'))
}

/**
 * Takes refs away that a run made, such as branches, tags and stashes. What the run's last commit does not hold is kept under refs
 * of galley's.
 *
 * @returns The names under which something was kept.
 */
export async function clearForeignRefs(
  store: Store,
  run: string,
  rows: readonly RefRow[],
  head: CommitId | null,
): Promise<readonly string[]> {
  const kept: RefUpdate[] = []
  for (const row of rows) {
    const commit = await resolveCommit(store.door, row.object)
    if (commit === null || isZeroId(commit)) continue
    const isInWork = head !== null && (await findRelation(store.door, commit, head)) !== 'unrelated'
    if (!isInWork) kept.push({ ref: leftRef(run, `ref-${kept.length + 1}`), expected: null, next: commit })
  }
  if (kept.length > 0) await noteLeft(store, run)
  const gone = rows.map(({ ref, object }): RefUpdate => ({ ref, expected: object, next: null }))
  if (gone.length > 0) await updateRefs(store.door, [...kept, ...gone], 'galley: left by a run')
  return kept.map(({ ref }) => ref)
}
