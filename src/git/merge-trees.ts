import { type CommitId, commitId, type TreeId, treeId } from '../model/ids.ts'
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
      readonly details: readonly ConflictDetail[]
      /** The passing commits that stood for the sides: markers and messages name them. */
      readonly sides: { readonly ours: CommitId; readonly theirs: CommitId }
    }

/** One remark of git's merge. */
export interface ConflictDetail {
  readonly paths: readonly string[]
  /** git's stable word for it, such as `CONFLICT (modify/delete)` or `Auto-merging`. */
  readonly kind: string
  readonly message: string
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

export interface MergeRequest {
  readonly base: TreeId | null
  readonly ours: TreeId | null
  readonly theirs: TreeId | null
  /** A commit that holds `base`, where there is one: it need not be made then, which saves a round of processes. */
  readonly baseCommit?: CommitId
  /** Makes a commit of a tree and perhaps a parent where objects may be written without git. Default: `git commit-tree`. */
  readonly makeCommit?: (content: string) => Promise<CommitId>
}

/**
 * Merges three trees in the object store by git's own merge: nothing touches an index or a work tree.
 *
 * git 2.39 has no `merge-tree --merge-base`, so commits that never get a ref stand in for it (GIT.md section 4).
 */
export async function mergeTrees(door: GitDoor, trees: MergeRequest): Promise<TreeMerge> {
  const passing = (tree: TreeId | null, parent: CommitId | null): Promise<CommitId> =>
    trees.makeCommit === undefined
      ? passingCommit(door, tree, parent)
      : trees.makeCommit(passingContent(tree ?? emptyTree(door.objectFormat), parent))
  const base = trees.baseCommit ?? (await passing(trees.base, null))
  const [ours, theirs] = await Promise.all([passing(trees.ours, base), passing(trees.theirs, base)])
  const result = await git(door, {
    args: ['merge-tree', '--write-tree', '-z', '--name-only', ours, theirs],
    okCodes: [0, 1],
  })
  const [first, ...rest] = result.stdout.toString('utf8').split('\0')
  // Exit code 1 means conflict, and also "not something we can merge": only the former begins with a tree.
  if (!first || !/^[0-9a-f]{40,64}$/.test(first)) throw gitFailure(['merge-tree'], result)
  if (result.exitCode === 0) return { kind: 'clean', tree: treeId(first) }
  const end = rest.indexOf('')
  const details = readDetails(rest.slice(end + 1))
  return {
    kind: 'conflict',
    tree: treeId(first),
    paths: [...new Set(rest.slice(0, end))],
    messages: details.map((d) => d.message),
    details,
    sides: { ours, theirs },
  }
}

async function passingCommit(door: GitDoor, tree: TreeId | null, parent: CommitId | null): Promise<CommitId> {
  const args = ['commit-tree', tree ?? emptyTree(door.objectFormat), ...(parent ? ['-p', parent] : [])]
  const result = await git(door, { args: [...args, '-m', 'merge'], env: FIXED_IDENTITY })
  return commitId(result.stdout.toString('latin1').trim())
}

/** The same commit as the bytes that git would write. */
function passingContent(tree: TreeId, parent: CommitId | null): string {
  const who = 'galley <galley@localhost> 1 +0000'
  const lines = [`tree ${tree}`, ...(parent ? [`parent ${parent}`] : []), `author ${who}`, `committer ${who}`]
  return `${lines.join('\n')}\n\nmerge\n`
}

/** `<count> <paths…> <kind> <message>` again and again, all NUL-terminated. */
function readDetails(fields: readonly string[]): readonly ConflictDetail[] {
  const details: ConflictDetail[] = []
  for (let i = 0; i < fields.length; ) {
    const count = Number(fields[i])
    if (!Number.isInteger(count) || fields[i] === '') break
    const message = fields[i + count + 2]
    if (message !== undefined) {
      const paths = fields.slice(i + 1, i + 1 + count)
      details.push({ paths, kind: fields[i + count + 1] ?? '', message: message.trim() })
    }
    i += count + 3
  }
  return details
}
