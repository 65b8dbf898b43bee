import { walkLine } from '../../git/commit-log.ts'
import { GalleyError } from '../../model/error.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { Policy } from '../../model/policy.ts'
import { defaultPolicy } from '../../policy/default-policy.ts'
import { branchMatcher } from '../../policy/path-matcher.ts'
import { POLICY_PATH, readPolicy } from '../read-policy.ts'
import type { ApprovalRules } from './covering.ts'
import { rulesOf, type Verifier } from './verifier.ts'

/** What a step is judged by: the state of the branch before it. */
export interface StepPolicy {
  readonly rules: ApprovalRules
  /** The pattern that guards the branch; null = nothing does. */
  readonly guardedBy: string | null
  /** Everything must be covered, on whatever branch. */
  readonly isStrict: boolean
}

export interface PolicyRequest {
  /** Branches that the commits may be for: one that is guarded is enough. None = any guard counts, for it must not fail open. */
  readonly branches: readonly string[]
  readonly requireSignature?: boolean
  /** An agent is at work: what it commits must be covered wherever it is. */
  readonly isAgent?: boolean
  /** What a policy that cannot be read stands for. Default: it is refused. */
  readonly unreadable?: (error: unknown) => { readonly policy: Policy }
}

/** The policy of a tree, for some branches. */
export async function stepPolicy(
  verifier: Verifier,
  tree: TreeId | null,
  request: PolicyRequest,
): Promise<StepPolicy> {
  const reading = readPolicy(verifier.world, tree)
  const { unreadable } = request
  const { policy } = await (unreadable === undefined ? reading : reading.catch(unreadable))
  const inForce: Policy =
    request.requireSignature === true
      ? { ...policy, approval: { ...policy.approval, requires: 'signature' } }
      : policy
  const guardedBy = guardOf(policy, request.branches)
  return {
    rules: rulesOf(verifier, inForce, tree),
    guardedBy,
    isStrict: guardedBy !== null || request.isAgent === true,
  }
}

export function guardOf({ guard }: Policy, branches: readonly string[]): string | null {
  if (branches.length === 0) return guard[0] ?? null
  const matches = branchMatcher(guard)
  return branches.map(matches).find((pattern) => pattern !== null) ?? null
}

/**
 * The guard of a line that none stood over at its start: it may come on the way, and go again. What comes after it is judged by it.
 *
 * One process, and a look at each policy.
 */
export async function guardWithin(
  verifier: Verifier,
  { from, to }: { readonly from: CommitId | null; readonly to: CommitId },
  branches: readonly string[],
): Promise<string | null> {
  const range = { include: [to], exclude: from === null ? [] : [from] }
  for (const { tree } of await walkLine(verifier.door, range, [POLICY_PATH])) {
    // One that cannot be read guards nothing yet: whoever brings it is judged by what stood before.
    const { policy } = await readPolicy(verifier.world, tree).catch(withoutPolicy)
    const guardedBy = guardOf(policy, branches)
    if (guardedBy !== null) return guardedBy
  }
  return null
}

function withoutPolicy(error: unknown): { readonly policy: Policy } {
  if (error instanceof GalleyError && error.code === 'invalid-policy') return { policy: defaultPolicy }
  throw error
}

/** Whether a step changes what the next one is judged by. */
export const movesPolicy = (transitions: Manifest, { rules }: StepPolicy): boolean =>
  transitions.some(({ path }) => path === POLICY_PATH || path === rules.policy.allowedSigners)
