import type { Policy } from '../model/policy.ts'
import { defaultPolicy } from './default-policy.ts'

/**
 * The rules while the policy of a commit cannot be read (DESIGN.md section 10): it is mended through galley itself, by a person.
 *
 * No rule approves anything, every path needs a person, and all else is as the last policy that could be read said: its guards, its
 * checks, and whose approvals it asked for, so that breaking the file is no way round them. Where there was none, every branch is guarded.
 */
export const policyWhileBroken = (last: Policy | null): Policy => ({
  ...(last ?? { ...defaultPolicy, guard: EVERYTHING }),
  autoApprove: null,
  protect: EVERYTHING,
  recheck: 'full',
})

const EVERYTHING: readonly string[] = ['**']
