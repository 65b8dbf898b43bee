import type { CheckResult } from '../model/change.ts'
import type { Tier } from '../model/edit.ts'
import { type CommitId, commitId } from '../model/ids.ts'
import { type FileMode, manifestOf } from '../model/manifest.ts'
import type { PermissionMode, Policy } from '../model/policy.ts'
import { autoApproves } from './auto-approve.ts'
import { protectedKinds } from './default-protect.ts'
import { judgeManifest } from './judge-manifest.ts'
import { coveringMatcher, exactMatcher } from './path-matcher.ts'
import { applicableChecks } from './required-checks.ts'

/** A change of one file, as far as somebody asks about it. */
export interface AskedChange {
  readonly path: string
  readonly oldMode: FileMode
  readonly newMode: FileMode
  /** Lines added and removed together. */
  readonly lines: number
  /** How leniently the old text was matched. */
  readonly tier: Tier
  readonly permissionMode: PermissionMode
  /** What the checks come to. */
  readonly checks: 'passed' | 'failed'
}

export interface PathExplanation {
  /** `refused`: it may not be proposed. `person`: a person decides. `rule`: the policy's rule approves it. */
  readonly decision: 'refused' | 'person' | 'rule'
  /** The part of the policy that decides, as a JSON pointer with what stands there; or what galley itself says. */
  readonly by: string
  readonly why: string
  /** Checks that such a change has to pass, and runs. */
  readonly checks: readonly { readonly name: string; readonly required: boolean }[]
}

/**
 * Says what the policy makes of a change to one path, and which part of it decides: by the very functions that decide it when the change
 * comes. What only a clone knows is left out: where git's hooks lie, and what git ignores.
 */
export function explainPath(policy: Policy, asked: AskedChange): PathExplanation {
  const manifest = manifestOf([transitionOf(asked)])
  const checks = applicableChecks(policy, manifest).map(({ name, required }) => ({ name, required }))
  const judged = judgeManifest(policy, manifest, { mode: asked.permissionMode, itemOf: () => 0 })
  const [denied] = judged.denied
  if (denied !== undefined)
    return { decision: 'refused', by: denialBy(policy, asked), why: denied.message, checks }
  const [guarded] = judged.protectedPaths
  if (guarded !== undefined)
    return {
      decision: 'person',
      by: protectionBy(policy, asked.path),
      why: `${guarded.reason}${kindOf(asked.path)}`,
      checks,
    }
  const { path, lines, tier } = asked
  const found = autoApproves(policy, {
    manifest,
    files: [{ path, tier, added: lines, removed: 0 }],
    remarks: [],
    checks: checks.map(({ name, required }) => resultOf(name, required, asked)),
  })
  if (found.kind === 'no') return { decision: 'person', by: ruleBy(policy), why: found.reason, checks }
  const pattern = exactMatcher(policy.autoApprove?.paths ?? [])(path) ?? ''
  return {
    decision: 'rule',
    by: `/autoApprove/paths: ${JSON.stringify(pattern)}`,
    why: 'every condition of the rule is met',
    checks,
  }
}

const NOWHERE = '0'.repeat(40)
const COMMIT: CommitId = commitId('1'.repeat(40))

const transitionOf = ({ path, oldMode, newMode }: AskedChange) => ({
  path,
  oldMode,
  newMode,
  oldBlob: oldMode === '000000' ? NOWHERE : '2'.repeat(40),
  newBlob: newMode === '000000' ? NOWHERE : '3'.repeat(40),
})

const resultOf = (name: string, required: boolean, { checks }: AskedChange): CheckResult => ({
  name,
  required,
  commit: COMMIT,
  outcome: checks === 'failed' ? 'failed' : 'passed',
  exitCode: checks === 'failed' ? 1 : 0,
  durationMs: 0,
  summary: '',
})

function denialBy(policy: Policy, { path, permissionMode }: AskedChange): string {
  if (policy.mode === 'read-only') return '/mode: "read-only"'
  if (permissionMode === 'read-only') return 'the mode that was asked with: "read-only"'
  const pattern = coveringMatcher(policy.deny)(path)
  return pattern === null ? 'galley: nothing of .git is edited' : `/deny: ${JSON.stringify(pattern)}`
}

function protectionBy(policy: Policy, path: string): string {
  const pattern = coveringMatcher(policy.protect)(path)
  return pattern === null
    ? 'galley: what is executable, a link or a submodule needs a person'
    : `/protect: ${JSON.stringify(pattern)}`
}

function kindOf(path: string): string {
  const kind = protectedKinds.find(({ patterns }) => coveringMatcher(patterns)(path) !== null)
  return kind === undefined ? '' : `; ${kind.what} ${kind.why}`
}

const ruleBy = ({ autoApprove }: Policy): string =>
  autoApprove === null ? 'galley: without autoApprove every change needs a person' : '/autoApprove'
