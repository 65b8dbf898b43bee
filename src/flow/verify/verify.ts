import { headBranch, listRefs, resolveCommit } from '../../git/refs.ts'
import { refuse } from '../../model/error.ts'
import type { CommitId } from '../../model/ids.ts'
import type { Policy } from '../../model/policy.ts'
import type { CommitVerdict, Verdict, Verification } from '../../model/verdict.ts'
import { branchMatcher } from '../../policy/path-matcher.ts'
import { readPolicy } from '../read-policy.ts'
import type { World } from '../world.ts'
import { judgeRange } from './judge-range.ts'
import { openVerifier, rulesOf, type Verifier } from './verifier.ts'

export interface VerifyRequest {
  /** `A..B`: what B has and A has not. `B` alone: its whole history. A side left out is HEAD. */
  readonly range: string
  /** The branch that the commits are for. Default: those that the range names, else the one checked out. */
  readonly onto?: string
  /** Only signed approvals count, whatever the policy says. */
  readonly requireSignature?: boolean
  /** The list of allowed signers, in place of the policy's: an absolute path outside of the repository. */
  readonly allowedSigners?: string
  /** Approvals must not have expired by now; default: by the date of each commit. */
  readonly now?: boolean
}

/**
 * Recomputes what every commit of a range changes, from the objects alone, and holds it against the approvals that this repository
 * has, in galley's store or as plain refs. Leaves nothing.
 *
 * The policy (whose approvals count, which branches are guarded) is read from the range's start, never from what is verified.
 *
 * @throws GalleyError `usage`, if the range names no commit; `invalid-policy`; `not-approved`, if signatures cannot be verified at all.
 */
export async function verify(here: World, request: VerifyRequest): Promise<Verification> {
  const { allowedSigners } = request
  const world: World = allowedSigners === undefined ? here : { ...here, allowedSigners }
  const range = await readRange(world, request.range)
  return withVerifier(world, undefined, async (verifier) => {
    const start = range.from ?? (await resolveCommit(world.repository.door, 'HEAD'))
    const tree = start === null ? null : await verifier.reader.commitTree(start)
    const { policy } = await readPolicy(verifier.world, tree)
    const target = await targetOf(world, range, policy, request.onto)
    const inForce: Policy =
      request.requireSignature === true
        ? { ...policy, approval: { ...policy.approval, requires: 'signature' } }
        : policy
    const commits = await judgeRange(verifier, {
      include: [range.to],
      exclude: range.from === null ? [] : [range.from],
      isStrict: target.guardedBy !== null,
      rules: rulesOf(verifier, inForce, tree),
      at: request.now === true ? world.now() : 'commit',
    })
    const from = range.from === null ? [] : [range.from]
    return { from, to: range.to, ...target, commits, counts: countVerdicts(commits) }
  })
}

export function countVerdicts(commits: readonly CommitVerdict[]): Readonly<Record<Verdict, number>> {
  const counts = { approved: 0, carried: 0, human: 0, unapproved: 0, forged: 0 }
  for (const { verdict } of commits) counts[verdict]++
  return counts
}

interface Range {
  readonly from: CommitId | null
  readonly to: CommitId
  /** As they were written. */
  readonly names: readonly string[]
}

async function readRange(world: World, text: string): Promise<Range> {
  if (text.includes('...')) {
    refuse('usage', `${JSON.stringify(text.slice(0, 80))} has three dots; a range has two: A..B`, {
      range: text,
    })
  }
  const dots = text.indexOf('..')
  const name = (side: string): string => (side === '' ? 'HEAD' : side)
  const left = dots === -1 ? null : name(text.slice(0, dots))
  const right = name(dots === -1 ? text : text.slice(dots + 2))
  const commitOf = async (expression: string): Promise<CommitId> =>
    (await resolveCommit(world.repository.door, expression)) ??
    refuse(
      'usage',
      expression === '@{upstream}'
        ? 'this branch has no upstream to compare with'
        : `no commit is called ${JSON.stringify(expression.slice(0, 80))}`,
      { range: text },
      'Name a range, such as `galley verify main~10..main`.',
    )
  return {
    from: left === null ? null : await commitOf(left),
    to: await commitOf(right),
    names: left === null ? [right] : [left, right],
  }
}

/** Which branch's guard counts: the one given, or any that the range names (`origin/main..topic` is for main). */
async function targetOf(
  world: World,
  range: Range,
  policy: Policy,
  onto: string | undefined,
): Promise<Pick<Verification, 'onto' | 'guardedBy'>> {
  const guard = branchMatcher(policy.guard)
  if (onto !== undefined) return { onto: shortBranch(onto), guardedBy: guard(shortBranch(onto)) }
  const head = await headBranch(world.repository.door)
  const named = await Promise.all(range.names.map((name) => branchOf(world, name, head)))
  const ofRange = named.flatMap((branch) => branch ?? [])
  const branches = ofRange.length > 0 || head === null ? ofRange : [shortBranch(head)]
  const guarded = branches.find((branch) => guard(branch) !== null)
  if (guarded !== undefined) return { onto: guarded, guardedBy: guard(guarded) }
  // A detached checkout of a server that tests: what these commits are for is not known, and a guard must not fail open.
  const [unknownTarget] = branches.length === 0 ? policy.guard : []
  return { onto: branches.at(-1) ?? null, guardedBy: unknownTarget ?? null }
}

const shortBranch = (name: string): string => name.replace(/^refs\/heads\//, () => '')

/** The branch that a side of a range names, a remote's included; null where it names a commit in another way. */
async function branchOf(world: World, name: string, head: string | null): Promise<string | null> {
  if (name === 'HEAD') return head === null ? null : shortBranch(head)
  if (/[\s\0~^:?*[\\]|\.\.|^-/.test(name)) return null
  const refs = [`refs/heads/${name}`, `refs/remotes/${name}`, name]
  const rows = await listRefs(world.repository.door, ...refs)
  const found = refs.flatMap((ref) => rows.filter((row) => row.ref === ref))[0]?.ref
  if (found === undefined) return null
  const remote = /^refs\/remotes\/[^/]+\/(.+)$/.exec(found)?.[1]
  return remote ?? (found.startsWith('refs/heads/') ? shortBranch(found) : null)
}

/** Runs a task with a verifier and closes it. */
export async function withVerifier<T>(
  world: World,
  arriving: Parameters<typeof openVerifier>[1],
  task: (verifier: Verifier) => Promise<T>,
): Promise<T> {
  const verifier = await openVerifier(world, arriving)
  try {
    return await task(verifier)
  } finally {
    await verifier.close()
  }
}
