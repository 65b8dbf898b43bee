import { join } from 'node:path'
import { findRelation } from '../../git/ancestry.ts'
import { parseCommit } from '../../git/commit.ts'
import { commitChain } from '../../git/commit-chain.ts'
import type { ObjectReader } from '../../git/objects.ts'
import { resolveCommit } from '../../git/refs.ts'
import { snapshotTree } from '../../git/snapshot-tree.ts'
import { listUntracked } from '../../git/untracked.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import { quote } from '../../policy/quote.ts'
import { coveredBy } from '../../store/covered-paths.ts'
import type { Store } from '../../store/open-store.ts'
import { sizeInTree } from '../../sys/tree-files.ts'
import { removeTree } from '../../sys/trees.ts'
import type { ProvisionedTree } from '../full-tree.ts'

/** What stands in a run's tree when its command has ended. */
export interface CollectedWork {
  /** All of it, as one tree of the store. */
  readonly tree: TreeId
  /** The run's last commit; null = its HEAD names none. */
  readonly head: CommitId | null
  /** Its commits on the way from the base, oldest first; null = it went another way (rewrote, or began anew). */
  readonly commits: readonly RunCommit[] | null
  /** Untracked files too large to be taken. */
  readonly tooLarge: readonly string[]
  /** Untracked things that cannot be taken, each as a sentence. */
  readonly remarks: readonly string[]
}

export interface RunCommit {
  readonly commit: CommitId
  readonly tree: TreeId
  readonly message: string
}

/** Commits of one run that are looked at; more are taken as one. */
const COMMITS_MAX = 1_000

/**
 * Writes down everything that a run left in its tree: its commits, its changes to tracked files, and its new files that no ignore rule
 * covers and that nobody brought there.
 *
 * Leaves objects in the store and no ref. The tree stays as it is.
 */
export async function collectWork(
  store: Store,
  reader: ObjectReader,
  provisioned: ProvisionedTree,
  options: { readonly base: CommitId; readonly fileMaxBytes: number },
): Promise<CollectedWork> {
  const { slot } = provisioned
  const isBrought = coveredBy(provisioned.brought)
  const { paths, unreadable } = await listUntracked(slot.door, { ignored: 'left-out' })
  const remarks = unreadable.map((name) => `${quote(name)} was left out: its name is not UTF-8`)
  const wanted: string[] = []
  const tooLarge: string[] = []
  for (const path of paths) {
    if (isBrought(path)) continue
    if (path.endsWith('/')) remarks.push(`${quote(path)} was left out: it is a repository of its own`)
    else if (sizeInTree(slot.path, path) > options.fileMaxBytes) tooLarge.push(path)
    else wanted.push(path)
  }
  const indexFile = `${slot.path}.collect`
  await removeTree(indexFile)
  const tree = await snapshotTree(slot.door, join(slot.door.gitDir, 'index'), indexFile, {
    added: wanted,
    removed: [],
  })
  await removeTree(indexFile)
  const head = await resolveCommit(slot.door, 'HEAD')
  const commits = head === null ? null : await commitsSince(store, reader, options.base, head)
  return { tree, head, commits, tooLarge, remarks }
}

async function commitsSince(
  store: Store,
  reader: ObjectReader,
  from: CommitId,
  to: CommitId,
): Promise<readonly RunCommit[] | null> {
  if (from === to) return []
  if ((await findRelation(store.door, from, to)) === 'unrelated') return null
  const chain = await commitChain(store.door, { from, to, most: COMMITS_MAX })
  if (chain === null) return null
  const commits: RunCommit[] = []
  for (const { commit } of chain) {
    const { tree, message } = await parseCommit(reader, commit)
    commits.push({ commit, tree, message })
  }
  return commits
}
