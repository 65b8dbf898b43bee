import { type TreeId, treeId } from '../model/ids.ts'
import { type GitDoor, git, gitFailure } from './door.ts'
import { emptyTree } from './fast-import.ts'

export type TreeMerge =
  | { readonly kind: 'clean'; readonly tree: TreeId }
  | {
      readonly kind: 'conflict'
      /** The tree with conflict markers in it, for drawing the conflict. */
      readonly tree: TreeId
      readonly paths: readonly string[]
      readonly messages: readonly string[]
    }

/** Merge drivers named by attributes run programs; the store's configuration holds none, so that none runs here. */
const FIXED_IDENTITY = {
  GIT_AUTHOR_NAME: 'galley',
  GIT_AUTHOR_EMAIL: 'galley@localhost',
  GIT_AUTHOR_DATE: '@1 +0000',
  GIT_COMMITTER_NAME: 'galley',
  GIT_COMMITTER_EMAIL: 'galley@localhost',
  GIT_COMMITTER_DATE: '@1 +0000',
}

/**
 * Merges three trees in the object store by git's own merge: nothing touches an index or a work tree.
 *
 * git 2.39 has no `merge-tree --merge-base`, so three commits that never get a ref stand in for it (GIT.md section 4).
 */
export async function mergeTrees(
  door: GitDoor,
  trees: { readonly base: TreeId | null; readonly ours: TreeId | null; readonly theirs: TreeId | null },
): Promise<TreeMerge> {
  const commit = async (tree: TreeId | null, parent: string | null): Promise<string> => {
    const args = [
      'commit-tree',
      tree ?? emptyTree(door.objectFormat),
      ...(parent ? ['-p', parent] : []),
      '-m',
      'merge',
    ]
    return (await git(door, { args, env: FIXED_IDENTITY })).stdout.toString('latin1').trim()
  }
  const base = await commit(trees.base, null)
  const [ours, theirs] = await Promise.all([commit(trees.ours, base), commit(trees.theirs, base)])
  const result = await git(door, {
    args: ['merge-tree', '--write-tree', '-z', '--name-only', ours, theirs],
    okCodes: [0, 1],
  })
  const [first, ...rest] = result.stdout.toString('utf8').split('\0')
  // Exit code 1 means conflict, and also "not something we can merge": only the former begins with a tree.
  if (!first || !/^[0-9a-f]{40,64}$/.test(first)) throw gitFailure(['merge-tree'], result)
  if (result.exitCode === 0) return { kind: 'clean', tree: treeId(first) }
  const end = rest.indexOf('')
  const paths = [...new Set(rest.slice(0, end))]
  return { kind: 'conflict', tree: treeId(first), paths, messages: readMessages(rest.slice(end + 1)) }
}

/** `<count> <paths…> <kind> <message>` again and again, all NUL-terminated. */
function readMessages(fields: readonly string[]): readonly string[] {
  const messages: string[] = []
  for (let i = 0; i < fields.length; ) {
    const count = Number(fields[i])
    if (!Number.isInteger(count) || fields[i] === '') break
    const message = fields[i + count + 2]
    if (message !== undefined) messages.push(message.trim())
    i += count + 3
  }
  return messages
}
