import { sha256Hex } from '../git/blob-id.ts'
import { lookUpPath } from '../git/objects.ts'
import { GalleyError, refuse } from '../model/error.ts'
import type { CommitId, TreeId } from '../model/ids.ts'
import type { Policy, PolicyFault } from '../model/policy.ts'
import { combinePolicies } from '../policy/combine-policies.ts'
import { parsePolicy, policyRefusal } from '../policy/policy-file.ts'
import type { World } from './world.ts'

export const POLICY_PATH = '.galley.json'

export interface PolicyInForce {
  readonly policy: Policy
  /** Lower-case hex SHA-256 of the file's bytes; of nothing, where there is no file. */
  readonly hash: string
  readonly exists: boolean
}

/**
 * Reads the policy from a commit's tree: never from the proposal, never from the working tree.
 *
 * @throws GalleyError `invalid-policy`, listing every fault with its line.
 */
export async function readPolicy(world: World, tree: TreeId | null): Promise<PolicyInForce> {
  const reader = await world.reader()
  const found = await lookUpPath(reader, tree, POLICY_PATH)
  const blob = found.kind === 'file' ? await reader.contents(found.entry.id) : null
  // A policy that cannot be read is no permission: it fails closed.
  if (
    found.kind !== 'absent' &&
    (blob === null || found.kind !== 'file' || !found.entry.mode.startsWith('100'))
  ) {
    const what =
      found.kind === 'file' && blob === null ? 'its blob is not in this clone' : 'it is not a regular file'
    refuse(
      'invalid-policy',
      `${POLICY_PATH} cannot be read: ${what}`,
      { path: POLICY_PATH },
      'In a partial clone, `git checkout` or `git cat-file -p <commit>:.galley.json` fetches it.',
    )
  }
  const { policy, faults } = parsePolicy(blob?.bytes ?? null)
  refusePolicy(faults)
  return { policy, hash: sha256Hex(blob?.bytes ?? ''), exists: blob !== null }
}

/** The policy for a change on one commit's tree that is to land on another's: see `combinePolicies`. */
export async function readPolicyFor(
  world: World,
  base: TreeId | null,
  tip: TreeId | null,
): Promise<PolicyInForce> {
  const ofTip = await readPolicy(world, tip)
  return tip === base ? ofTip : combined(ofTip, await readPolicy(world, base))
}

/** The tip's policy, made stricter by that of a change's base. */
export async function withBasePolicy(
  world: World,
  ofTip: PolicyInForce,
  base: CommitId | null,
): Promise<PolicyInForce> {
  const tree = base === null ? null : await (await world.reader()).commitTree(base)
  return combined(ofTip, await readPolicy(world, tree))
}

function combined(ofTip: PolicyInForce, ofBase: PolicyInForce): PolicyInForce {
  if (ofBase.hash === ofTip.hash) return ofTip
  return {
    policy: combinePolicies(ofTip.policy, ofBase.policy),
    hash: sha256Hex(`${ofTip.hash} ${ofBase.hash}`),
    exists: ofTip.exists || ofBase.exists,
  }
}

/** All faults at once, each with its line. */
export function refusePolicy(faults: readonly PolicyFault[]): void {
  const refusal = policyRefusal(faults, POLICY_PATH)
  if (refusal !== null) throw new GalleyError(refusal)
}
