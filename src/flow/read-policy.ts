import { sha256Hex } from '../git/blob-id.ts'
import { commitsOfPath } from '../git/commit-log.ts'
import { lookUpPath } from '../git/objects.ts'
import { GalleyError, type Refusal, refuse } from '../model/error.ts'
import type { CommitId, TreeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Policy, PolicyFault } from '../model/policy.ts'
import { combinePolicies } from '../policy/combine-policies.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import { parsePolicy, policyRefusal } from '../policy/policy-file.ts'
import { policyWhileBroken } from '../policy/repair-policy.ts'
import type { World } from './world.ts'

export const POLICY_PATH = '.galley.json'

export interface PolicyInForce {
  readonly policy: Policy
  /** Lower-case hex SHA-256 of the file's bytes; of nothing, where there is no file. */
  readonly hash: string
  readonly exists: boolean
  /** Why the file cannot be read, where it cannot: the rules are the strictest then. */
  readonly broken: Refusal | null
}

/**
 * Reads the policy from a commit's tree: never from the proposal, never from the working tree.
 *
 * A file that does not parse is no permission, and no dead end either: the rules of `policyWhileBroken` count, and every answer
 * says so.
 *
 * @throws GalleyError `invalid-policy`, if the file is not in this clone.
 */
export async function readPolicy(world: World, tree: TreeId | null): Promise<PolicyInForce> {
  const read = await readPolicyFile(world, tree)
  if (read.broken === null) return { ...read, broken: null }
  world.notices.add(`${read.broken.message}. Until it is mended, each change needs a person.`)
  return { ...read, policy: policyWhileBroken(await lastReadable(world)) }
}

/** The policy of a commit's tree as it stands, its faults beside it. */
export async function readPolicyFile(world: World, tree: TreeId | null): Promise<PolicyInForce> {
  const reader = await world.reader()
  const found = await lookUpPath(reader, tree, POLICY_PATH)
  if (found.kind === 'absent')
    return { policy: defaultPolicy, hash: sha256Hex(''), exists: false, broken: null }
  if (found.kind !== 'file' || !found.entry.mode.startsWith('100')) {
    const message = `${POLICY_PATH} cannot be read: it is not a regular file`
    const broken: Refusal = { code: 'invalid-policy', message, data: { path: POLICY_PATH } }
    return { policy: defaultPolicy, hash: sha256Hex(''), exists: true, broken }
  }
  const info = await reader.info(found.entry.id)
  const isHuge = info !== null && info.size > limits.policyMaxBytes
  // The parser refuses by size as well, and needs no more than that to do so.
  const blob = isHuge
    ? { bytes: Buffer.alloc(limits.policyMaxBytes + 1) }
    : await reader.contents(found.entry.id)
  if (blob === null) {
    refuse(
      'invalid-policy',
      `${POLICY_PATH} cannot be read: its blob is not in this clone`,
      { path: POLICY_PATH },
      `In a partial clone, \`git cat-file -p ${found.entry.id}\` fetches it.`,
    )
  }
  const { policy, faults } = parsePolicy(blob.bytes)
  const hash = isHuge ? sha256Hex(found.entry.id) : sha256Hex(blob.bytes)
  return { policy, hash, exists: true, broken: policyRefusal(faults, POLICY_PATH) }
}

/** Versions of the file that are looked at for one that can be read. */
const VERSIONS_MAX = 50

/** The newest policy that could be read on the line of the branch that HEAD names; null = there was none. */
async function lastReadable(world: World): Promise<Policy | null> {
  const reader = await world.reader()
  const commits = await commitsOfPath(world.repository.door, POLICY_PATH, VERSIONS_MAX)
  for (const commit of commits) {
    const read = await readPolicyFile(world, await reader.commitTree(commit))
    if (read.broken === null) return read.policy
  }
  return null
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
    broken: ofTip.broken ?? ofBase.broken,
  }
}

/** All faults at once, each with its line. */
export function refusePolicy(faults: readonly PolicyFault[]): void {
  const refusal = policyRefusal(faults, POLICY_PATH)
  if (refusal !== null) throw new GalleyError(refusal)
}
