import { loadChange, policyOf } from '../logged-change.ts'
import type { World } from '../world.ts'

/** What the policy asks of whoever approves: for a view to say before the last question. */
export interface ApprovalNeeds {
  /** Different people. */
  readonly count: number
  readonly requires: 'any' | 'terminal' | 'signature'
  /** The approval is signed, with the key that git is configured with. */
  readonly isSigned: boolean
}

export async function approvalNeeds(world: World, id: string): Promise<ApprovalNeeds> {
  const { policy } = await policyOf(world, await loadChange(world, await world.store(), id))
  const { count, requires } = policy.approval
  return { count, requires, isSigned: policy.sign === 'ssh' }
}
