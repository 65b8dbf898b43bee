import { GalleyError } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { Policy } from '../model/policy.ts'
import { parsePolicy } from '../policy/policy-file.ts'
import { readWorkTreeFile } from '../sys/work-tree-file.ts'
import { POLICY_PATH, readPolicyFile, refusePolicy } from './read-policy.ts'
import type { World } from './world.ts'

/**
 * Reads the policy that is in force, or the one in the work tree that would be after a commit.
 *
 * @throws GalleyError `invalid-policy`, listing every fault with its line.
 */
export async function checkPolicyFile(
  world: World,
  ofHead: boolean,
): Promise<{ readonly exists: boolean; readonly policy: Policy }> {
  const root = world.repository.workTree
  if (ofHead || root === null) {
    const { tip } = await world.head()
    const { policy, exists, broken } = await readPolicyFile(
      world,
      tip === null ? null : await (await world.reader()).commitTree(tip),
    )
    if (broken !== null) throw new GalleyError(broken)
    return { exists, policy }
  }
  const file = await readWorkTreeFile(root, POLICY_PATH, limits.policyMaxBytes)
  const bytes = file.kind === 'file' ? file.bytes : null
  const { policy, faults } = parsePolicy(bytes)
  refusePolicy(faults)
  return { exists: bytes !== null, policy }
}
