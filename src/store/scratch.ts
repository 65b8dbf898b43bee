import { basename, dirname, isAbsolute, join } from 'node:path'
import { sha256Hex } from '../git/blob-id.ts'
import type { GitDoor } from '../git/door.ts'
import type { Repository } from '../git/open-repository.ts'
import { addScratchTree, checkOutScratch, isCleanAt, setCone } from '../git/scratch-tree.ts'
import { refuse } from '../model/error.ts'
import type { ChangeId, CommitId } from '../model/ids.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { homeDirectory } from '../sys/home.ts'
import { keepFile, renewCopy, replaceQuickly } from '../sys/quick-files.ts'
import { isScratchTree } from '../sys/scratch-identity.ts'
import { removeTree } from '../sys/trees.ts'
import type { Store } from './open-store.ts'
import { removeOperations } from './scratch-operations.ts'

/** A change's scratch tree: a detached, locked work tree of the store, outside the user's repository. */
export interface ScratchTree {
  readonly path: string
  /** How git sees it. */
  readonly door: GitDoor
  readonly form: 'small' | 'full'
}

/** Above this many directories the cone is lumped into parents: `sparse-checkout set` grows faster than linearly (GIT.md 1.1). */
const CONE_MAX_DIRECTORIES = 30

/** `$XDG_CACHE_HOME/galley/<repository>`: the place of all scratch trees of one repository. */
export function scratchHome(repository: Repository): string {
  const env = repository.env
  // A relative value is to be ignored, says the specification.
  const set = env['XDG_CACHE_HOME'] ?? ''
  const cache = isAbsolute(set) ? set : join(homeDirectory(env), '.cache')
  const name = basename(dirname(repository.commonDir)).replaceAll(/[^\w.-]/g, '_') || 'repository'
  return join(cache, 'galley', `${name}-${sha256Hex(repository.commonDir).slice(0, 12)}`)
}

/** Where a change's scratch tree is, or would be. */
export const scratchPath = (repository: Repository, id: ChangeId, form: ScratchTree['form']): string =>
  join(scratchHome(repository), form === 'full' ? `${id}-full` : id)

/**
 * Makes the change's scratch tree, or moves the one it has to `commit`.
 *
 * The small form checks out the root's files and the touched directories only; its cost does not follow the size of the
 * repository. Leaves a registered work tree of the store, locked with a reason.
 */
export async function ensureScratch(
  repository: Repository,
  store: Store,
  request: {
    readonly id: ChangeId
    readonly commit: CommitId
    readonly paths: readonly string[]
    readonly form: 'small' | 'full'
  },
): Promise<ScratchTree> {
  const path = scratchPath(repository, request.id, request.form)
  const gitDir = join(store.door.gitDir, 'worktrees', basename(path))
  const exists = await isScratchTree(path, gitDir)
  if (!exists) {
    // What stands there instead (a link, a tree whose registration is gone) is taken away without following it.
    await removeTree(path)
    await removeTree(gitDir)
    await makePrivateDirectory(dirname(path))
    await addScratchTree(store.door, { path, commit: request.commit, reason: `galley ${request.id}` })
    if (!(await isScratchTree(path, gitDir))) {
      refuse('io-error', `the scratch tree ${path} could not be made: something else stands in its place`, {
        path,
      })
    }
  }
  const door = { ...store.door, gitDir, workTree: path, inherited: repository.door.inherited }
  const tree: ScratchTree = { path, form: request.form, door }
  const isSmall = request.form === 'small'
  const savedIndex = join(gitDir, 'index.saved')
  const wasThere = exists && (!isSmall || (await restoreSmall(gitDir, savedIndex, request.commit)))
  if (!wasThere || !(await isCleanAt(tree.door, request.commit))) {
    if (isSmall) await setCone(tree.door, coneOf(request.paths))
    await checkOutScratch(tree.door, request.commit)
  }
  if (isSmall) await renewCopy(join(gitDir, 'index'), savedIndex)
  return tree
}

/**
 * Puts HEAD and index of a small tree where galley had them: a check that was cut off may have left others. Nobody works in such a tree; in a
 * full one that was opened, HEAD and index are whose work it is.
 *
 * @returns Whether the tree stood at the commit: git 2.39 dies of looking for what differs where a folded directory of the index is a file
 * in HEAD.
 */
async function restoreSmall(gitDir: string, savedIndex: string, commit: CommitId): Promise<boolean> {
  await removeOperations(gitDir)
  const head = join(gitDir, 'HEAD')
  const isHead = keepFile(head)?.bytes.equals(Buffer.from(`${commit}\n`)) === true
  if (!isHead) {
    await removeTree(head)
    await replaceQuickly(head, `${commit}\n`)
  }
  if (!(await renewCopy(savedIndex, join(gitDir, 'index')))) await removeTree(join(gitDir, 'index'))
  return isHead
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

/** Removes a change's scratch trees and their registrations. Links in them are unlinked, never followed. */
export async function removeScratch(repository: Repository, store: Store, id: ChangeId): Promise<void> {
  for (const name of [id, `${id}-full`]) {
    await removeTree(join(scratchHome(repository), name))
    await removeTree(join(store.door.gitDir, 'worktrees', name))
  }
}
