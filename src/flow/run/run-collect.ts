import { join } from 'node:path'
import { findRelation } from '../../git/ancestry.ts'
import { parseCommit } from '../../git/commit.ts'
import { commitChain } from '../../git/commit-chain.ts'
import { type StatEntry, statEntries } from '../../git/index-stats.ts'
import type { ObjectReader } from '../../git/objects.ts'
import type { CommitId, ObjectFormat, TreeId } from '../../model/ids.ts'
import { keepFiles } from '../../store/left-work.ts'
import type { Store } from '../../store/open-store.ts'
import { ownRepositoryOf } from '../../store/own-repository.ts'
import type { Slot } from '../../store/pool-slot.ts'
import { readQuickly } from '../../sys/quick-files.ts'
import { type BytePath, openUpDirectory, openUpTree } from '../../sys/walk-tree.ts'
import { type CollectedFiles, collectFiles } from '../collect/collect-files.ts'
import { type CollectedGit, collectGit } from '../collect/collect-git.ts'
import { namedSubmodules } from '../collect/moved-submodules.ts'
import type { FilesBefore } from '../collect/sort-tree.ts'
import { settleUnseen } from '../collect/unseen-files.ts'
import type { World } from '../world.ts'

/** What stands in a run's tree when its command has ended. */
export interface CollectedWork extends CollectedFiles {
  readonly git: CollectedGit
  /** The run's last commit; null = its HEAD names none. */
  readonly head: CommitId | null
  /** Its commits on the way from the base, oldest first; null = it went another way (rewrote, or began anew). */
  readonly commits: readonly RunCommit[] | null
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
 * covers and that nobody brought there. All else is named, to be kept beside.
 *
 * Leaves objects in the store and no ref. The tree stays as it is, but for pipes that git would wait for.
 */
export async function collectWork(
  world: World,
  store: Store,
  slot: Slot,
  options: {
    readonly run: string
    readonly base: CommitId
    readonly before: FilesBefore
    readonly fileMaxBytes: number
  },
): Promise<CollectedWork> {
  const { base, before, fileMaxBytes } = options
  const { repository } = world
  const own = await ownRepositoryOf(slot)
  openUpDirectory(slot.path)
  openUpTree(own.gitDir)
  const reader = await world.reader()
  const staged = stagedEntries(own.gitDir, store.door.objectFormat)
  const isNamed = namedSubmodules(slot.path)
  const isSubmodule = (path: BytePath) => staged.get(path)?.mode === '160000' && isNamed(path)
  const files = await collectFiles(
    { repository, store, reader, path: slot.path },
    {
      commit: base,
      before: { ...before, isSubmodule },
      fileMaxBytes,
      isForced: (path) => staged.has(path),
      takeAway: (path) => void keepFiles(repository, options.run, slot.path, [path]),
    },
  )
  const about = { who: await world.identity(), files: files.tree }
  const git = await collectGit({ store, user: repository.door }, own, about)
  const { head } = git
  const tree = await settleUnseen(store, files, { base, gitDir: own.gitDir })
  const commits = head === null ? null : await commitsSince(store, reader, base, head)
  return { ...files, tree, git, head, commits }
}

/** What the run's user gave to git counts as work, also where the ignore rules cover it. Only a hint: what is left out is kept all the same. */
const stagedEntries = (gitDir: string, format: ObjectFormat): ReadonlyMap<BytePath, StatEntry> =>
  statEntries(readQuickly(join(gitDir, 'index')) ?? Buffer.alloc(0), format)

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
