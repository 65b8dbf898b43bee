import { refuse } from '../model/error.ts'
import { type CommitId, type TreeId, treeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { type GitDoor, git, gitEnvironment, gitFailure, startGit } from './door.ts'
import { objectDirectories } from './object-directories.ts'

/** What git's own merge of two commits comes to, made anew. */
export interface Remerge {
  readonly isClean: boolean
  /** With conflict markers where it is not clean. */
  readonly tree: TreeId
}

/**
 * Makes an empty repository to merge in. It sees the objects of others and has no configuration, so that no merge driver runs.
 *
 * @param directory - An empty one; what the merges make stays in it.
 * @param objects - Object directories to see, as absolute paths.
 */
export async function makeMergePlace(
  like: Pick<GitDoor, 'objectFormat' | 'inherited' | 'extraEnv'>,
  directory: string,
  objects: readonly string[],
): Promise<GitDoor> {
  const door: GitDoor = {
    kind: 'store',
    gitDir: directory,
    workTree: null,
    objectFormat: like.objectFormat,
    inherited: like.inherited,
    extraEnv: {
      ...like.extraEnv,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(...objects),
      GIT_GRAFT_FILE: '/dev/null',
    },
  }
  const made = await startGit(
    ['init', '--quiet', '--bare', '--template=', `--object-format=${like.objectFormat}`, directory],
    {
      cwd: directory,
      env: gitEnvironment({ kind: 'store', inherited: like.inherited }),
      timeoutMs: limits.gitTimeoutMs,
    },
  )
  if (made.exitCode !== 0) {
    refuse('io-error', `a place to merge in could not be made in ${directory}`, {
      said: made.stderr.toString('utf8'),
    })
  }
  return door
}

/**
 * Merges two commits as `git merge` would without options, in the object store. Leaves objects there.
 *
 * @param door - See `makeMergePlace`.
 * @returns null where the two have no common history.
 */
export async function remerge(door: GitDoor, ours: CommitId, theirs: CommitId): Promise<Remerge | null> {
  const args = ['-c', 'core.commitGraph=false', 'merge-tree', '--write-tree', '-z', '--name-only']
  const result = await git(door, { args: [...args, '--no-messages', ours, theirs], okCodes: [0, 1, 128] })
  if (result.exitCode === 128 && result.stderr.includes('unrelated histories')) return null
  const tree = result.stdout.toString('utf8').split('\0', 1)[0] ?? ''
  if (result.exitCode === 128 || !/^[0-9a-f]{40,64}$/.test(tree)) throw gitFailure(['merge-tree'], result)
  return { isClean: result.exitCode === 0, tree: treeId(tree) }
}
