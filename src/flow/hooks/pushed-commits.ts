import { countCommits, listLine } from '../../git/commit-log.ts'
import { refuse } from '../../model/error.ts'
import type { CommitId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Verifier } from '../verify/verifier.ts'

export interface PushedBranch {
  readonly branch: string
  readonly exclude: readonly CommitId[]
  readonly after: CommitId
}

const SETTING = 'galley.maxpushedcommits'

/**
 * Bounds what one push costs a server: each commit that a branch gains is looked at. Two processes.
 *
 * The owner of the server sets another bound by `git config galley.maxPushedCommits <number>` there.
 *
 * @param push - `exclude`: what is not looked at again.
 * @throws GalleyError `too-large`, with a commit that can be pushed first.
 */
export async function refuseTooManyCommits(verifier: Verifier, push: PushedBranch): Promise<void> {
  const { branch, exclude, after } = push
  const { door } = verifier
  const set = Number((await verifier.world.config()).get(SETTING))
  const max = Number.isSafeInteger(set) && set > 0 ? set : limits.pushedCommitsMax
  if ((await countCommits(door, { include: [after], exclude }, max + 1)) <= max) return
  const first = await firstPart(verifier, push, max)
  const part = `git push origin ${first?.slice(0, 12)}:refs/heads/${branch}`
  refuse(
    'too-large',
    `the push gives ${branch} more than ${max} commits, each of which has to be looked at`,
    { branch, limit: max, first },
    `${first === null ? 'One merge alone brings more' : `Push it in parts: \`${part}\` goes first, then the rest`}. On the server, \`git config galley.maxPushedCommits <number>\` allows more.`,
  )
}

/** The newest commit of the line up to which a push has no more than so many. Halves the line, a process each time. */
async function firstPart(
  { door }: Verifier,
  { exclude, after }: PushedBranch,
  max: number,
): Promise<CommitId | null> {
  // Newest first: those beyond `low` are too many.
  const line = await listLine(door, [after], exclude)
  let [low, high] = [0, line.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const tip = line[middle] as CommitId
    if ((await countCommits(door, { include: [tip], exclude }, max + 1)) > max) low = middle + 1
    else high = middle
  }
  return line[low] ?? null
}
