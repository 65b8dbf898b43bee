import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { sha256Hex } from '../git/blob-id.ts'
import { type GitDoor, git } from '../git/door.ts'
import type { Repository } from '../git/open-repository.ts'
import { refuse } from '../model/error.ts'
import type { ChangeId, CommitId } from '../model/ids.ts'
import { isDirectory, makePrivateDirectory } from '../sys/durable.ts'
import { removeTree } from '../sys/trees.ts'
import type { Store } from './open-store.ts'

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
  const cache = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache')
  const name = basename(dirname(repository.commonDir)).replaceAll(/[^\w.-]/g, '_') || 'repository'
  return join(cache, 'galley', `${name}-${sha256Hex(repository.commonDir).slice(0, 12)}`)
}

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
  const path = join(scratchHome(repository), request.form === 'full' ? `${request.id}-full` : request.id)
  const exists = await isDirectory(path)
  if (!exists) await addWorkTree(store, path, request.id, request.commit)
  const tree = await openTree(repository, store, path, request.form)
  const head = (await git(tree.door, { args: ['rev-parse', 'HEAD'] })).stdout.toString('latin1').trim()
  const isReady =
    exists &&
    head === request.commit &&
    (await git(tree.door, { args: ['status', '--porcelain', '-z'] })).stdout.length === 0
  if (isReady) return tree
  if (request.form === 'small') {
    await git(tree.door, {
      args: ['sparse-checkout', 'set', '--cone', '--sparse-index', '--stdin'],
      input: `${coneOf(request.paths).map(quoteLine).join('\n')}\n`,
    })
  }
  if (request.form === 'full') {
    const { checkOutFully } = await import('../git/full-checkout.ts')
    await checkOutFully(tree.door, request.commit)
    return tree
  }
  // A tree of the store's, not of the user's: what an earlier check left in it is not wanted.
  await git(tree.door, { args: ['checkout', '--quiet', '--force', '--detach', request.commit] })
  return tree
}

async function addWorkTree(store: Store, path: string, id: ChangeId, commit: CommitId): Promise<void> {
  await makePrivateDirectory(dirname(path))
  // `-f -f`: a directory that someone removed is still registered, and locked.
  const args = [
    'worktree',
    'add',
    '-f',
    '-f',
    '--quiet',
    '--no-checkout',
    '--detach',
    '--lock',
    '--reason',
    `galley ${id}`,
    path,
    commit,
  ]
  await git(store.door, { args })
}

async function openTree(
  repository: Repository,
  store: Store,
  path: string,
  form: ScratchTree['form'],
): Promise<ScratchTree> {
  const gitDir = join(store.door.gitDir, 'worktrees', basename(path))
  if (!(await isDirectory(gitDir)))
    refuse('io-error', `the scratch tree ${path} is not registered in the store`, { path })
  return {
    path,
    form,
    door: { ...store.door, kind: 'store', gitDir, workTree: path, inherited: repository.door.inherited },
  }
}

/** Directories whose files the small form holds. Cone mode takes every parent's own files along. */
function coneOf(paths: readonly string[]): readonly string[] {
  let directories = new Set(paths.map((p) => dirname(p)).filter((d) => d !== '.'))
  while (directories.size > CONE_MAX_DIRECTORIES) {
    const deepest = Math.max(...[...directories].map((d) => d.split('/').length))
    if (deepest === 1) break
    directories = new Set([...directories].map((d) => (d.split('/').length === deepest ? dirname(d) : d)))
  }
  return [...directories].sort()
}

/** The line-based form that `sparse-checkout set --stdin` reads: C-quoted, so that a name stays one name. */
const quoteLine = (directory: string): string => `"${directory.replaceAll(/["\\]/g, (c) => `\\${c}`)}"`

/** Removes a change's scratch trees and their registrations. Links in them are unlinked, never followed. */
export async function removeScratch(repository: Repository, store: Store, id: ChangeId): Promise<void> {
  for (const name of [id, `${id}-full`]) {
    await removeTree(join(scratchHome(repository), name))
    await removeTree(join(store.door.gitDir, 'worktrees', name))
  }
}
