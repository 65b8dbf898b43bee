import { basename, dirname, join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { Repository } from '../git/open-repository.ts'
import { addScratchTree, checkOutScratch, isCleanAt, setCone } from '../git/scratch-tree.ts'
import { refuse } from '../model/error.ts'
import type { ChangeId, CommitId } from '../model/ids.ts'
import { isScratchTree } from '../sys/scratch-identity.ts'
import { removeTree } from '../sys/trees.ts'
import type { Store } from './open-store.ts'
import { ensureScratchHome, scratchHome } from './scratch-home.ts'
import { writeSmallTree } from './small-tree.ts'

/** A scratch tree of galley's, outside the user's repository. */
export interface ScratchTree {
  readonly path: string
  /** How galley's own git sees it: HEAD and index are in the store, where nothing that runs in the tree finds them. */
  readonly door: GitDoor & { readonly workTree: string }
  readonly form: 'small' | 'full'
}

/** Above this many directories the cone is lumped into parents: `sparse-checkout set` grows faster than linearly (GIT.md 1.1). */
const CONE_MAX_DIRECTORIES = 30

/** The index of galley's own view of a tree. */
export const viewIndex = ({ door }: Pick<ScratchTree, 'door'>): string => join(door.gitDir, 'index')

/** Where a change's scratch tree is, or would be. */
export const scratchPath = (repository: Repository, id: ChangeId, form: ScratchTree['form']): string =>
  join(scratchHome(repository), form === 'full' ? `${id}-full` : id)

/** The full tree of a change that `galley open` gives. */
export const openedTree = (repository: Repository, store: Store, id: ChangeId): ScratchTree =>
  treeOf(repository, store, id, 'full')

function treeOf(repository: Repository, store: Store, id: ChangeId, form: ScratchTree['form']): ScratchTree {
  const path = scratchPath(repository, id, form)
  const gitDir = join(store.door.gitDir, 'worktrees', basename(path))
  return { path, form, door: { ...store.door, gitDir, workTree: path, inherited: repository.door.inherited } }
}

/**
 * Makes the change's scratch tree in its small form, or moves the one it has to `commit`: the root's files and the touched directories
 * only, so that its cost does not follow the size of the repository.
 *
 * Leaves a registered work tree of the store, locked with a reason.
 */
export async function ensureScratch(
  repository: Repository,
  store: Store,
  reader: ObjectReader,
  request: { readonly id: ChangeId; readonly commit: CommitId; readonly paths: readonly string[] },
): Promise<ScratchTree> {
  const tree = treeOf(repository, store, request.id, 'small')
  const { path, door } = tree
  const { commit } = request
  const directories = coneOf(request.paths)
  const reason = `galley ${request.id}`
  const exists = await isScratchTree(path, door.gitDir)
  if (!exists) {
    await removeRemains(tree)
    await ensureScratchHome(repository)
    if (await writeSmallTree(store, tree, reader, { commit, directories, reason })) return tree
    await removeRemains(tree)
    await addScratchTree(store.door, { path, commit, reason })
    if (!(await isScratchTree(path, door.gitDir))) {
      refuse('io-error', `the scratch tree ${path} could not be made: something else stands in its place`, {
        path,
      })
    }
  }
  if (!exists || !(await isCleanAt(door, commit))) {
    await setCone(door, directories)
    await checkOutScratch(door, commit)
  }
  return tree
}

/** What stands there instead (a link, a tree whose registration is gone) is taken away without following it. */
async function removeRemains({ path, door }: ScratchTree): Promise<void> {
  await removeTree(path)
  await removeTree(door.gitDir)
}

/**
 * Directories whose files the small form holds; cone mode takes every parent's own files along. Many directories are lumped into
 * parents as long as that makes them fewer.
 */
function coneOf(paths: readonly string[]): readonly string[] {
  let directories = new Set(paths.map((p) => dirname(p)).filter((d) => d !== '.'))
  while (directories.size > CONE_MAX_DIRECTORIES) {
    const deepest = Math.max(...[...directories].map((d) => d.split('/').length))
    const lumped = new Set([...directories].map((d) => (d.split('/').length === deepest ? dirname(d) : d)))
    if (lumped.has('.') || lumped.size === directories.size) break
    directories = lumped
  }
  return [...directories].sort()
}

/** Removes a change's scratch tree in its small form. Links in it are unlinked, never followed. */
export async function removeSmallTree(repository: Repository, store: Store, id: ChangeId): Promise<void> {
  await removeRemains(treeOf(repository, store, id, 'small'))
}
