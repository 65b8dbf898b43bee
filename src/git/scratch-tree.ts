import { GalleyError, invariant } from '../model/error.ts'
import type { CommitId, TreeId } from '../model/ids.ts'
import { linkOrCopy } from '../sys/index-snapshot.ts'
import { type GitDoor, git, gitEnvironment } from './door.ts'
import { isNotFetched } from './git-words.ts'
import { gitBesideOthers } from './try-again.ts'

/** Registers a detached, locked work tree of the store, with nothing checked out yet. */
export async function addScratchTree(
  store: GitDoor,
  request: { readonly path: string; readonly commit: CommitId; readonly reason: string },
): Promise<void> {
  // `-f -f`: a directory that someone removed by hand is still registered, and locked.
  const how = ['-f', '-f', '--quiet', '--no-checkout', '--detach', '--lock', '--reason', request.reason]
  const args = ['worktree', 'add', ...how, request.path, request.commit]
  await gitBesideOthers(store, { args })
}

/** Whether the scratch tree stands at the commit with no tracked file changed. */
export async function isCleanAt(tree: GitDoor, commit: CommitId): Promise<boolean> {
  const head = await git(tree, { args: ['rev-parse', '-q', '--verify', 'HEAD'], okCodes: [0, 1, 128] })
  if (head.stdout.toString('latin1').trim() !== commit) return false
  return (await changedFiles(tree)).length === 0
}

/** Tracked files of the scratch tree that differ from its HEAD, as its index says. Both are galley's own. */
export async function changedFiles(tree: GitDoor): Promise<readonly string[]> {
  const status = await git(tree, {
    args: ['status', '--porcelain', '-z', '--untracked-files=no', '--no-renames'],
  })
  return status.stdout
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.slice(3))
}

/**
 * Makes an index that holds a tree, out of one of galley's own for the same files: those are what the tree was made of, and stay as they are.
 */
export async function stagedIndex(
  door: GitDoor,
  index: string,
  indexFile: string,
  tree: TreeId,
): Promise<void> {
  const env = { GIT_INDEX_FILE: indexFile }
  linkOrCopy(index, indexFile)
  await git(door, { args: ['read-tree', '-m', '-i', tree], env })
  await git(door, { args: ['update-index', '-q', '--refresh'], okCodes: [0, 1], env })
}

/** Restricts the scratch tree to some directories, with a sparse index, so that its cost does not follow the repository's size. */
export async function setCone(tree: GitDoor, directories: readonly string[]): Promise<void> {
  await gitBesideOthers(tree, {
    args: ['sparse-checkout', 'set', '--cone', '--sparse-index', '--stdin'],
    input: `${directories.map(quoteLine).join('\n')}\n`,
  })
}

/** The line-based form that `sparse-checkout set --stdin` reads: C-quoted, so that a name stays one name. */
const quoteLine = (directory: string): string => `"${directory.replaceAll(/["\\]/g, (c) => `\\${c}`)}"`

export interface CheckoutOptions {
  readonly onProgress?: (progress: { readonly stage: string; readonly percent: number }) => void
  readonly signal?: AbortSignal
}

/**
 * Checks a commit out in a scratch tree of the store, over whatever an earlier check left in tracked files there. In full this takes
 * seconds in a large repository, so it tells how far it is and can be stopped.
 *
 * The one call that overwrites files of a work tree without asking: it takes the door of a scratch tree only.
 *
 * @throws GalleyError `io-error`, with git's words.
 */
export async function checkOutScratch(
  tree: GitDoor,
  commit: CommitId,
  options: CheckoutOptions = {},
): Promise<void> {
  invariant(tree.kind === 'store' && tree.workTree !== null, 'only a scratch tree is checked out over')
  const { simpleGit } = await import('simple-git')
  // Named, not discovered: a tree that lost its `.git` would otherwise find whatever repository lies around it.
  const env = { ...gitEnvironment(tree), GIT_DIR: tree.gitDir, GIT_WORK_TREE: tree.workTree }
  const porcelain = simpleGit({
    baseDir: tree.workTree,
    // The library strips every GIT_* that is not named here; these are the door's own.
    allowEnvironment: Object.keys(env).filter((name) => name.startsWith('GIT_')),
    // Each of these settings of the door switches something off, or names a configuration that is empty, or is the user's way to the remote
    // of a partial clone.
    unsafe: {
      allowUnsafeAskPass: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeDiffExternal: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeGitProxy: true,
      allowUnsafeHooksPath: true,
      allowUnsafePager: true,
      allowUnsafeProtocolOverride: true,
      allowUnsafeSshCommand: true,
    },
    maxConcurrentProcesses: 1,
    // Without this, an exit code other than 0 with nothing on stderr would pass for success.
    errors: (error, result) =>
      error ?? (result.exitCode === 0 ? undefined : Buffer.from(`exit code ${result.exitCode}`)),
    ...(options.onProgress ? { progress: reportTo(options.onProgress) } : {}),
    ...(options.signal ? { abort: options.signal } : {}),
  })
  await porcelain
    .env(env)
    .raw(['checkout', ...(options.onProgress ? ['--progress'] : ['--quiet']), '--force', '--detach', commit])
    .catch((cause: unknown) => {
      const said = cause instanceof Error ? cause.message.trim() : String(cause)
      const message = `the scratch tree could not be checked out: ${said}`
      const code = isNotFetched(said) ? 'not-fetched' : 'io-error'
      throw new GalleyError({ code, message, data: { commit } }, { cause })
    })
}

const reportTo =
  (listener: NonNullable<CheckoutOptions['onProgress']>) =>
  ({ stage, progress }: { readonly stage: string; readonly progress: number }) =>
    listener({ stage, percent: progress })
