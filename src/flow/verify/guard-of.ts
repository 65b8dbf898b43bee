import type { Policy } from '../../model/policy.ts'
import { branchMatcher } from '../../policy/path-matcher.ts'

/** The pattern that guards one of these branches; of no branch named, any pattern. null = nothing guards them. */
export function guardOf({ guard }: Policy, branches: readonly string[]): string | null {
  if (branches.length === 0) return guard[0] ?? null
  const matches = branchMatcher(guard)
  return branches.map(matches).find((pattern) => pattern !== null) ?? null
}
