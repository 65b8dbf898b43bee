import { type LoggedCommit, lineOf, readCommits } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import type { ObjectReader } from '../../git/objects.ts'
import { headBranch, listRefs, resolveCommit } from '../../git/refs.ts'
import type { CommitId, Digest } from '../../model/ids.ts'
import { readPolicyFile } from '../read-policy.ts'
import { digestOf } from '../stage.ts'
import type { World } from '../world.ts'
import { guardOf } from './guard-of.ts'

/** What tells whether a log's word that a change landed is so. */
export interface LandingPlace {
  readonly world: World
  readonly door: GitDoor
  readonly reader: ObjectReader
  /** The commit whose policy says which branches are guarded; null = that of HEAD. Never one that is about to come. */
  readonly guardsAt: CommitId | null
}

/** Of commits that a log names as landings of what has a digest, those that are. */
export type LandedHere = (commits: readonly CommitId[], digest: Digest) => Promise<ReadonlySet<CommitId>>

/**
 * Tells which commits are on the first-parent line of a guarded branch as it stands here (where nothing is guarded, of the branch that HEAD
 * names) and make exactly what was approved. A log says by itself that a change landed, and whoever writes logs may invent that, or name another
 * commit of the branch, or one that a merge brought beside the line; what is a step of the line, the guard let in.
 *
 * Looks at nothing until it is asked; then one walk for all, and a process for each log.
 */
export function landedHere(place: LandingPlace): LandedHere {
  let line: Promise<ReadonlySet<string>> | null = null
  return async (commits, digest) => {
    if (commits.length === 0) return new Set()
    line ??= guardedTips(place).then((tips) => lineOf(place.door, tips))
    const steps = await line
    const onLine = [...new Set(commits)].filter((commit) => steps.has(commit))
    const read =
      onLine.length === 0 ? new Map<CommitId, LoggedCommit>() : await readCommits(place.door, onLine)
    return new Set(
      onLine.filter((id) => {
        const commit = read.get(id)
        return commit !== undefined && digestOf(commit.transitions) === digest
      }),
    )
  }
}

async function guardedTips({ world, reader, guardsAt }: LandingPlace): Promise<readonly CommitId[]> {
  // Of the user's repository, or the server's: the store has no branches.
  const { door, workTree } = world.repository
  // To a bare repository anybody may push what looks like a remote's branches.
  const prefixes = workTree === null ? ['refs/heads/'] : ['refs/heads/', 'refs/remotes/']
  const [head, rows] = await Promise.all([headBranch(door), listRefs(door, ...prefixes)])
  const at = guardsAt ?? (await resolveCommit(door, 'HEAD'))
  const { policy, broken } = await readPolicyFile(world, at === null ? null : await reader.commitTree(at))
  const isTrusted = (ref: string): boolean =>
    broken === null && policy.guard.length > 0 ? guardOf(policy, [branchIn(ref)]) !== null : ref === head
  return [...new Set(rows.filter(({ ref }) => isTrusted(ref)).map(({ object }) => object as CommitId))]
}

/** The branch's own name, a remote's without that of the remote. */
const branchIn = (ref: string): string => ref.replace(/^refs\/(?:heads|remotes\/[^/]+)\//, () => '')
