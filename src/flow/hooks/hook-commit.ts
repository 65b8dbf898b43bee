import { join } from 'node:path'
import { diffIndex } from '../../git/diff-index.ts'
import { objectDirectories } from '../../git/object-directories.ts'
import { listRefs } from '../../git/refs.ts'
import { type CommitId, commitId, isObjectId } from '../../model/ids.ts'
import { type Manifest, manifestOf } from '../../model/manifest.ts'
import type { Policy } from '../../model/policy.ts'
import type { CommitVerdict } from '../../model/verdict.ts'
import { isFailure } from '../../model/verdict.ts'
import { agentAtWork } from '../../policy/agent-environment.ts'
import { claimsOf } from '../../policy/claims.ts'
import { readFileOrNull } from '../../sys/small-files.ts'
import { judgeBranch } from '../verify/judge-branch.ts'
import { judgeCommits } from '../verify/judge-commits.ts'
import type { StagedCommit } from '../verify/range-request.ts'
import { type StepPolicy, stepPolicy } from '../verify/step-policy.ts'
import type { Verifier } from '../verify/verifier.ts'
import { withVerifier } from '../verify/verify.ts'
import type { Head, World } from '../world.ts'
import { refuseUnapproved } from './hook-refusal.ts'

/**
 * Judges the commit that git is about to make, for `pre-commit` and `pre-merge-commit`: what the index that git named holds against
 * HEAD. A person on a branch without a guard is not looked at.
 *
 * @throws GalleyError `unapproved`, naming the paths, who may approve, and the one command that goes on.
 */
export async function guardCommit(world: World): Promise<void> {
  const head = await world.head()
  await withVerifier(world, undefined, async (verifier) => {
    const watch = await watchOver(verifier, head)
    if (watch.agent === null && watch.guardedBy === null) return
    const failures = await judgeStaged(verifier, head, watch, '')
    if (failures.length > 0) refuseUnapproved({ what: 'this commit', failures, ...watch })
  })
}

/**
 * Looks at the message of a commit that is about to be made, for `commit-msg`: one that names a change must be covered by it.
 *
 * @returns A remark for a person, who is not refused; null where there is nothing to say.
 * @throws GalleyError `unapproved` or `forged`, for an agent or on a guarded branch.
 */
export async function guardMessage(world: World, message: Uint8Array): Promise<string | null> {
  const text = withoutScissors(Buffer.from(message).toString('utf8'))
  const claims = claimsOf(text)
  if (claims.changes.length === 0 && !claims.byAgent) return null
  const head = await world.head()
  return withVerifier(world, undefined, async (verifier) => {
    const watch = await watchOver(verifier, head)
    const failures = await judgeStaged(verifier, head, watch, text)
    const [first] = failures
    if (first === undefined) return null
    if (watch.agent !== null || watch.guardedBy !== null) {
      return refuseUnapproved({ what: 'this commit', failures, ...watch })
    }
    return `galley: note: ${first.reason}; \`galley verify\` will say so. Take the Galley- lines out of the message if this is your own commit.\n`
  })
}

/** What `git commit --verbose` puts below the message is not part of it. */
const withoutScissors = (text: string): string => text.split(/^# -{24} >8 -{24}$/m, 1)[0] ?? ''

/** Why a commit is looked at, and by which policy. */
export interface Watch {
  /** The variable that shows an agent at work. */
  readonly agent: string | null
  readonly branch: string | null
  readonly guardedBy: string | null
  readonly policy: Policy
  readonly tip: CommitId | null
  /** What a commit on top of it is judged by. */
  readonly state: StepPolicy
}

async function watchOver(verifier: Verifier, head: Head): Promise<Watch> {
  const agent = agentAtWork(verifier.world.repository.env)
  const branch = head.detached ? null : head.ref.replace(/^refs\/heads\//, () => '')
  const tree = head.tip === null ? null : await verifier.reader.commitTree(head.tip)
  const state = await stepPolicy(verifier, tree, {
    // A detached HEAD is no branch: nothing is guarded there until a branch is moved to it.
    branches: [branch ?? NO_BRANCH],
    isAgent: agent !== null,
    forgivesBroken: agent === null,
  })
  const { policy } = state.rules
  return { agent, branch, guardedBy: state.guardedBy, policy, tip: head.tip, state }
}

/** A name that no branch can have. */
export const NO_BRANCH = ''

/** The staged commit, and what a merge in progress brings along. */
async function judgeStaged(
  verifier: Verifier,
  head: Head,
  watch: Watch,
  message: string,
): Promise<readonly CommitVerdict[]> {
  const { world } = verifier
  const merged = await mergeHeads(world)
  const parents = [...(head.tip === null ? [] : [head.tip]), ...merged]
  const staged: StagedCommit = {
    parents,
    message,
    against: (tree, objects) => stagedSteps(world, tree, objects),
  }
  const common = { tip: head.tip, policyAt: async () => watch.state, at: world.now(), staged }
  const verdicts =
    watch.guardedBy === null
      ? await judgeCommits(verifier, {
          ...common,
          exclude: [...(head.tip === null ? [] : [head.tip]), ...(await publishedTips(world, watch.branch))],
          policyOf: head.tip,
        })
      : await judgeBranch(verifier, { ...common, start: head.tip })
  return verdicts.filter((one) => isFailure(one.verdict))
}

/** What is being merged. `pre-merge-commit` is asked before MERGE_HEAD is written; then git's variables name it. */
async function mergeHeads(world: World): Promise<readonly CommitId[]> {
  const { gitDir, env } = world.repository
  const text = (await readFileOrNull(join(gitDir, 'MERGE_HEAD')))?.toString('latin1') ?? ''
  const written = text.split('\n').filter(isObjectId)
  if (written.length > 0) return written.map(commitId)
  const named = Object.keys(env).flatMap((name) => /^GITHEAD_([0-9a-f]+)$/.exec(name)?.[1] ?? [])
  return named.filter(isObjectId).map(commitId)
}

/** Where remotes have the branch: what has been published there is the server's to judge, and a pull must go through. */
export async function publishedTips(world: World, branch: string | null): Promise<readonly CommitId[]> {
  if (branch === null) return []
  const rows = await listRefs(world.repository.door, 'refs/remotes/')
  const isOfBranch = (ref: string) => ref.split('/').slice(3).join('/') === branch
  return rows.filter((row) => isOfBranch(row.ref)).map((row) => commitId(row.object))
}

/** Of the index that git named to the hook: `commit -a` and `commit -- path` have one of their own. */
async function stagedSteps(world: World, tree: string, objects: string | null): Promise<Manifest> {
  const { door, env } = world.repository
  const index = env['GIT_INDEX_FILE']
  const extraEnv = {
    ...door.extraEnv,
    ...(index === undefined || index === '' ? {} : { GIT_INDEX_FILE: index }),
    ...(objects === null ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(objects) }),
  }
  const found = await diffIndex({ ...door, extraEnv }, tree, 'index')
  return manifestOf(
    found.map(({ path, shown, oldMode, oldBlob, newMode, newBlob }) => {
      // A name that is not UTF-8 is none that an approval can hold.
      return { path: path ?? `${shown}\0`, oldMode, oldBlob, newMode, newBlob }
    }),
  )
}
