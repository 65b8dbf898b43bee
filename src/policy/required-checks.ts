import type { CheckResult } from '../model/change.ts'
import type { Manifest } from '../model/manifest.ts'
import type { CheckCommand, Policy } from '../model/policy.ts'
import { coveringMatcher } from './path-matcher.ts'

/** The checks of the policy that a change of these paths calls for: those without `paths`, and those that one matches. */
export function applicableChecks(policy: Policy, manifest: Manifest): readonly CheckCommand[] {
  return policy.checks.filter((check) => {
    if (check.paths.length === 0) return true
    const matches = coveringMatcher(check.paths)
    return manifest.some(({ path }) => matches(path) !== null)
  })
}

export interface CheckVerdict {
  /** Required checks that ran on the commit and did not pass. */
  readonly failed: readonly CheckResult[]
  /** Names of required checks without a result for the commit. */
  readonly missing: readonly string[]
}

/**
 * Holds the results against what is required: by the policy for this manifest, by `names`, and by the results that
 * call themselves required. Of several results of one name the last one counts.
 *
 * @param facts.results - Results for the one commit that is judged.
 */
export function judgeChecks(
  policy: Policy,
  facts: {
    readonly manifest: Manifest
    readonly results: readonly CheckResult[]
    readonly names: readonly string[]
  },
): CheckVerdict {
  const latest = new Map(facts.results.map((result) => [result.name, result]))
  const ofPolicy = applicableChecks(policy, facts.manifest).filter((check) => check.required)
  const ofResults = [...latest.values()].filter((result) => result.required)
  const names = new Set([...ofPolicy, ...ofResults].map((check) => check.name).concat(facts.names))
  const failed: CheckResult[] = []
  const missing: string[] = []
  for (const name of names) {
    const result = latest.get(name)
    if (result === undefined || result.outcome === 'missing') missing.push(name)
    else if (result.outcome !== 'passed') failed.push(result)
  }
  return { failed, missing }
}
