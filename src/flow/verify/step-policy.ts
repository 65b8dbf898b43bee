import { walkLine } from '../../git/commit-log.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { Policy } from '../../model/policy.ts'
import { defaultPolicy } from '../../policy/default-policy.ts'
import { POLICY_PATH, readPolicy, readPolicyFile } from '../read-policy.ts'
import type { ApprovalRules } from './covering.ts'
import { guardOf } from './guard-of.ts'
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
  /** A person may commit the repair of a policy that cannot be read: their own hooks let it pass, and the server has the last word. */
  readonly forgivesBroken?: boolean
}

/** The policy of a tree, for some branches. */
export async function stepPolicy(
  verifier: Verifier,
  tree: TreeId | null,
  request: PolicyRequest,
): Promise<StepPolicy> {
  const read = await readPolicy(verifier.world, tree)
  const policy = read.broken !== null && request.forgivesBroken === true ? defaultPolicy : read.policy
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
    const { policy, broken } = await readPolicyFile(verifier.world, tree)
    const guardedBy = broken === null ? guardOf(policy, branches) : null
    if (guardedBy !== null) return guardedBy
  }
  return null
}

/** Whether a step changes what the next one is judged by. */
export const movesPolicy = (transitions: Manifest, { rules }: StepPolicy): boolean =>
  transitions.some(({ path }) => path === POLICY_PATH || path === rules.policy.allowedSigners)
