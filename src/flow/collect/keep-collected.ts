import type { Repository } from '../../git/open-repository.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Person } from '../../model/person.ts'
import { commitLeft, keepFiles, keepRefs, keepRepository, leftRef } from '../../store/left-work.ts'
import type { Store } from '../../store/open-store.ts'
import { ownRepositoryOf } from '../../store/own-repository.ts'
import type { Log } from '../../sys/log.ts'
import type { CollectedGit } from './collect-git.ts'
import { besideRemarks } from './fold-beside.ts'
import type { Beside } from './sort-tree.ts'

/** Where things are kept, and by whom. */
export interface KeepPlace {
  readonly repository: Repository
  readonly store: Store
  readonly who: Person
  readonly log: Log
}

export interface KeepRequest {
  /** The run, or whatever else names what was left. */
  readonly run: string
  /** The tree's directory. */
  readonly path: string
  /** All files of the work, where no change holds them; null = the changes do. */
  readonly work: { readonly tree: TreeId; readonly parent: CommitId } | null
  readonly git: CollectedGit
  /** What HEAD came to, where that is in a change commit by commit. */
  readonly landed: CommitId | null
  readonly beside: readonly Beside[]
}

/** What was kept beside the changes, and where. */
export interface KeptWork {
  /** Refs of the store, and the run's folder. */
  readonly names: readonly string[]
  /** The commit that holds all files of the work. */
  readonly commit: CommitId | null
  readonly folder: string | null
  readonly remarks: readonly string[]
}

/**
 * Keeps what is in no change: commits and files of the work under refs of the store, and what has no place there in the run's folder. Only when
 * this has come to its end may the tree be used for something else.
 *
 * @throws Whatever stood in the way; what has been kept by then stays kept.
 */
export async function keepCollected(place: KeepPlace, request: KeepRequest): Promise<KeptWork> {
  const { run, path, work, git, beside } = request
  const { repository, store, who, log } = place
  const commit = work === null ? null : await commitLeft(store, run, work, who)
  const { handedOut } = await ownRepositoryOf({ path })
  const covered = new Set([request.landed, work?.parent])
  const ownBranch = `branch/${handedOut?.branch?.replace('refs/heads/', '') ?? ''}`
  const isCovered = ({ name, id }: { readonly name: string; readonly id: string }) =>
    covered.has(id as CommitId) && (name === ownBranch || name === 'head')
  const objects = [
    ...(commit === null ? [] : [{ name: 'work', id: commit }]),
    ...withoutEchoes(git.kept.filter((kept) => !isCovered(kept))),
  ]
  const refs = await keepRefs(store, run, objects)
  if (git.faults.length > 0) keepRepository(repository, run, path)
  const folder = keepFiles(
    repository,
    run,
    path,
    beside.map((entry) => entry.path),
  )
  const names = [...refs, ...(folder === null ? [] : [folder])]
  for (const name of names) log.note('left', { run, name, store: store.door.gitDir })
  const whole =
    git.faults.length > 0 ? [`the repository of its tree is kept whole: ${git.faults.join('; ')}`] : []
  return { names, commit, folder, remarks: [...besideRemarks(beside), ...whole] }
}

/** What git calls by a branch's name and, say, as what a merge came from is kept by the branch's. */
function withoutEchoes(kept: CollectedGit['kept']): CollectedGit['kept'] {
  const byRef = new Set(kept.filter(({ name }) => name.includes('/')).map(({ id }) => id))
  return kept.filter(({ name, id }) => name.includes('/') || name.startsWith('stash') || !byRef.has(id))
}

/** The ref that holds all files of a run's work. */
export const workRef = (run: string): string => leftRef(run, 'work')
