import type { Policy } from '../model/policy.ts'
import { strictest } from './judge.ts'

/**
 * The policy for a change that stands on one commit and is to land on another: the tip's, made stricter by the base's. An old
 * or foreign base must not choose its own rules, and a rule that has been withdrawn approves nothing.
 */
export function combinePolicies(tip: Policy, base: Policy): Policy {
  const known = new Set(tip.checks.map((check) => check.name))
  return {
    ...tip,
    mode: strictest(tip.mode, base.mode),
    deny: [...new Set([...tip.deny, ...base.deny])],
    protect: [...new Set([...tip.protect, ...base.protect])],
    autoApprove: sameValue(tip.autoApprove, base.autoApprove) ? tip.autoApprove : null,
    recheck: base.recheck === 'full' ? 'full' : tip.recheck,
    checks: [...tip.checks, ...base.checks.filter((check) => !known.has(check.name))],
  }
}

/** Both were filled in by the same reader, so that equal rules are written equally. */
const sameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
