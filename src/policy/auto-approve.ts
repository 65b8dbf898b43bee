import type { CheckResult, RevisionFile } from '../model/change.ts'
import { tiers } from '../model/edit.ts'
import type { CommitId } from '../model/ids.ts'
import type { Manifest } from '../model/manifest.ts'
import type { AutoApprove, Policy } from '../model/policy.ts'
import type { Remark } from '../model/resolution.ts'
import { judgeTransitions, protectedPaths } from './judge-manifest.ts'
import { exactMatcher } from './path-matcher.ts'
import { pathsTaken } from './paths-taken.ts'
import { quote } from './quote.ts'
import { judgeChecks } from './required-checks.ts'

export interface AutoApprovalFacts {
  readonly manifest: Manifest
  readonly files: readonly RevisionFile[]
  readonly remarks: readonly Remark[]
  readonly checks: readonly CheckResult[]
  /** Results for other commits count for nothing. Left out where all are of the revision's commit. */
  readonly commit?: CommitId
  /** New files that the ignore rules cover. Left out where nobody can tell: those are the rules of one machine. */
  readonly ignored?: readonly string[]
}

export type AutoApproval =
  /** `rule` is the rule's text as JSON, for the record. */
  { readonly kind: 'yes'; readonly rule: string } | { readonly kind: 'no'; readonly reason: string }

/**
 * Decides whether the policy's `autoApprove` approves a revision without a person.
 *
 * It does where every path matches one of its globs exactly as written, nothing is protected, denied or ignored, no uncommitted work goes along, no bound is
 * passed, every match was within its tier, and every check that it or the policy requires has passed. A rule is one
 * approver: it never stands for `approval.count` of more, nor for `approval.requires` of a terminal or a signature.
 */
export function autoApproves(policy: Policy, facts: AutoApprovalFacts): AutoApproval {
  const rule = policy.autoApprove
  if (rule === null) return { kind: 'no', reason: 'the policy has no autoApprove' }
  const reason =
    approvalReason(policy) ??
    judgementReason(policy, facts.manifest) ??
    ignoredReason(facts.ignored) ??
    uncommittedReason(facts.remarks) ??
    pathReason(rule, facts.manifest) ??
    sizeReason(rule, facts) ??
    tierReason(rule, facts) ??
    checkReason(policy, rule, facts)
  return reason === null
    ? { kind: 'yes', rule: JSON.stringify({ autoApprove: rule }) }
    : { kind: 'no', reason }
}

function approvalReason({ mode, approval }: Policy): string | null {
  if (mode === 'read-only') return 'the mode is read-only'
  if (approval.requires !== 'any') return `approval.requires is "${approval.requires}"`
  return approval.count > 1 ? `approval.count is ${approval.count}` : null
}

function judgementReason(policy: Policy, manifest: Manifest): string | null {
  if (manifest.length === 0) return 'nothing changes'
  const denied = judgeTransitions(policy, manifest, () => 0)[0]
  if (denied !== undefined) return denied.message
  const guarded = protectedPaths(policy, manifest)[0]
  return guarded === undefined ? null : `${quote(guarded.path)} is protected: ${guarded.reason}`
}

/** `git add .` would not have taken it: whoever wrote the rule did not think of it. */
function ignoredReason([path]: readonly string[] = []): string | null {
  return path === undefined ? null : `${quote(path)} is new, and the ignore rules cover it`
}

/** Work that nobody has committed is its owner's to give. */
function uncommittedReason(remarks: readonly Remark[]): string | null {
  const [path] = pathsTaken(remarks)
  return path === undefined ? null : `uncommitted work in ${quote(path)} goes along`
}

function pathReason(rule: AutoApprove, manifest: Manifest): string | null {
  const matches = exactMatcher(rule.paths)
  const stranger = manifest.find(({ path }) => matches(path) === null)
  return stranger === undefined ? null : `no pattern of autoApprove.paths matches ${quote(stranger.path)}`
}

function sizeReason(rule: AutoApprove, { manifest, files }: AutoApprovalFacts): string | null {
  if (rule.maxFiles !== null && manifest.length > rule.maxFiles) {
    return `${manifest.length} paths change, more than autoApprove.maxFiles (${rule.maxFiles})`
  }
  if (rule.maxLines === null) return null
  const binary = files.find((file) => file.added === null || file.removed === null)
  if (binary !== undefined) return `${quote(binary.path)} is binary; its lines cannot be counted`
  const lines = files.reduce((sum, file) => sum + (file.added ?? 0) + (file.removed ?? 0), 0)
  return lines > rule.maxLines
    ? `${lines} lines change, more than autoApprove.maxLines (${rule.maxLines})`
    : null
}

function tierReason(rule: AutoApprove, { manifest, files }: AutoApprovalFacts): string | null {
  const described = new Set(files.map((file) => file.path))
  const unknown = manifest.find(({ path }) => !described.has(path))
  if (unknown !== undefined) return `how ${quote(unknown.path)} was matched is not recorded`
  const lenient = files.find((file) => tiers.indexOf(file.tier) > tiers.indexOf(rule.maxTier))
  if (lenient === undefined) return null
  return `${quote(lenient.path)} was matched at tier "${lenient.tier}", beyond autoApprove.maxTier ("${rule.maxTier}")`
}

function checkReason(policy: Policy, rule: AutoApprove, facts: AutoApprovalFacts): string | null {
  const { manifest, commit } = facts
  const results =
    commit === undefined ? facts.checks : facts.checks.filter((check) => check.commit === commit)
  const { failed, missing } = judgeChecks(policy, { manifest, results, names: rule.checks })
  const [bad] = failed
  if (bad !== undefined)
    return `the check ${quote(bad.name)} ${bad.outcome === 'failed' ? 'failed' : 'timed out'}`
  return missing[0] === undefined ? null : `the check ${quote(missing[0])} did not run`
}
