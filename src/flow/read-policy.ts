import { sha256Hex } from '../git/blob-id.ts'
import { lookUpPath } from '../git/objects.ts'
import { GalleyError } from '../model/error.ts'
import type { TreeId } from '../model/ids.ts'
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
  const { policy, faults } = parsePolicy(blob?.bytes ?? null)
  refusePolicy(faults)
  return { policy, hash: sha256Hex(blob?.bytes ?? ''), exists: blob !== null }
}

/**
 * The policies that a change has to satisfy: its base's, and that of the tip it is to land on, where that is another commit. An old
 * or foreign base must not choose its own rules.
 */
export async function readPolicies(
  world: World,
  base: TreeId | null,
  tip: TreeId | null,
): Promise<readonly [PolicyInForce, ...PolicyInForce[]]> {
  const ofBase = await readPolicy(world, base)
  if (tip === base) return [ofBase]
  const ofTip = await readPolicy(world, tip)
  return ofTip.hash === ofBase.hash ? [ofBase] : [ofTip, ofBase]
}

/** The policy for a change on one commit's tree that is to land on another's: see `combinePolicies`. */
export async function readPolicyFor(
  world: World,
  base: TreeId | null,
  tip: TreeId | null,
): Promise<PolicyInForce> {
  const ofTip = await readPolicy(world, tip)
  if (tip === base) return ofTip
  const ofBase = await readPolicy(world, base)
  return ofBase.hash === ofTip.hash
    ? ofTip
    : { ...ofTip, policy: combinePolicies(ofTip.policy, ofBase.policy) }
}

/** All faults at once, each with its line. */
export function refusePolicy(faults: readonly PolicyFault[]): void {
  const refusal = policyRefusal(faults, POLICY_PATH)
  if (refusal !== null) throw new GalleyError(refusal)
}
