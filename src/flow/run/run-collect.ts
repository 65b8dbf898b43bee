import { join } from 'node:path'
import { findRelation } from '../../git/ancestry.ts'
import { parseCommit } from '../../git/commit.ts'
import { commitChain } from '../../git/commit-chain.ts'
import type { ObjectReader } from '../../git/objects.ts'
import { packSince } from '../../git/pack-objects.ts'
import { resolveCommit } from '../../git/refs.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import { keepFiles } from '../../store/left-work.ts'
import type { Store } from '../../store/open-store.ts'
import { readOwnHead } from '../../store/own-refs.ts'
import { ownRepositoryOf } from '../../store/own-repository.ts'
import type { Slot } from '../../store/pool-slot.ts'
import { type CollectedFiles, collectFiles } from '../collect/collect-files.ts'
import type { FilesBefore } from '../collect/sort-tree.ts'
import type { World } from '../world.ts'

/** What stands in a run's tree when its command has ended. */
export interface CollectedWork extends CollectedFiles {
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
  const files = await collectFiles(
    { repository, store, path: slot.path },
    {
      commit: base,
      before,
      fileMaxBytes,
      isForced: () => false,
      takeAway: (path) => void keepFiles(repository, options.run, slot.path, [path]),
    },
  )
  const head = await takeOverHead(store, slot, base)
  const commits = head === null ? null : await commitsSince(store, await world.reader(), base, head)
  return { ...files, head, commits }
}

/** The commit that HEAD of the tree's own repository came to, with what leads to it from the base. */
async function takeOverHead(store: Store, slot: Slot, base: CommitId): Promise<CommitId | null> {
  const own = await ownRepositoryOf(slot)
  const head = readOwnHead(own.gitDir)?.commit ?? null
  if (head === null || head === base) return head
  await packSince(store.door, { from: base, to: head, objects: join(own.gitDir, 'objects') })
  return resolveCommit(store.door, head)
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
