import { join } from 'node:path'
import { findRelation } from '../git/ancestry.ts'
import { commitTree } from '../git/commit-tree.ts'
import type { Repository } from '../git/open-repository.ts'
import { listRefs, type RefRow, type RefUpdate, resolveCommit, updateRefs } from '../git/refs.ts'
import { type CommitId, isZeroId, type TreeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { moveIntoDirectory } from '../sys/move-aside.ts'
import { isThere } from '../sys/quick-files.ts'
import type { BytePath } from '../sys/walk-tree.ts'
import { noteLeft } from './left-since.ts'
import type { Store } from './open-store.ts'
import { scratchHome } from './scratch.ts'

/** Work of a run that did not become part of a change: commits under refs, files in a folder. Kept for `LEFT_DAYS`. */
export const LEFT_PREFIX = 'refs/galley/left/'
export const LEFT_DAYS = 30

export const leftRef = (run: string, name: string): string => `${LEFT_PREFIX}${run}/${name}`
/** The run that a ref was left by. */
export const runOfLeft = (ref: string): string => ref.slice(LEFT_PREFIX.length).split('/')[0] ?? ''
export const leftDirectory = (repository: Repository, run: string): string =>
  join(scratchHome(repository), `left-${run}`)

/** Keeps what stood in a run's tree as a commit of the store, with the run's own last commit as its parent. */
export async function keepTree(
  store: Store,
  run: string,
  work: { readonly tree: TreeId; readonly parent: CommitId },
  who: Person,
): Promise<CommitId> {
  const message = `What the run ${run} left\n`
  const facts = { base: work.parent, author: who, committer: who, message }
  const commit = await commitTree(store.door, work.tree, facts)
  await noteLeft(store, run)
  await updateRefs(store.door, [{ ref: leftRef(run, 'work'), expected: null, next: commit }], 'galley: left')
  return commit
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
