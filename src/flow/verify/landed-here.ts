import { isAncestor } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import type { ObjectReader } from '../../git/objects.ts'
import { headBranch, listRefs, resolveCommit } from '../../git/refs.ts'
import type { CommitId } from '../../model/ids.ts'
import { readPolicyFile } from '../read-policy.ts'
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

/**
 * Whether a commit is in the history of a guarded branch as it stands here; where nothing is guarded, of the branch that HEAD names. A log says
 * by itself that a change landed, and whoever writes logs may invent that; what a guarded branch has, the guard let in.
 *
 * Looks at nothing until it is asked; then a process for the refs, and one for each such branch.
 */
export function landedHere(place: LandingPlace): (commit: CommitId) => Promise<boolean> {
  const answers = new Map<CommitId, Promise<boolean>>()
  let tips: Promise<readonly CommitId[]> | null = null
  const ask = async (commit: CommitId): Promise<boolean> => {
    if ((await place.reader.info(commit))?.type !== 'commit') return false
    tips ??= guardedTips(place)
    for (const tip of await tips) if (await isAncestor(place.door, commit, tip)) return true
    return false
  }
  return (commit) => {
    const found = answers.get(commit) ?? ask(commit)
    answers.set(commit, found)
    return found
  }
}

async function guardedTips({ world, reader, guardsAt }: LandingPlace): Promise<readonly CommitId[]> {
  // Of the user's repository, or the server's: the store has no branches.
  const { door } = world.repository
  const [head, rows] = await Promise.all([headBranch(door), listRefs(door, 'refs/heads/', 'refs/remotes/')])
  const at = guardsAt ?? (await resolveCommit(door, 'HEAD'))
  const { policy, broken } = await readPolicyFile(world, at === null ? null : await reader.commitTree(at))
  const isTrusted = (ref: string): boolean =>
    broken === null && policy.guard.length > 0 ? guardOf(policy, [branchIn(ref)]) !== null : ref === head
  return [...new Set(rows.filter(({ ref }) => isTrusted(ref)).map(({ object }) => object as CommitId))]
}

/** The branch's own name, a remote's without that of the remote. */
const branchIn = (ref: string): string => ref.replace(/^refs\/(?:heads|remotes\/[^/]+)\//, () => '')
