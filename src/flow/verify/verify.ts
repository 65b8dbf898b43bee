import { isAncestor, listLine } from '../../git/commit-log.ts'
import { headBranch, listRefs, resolveCommit } from '../../git/refs.ts'
import { refuse } from '../../model/error.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { CommitVerdict, Verdict, Verification } from '../../model/verdict.ts'
import { withTemporaryDirectory } from '../../sys/temporary.ts'
import type { World } from '../world.ts'
import { guardOf } from './guard-of.ts'
import { judgeBranch } from './judge-branch.ts'
import { judgeCommits } from './judge-commits.ts'
import { guardWithin, type StepPolicy, stepPolicy } from './step-policy.ts'
import { openVerifier, type Verifier } from './verifier.ts'

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
  /** One commit, judged as a step from its first parent, with all that the verdict rests on; the range is not asked then. */
  readonly explain?: string
}

/**
 * Recomputes what the commits of a range change, from the objects alone, and holds it against the approvals that this repository has, in
 * galley's store or as plain refs. Leaves nothing.
 *
 * For a guarded branch the steps of its first-parent line are judged (`judgeBranch`), else every commit by itself (`judgeCommits`). The policy
 * (whose approvals count, which branches are guarded) is that of the state before each step, never that of what is verified.
 *
 * @throws GalleyError `usage`, if the range names no commit, or its start is not on a guarded branch's line; `invalid-policy`; `not-approved`,
 * if signatures cannot be verified at all.
 */
export async function verify(here: World, request: VerifyRequest): Promise<Verification> {
  const { allowedSigners } = request
  const world: World = allowedSigners === undefined ? here : { ...here, allowedSigners }
  const range = await rangeOf(world, request)
  const arriving = { objects: null, rows: [], guardsAt: range.from ?? range.to }
  return withVerifier(world, arriving, async (verifier) => {
    const branches = await branchesOf(world, range, request.onto)
    const asked = { branches, requireSignature: request.requireSignature === true }
    const policyAt = (tree: TreeId | null) => stepPolicy(verifier, tree, asked)
    const at = request.now === true ? world.now() : 'commit'
    const common = { tip: range.to, policyAt, at, explains: request.explain !== undefined } as const
    const before = await policyAt(range.from === null ? null : await verifier.reader.commitTree(range.from))
    const guardedBy = before.guardedBy ?? (await guardWithin(verifier, range, branches))
    const isLine = guardedBy !== null && (await isOnWay(verifier, range, before))
    const from = range.from === null ? [] : [range.from]
    const commits = isLine
      ? await judgeBranch(verifier, { ...common, start: range.from })
      : await judgeCommits(verifier, { ...common, exclude: from, policyOf: range.from })
    const onto = branches.find((branch) => guardOf(before.rules.policy, [branch]) !== null) ?? branches.at(-1)
    return { from, to: range.to, onto: onto ?? null, guardedBy, commits, counts: countVerdicts(commits) }
  })
}

/** Whether the end has the start. A guarded branch cannot be judged from where it never was. */
async function isOnWay({ door }: Verifier, { from, to, text }: Range, before: StepPolicy): Promise<boolean> {
  if (from === null || from === to || (await isAncestor(door, from, to))) return true
  if (before.guardedBy === null) return false
  const [above] = (await listLine(door, [to], [from])).slice(-1)
  const fork = above === undefined ? null : await resolveCommit(door, `${above}^1`)
  const instead =
    fork === null
      ? ''
      : `, or look at it from where it parted: \`galley verify ${fork.slice(0, 12)}..${to.slice(0, 12)}\``
  refuse(
    'usage',
    `${text}: the second has not got the first, so that it is no step of a guarded branch that stands there`,
    { range: text, from, to },
    `Rebase it onto the branch, or merge it there, and verify that${instead}.`,
  )
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
  readonly text: string
}

async function rangeOf(world: World, { range, explain }: VerifyRequest): Promise<Range> {
  if (explain === undefined) return readRange(world, range)
  const { door } = world.repository
  const to = await resolveCommit(door, explain)
  if (to === null) {
    refuse('usage', `no commit is called ${JSON.stringify(explain.slice(0, 80))}`, { explain })
  }
  return { from: await resolveCommit(door, `${to}^1`), to, names: [], text: explain }
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
    text,
  }
}

/** Which branches' guards count: the one given, or those that the range names (`origin/main..topic` is for main); none = it is not known. */
async function branchesOf(world: World, range: Range, onto: string | undefined): Promise<readonly string[]> {
  if (onto !== undefined) return [shortBranch(onto)]
  const head = await headBranch(world.repository.door)
  const named = await Promise.all(range.names.map((name) => branchOf(world, name, head)))
  const ofRange = named.flatMap((branch) => branch ?? [])
  return ofRange.length > 0 || head === null ? ofRange : [shortBranch(head)]
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
export const withVerifier = <T>(
  world: World,
  arriving: Parameters<typeof openVerifier>[2],
  task: (verifier: Verifier) => Promise<T>,
): Promise<T> =>
  withTemporaryDirectory(async (directory) => {
    const verifier = await openVerifier(world, directory, arriving)
    try {
      return await task(verifier)
    } finally {
      await verifier.close()
    }
  })
