import type { Approval, ChangeState, CheckResult, Revision } from '../model/change.ts'
import { assertNever, type Refusal } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import type { ChangeId, CommitId, Digest, TagId } from '../model/ids.ts'
import type { Policy } from '../model/policy.ts'
import { autoApproves } from './auto-approve.ts'
import { checksHint } from './check-hint.ts'
import { protectedPaths } from './judge-manifest.ts'
import { pathsTaken } from './paths-taken.ts'
import { judgeChecks } from './required-checks.ts'

/** What a ref of an approval holds: read from its object and checked, or why it cannot be believed. */
export type ApprovalFact =
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'broken'; readonly ref: string; readonly reason: string }

/** All that the decision rests on, read from the objects now. */
export interface LandFacts {
  readonly id: ChangeId
  readonly state: ChangeState
  /** The current one. */
  readonly revision: Revision
  /** Of the revision's commit, from trees and not from the log. */
  readonly recomputedDigest: Digest
  /** Of the revision's commit, as it is now. */
  readonly messageHash: string
  readonly approvals: readonly ApprovalFact[]
  /** Approvals whose signature was verified just now. */
  readonly signedTags?: readonly TagId[]
  readonly checks: readonly CheckResult[]
  /** In force at the tip. */
  readonly policy: Policy
  /** null = the branch does not exist (yet). */
  readonly tip: CommitId | null
  /** Paths of the manifest whose entry at the tip is not the old side of the transition. */
  readonly movedPaths: readonly string[]
  /** Paths that the agent relied on without editing them (`reads`) and that are other files now. */
  readonly movedReads?: readonly string[]
  /** New files of the manifest that the ignore rules cover, where a rule has approved them. */
  readonly ignored?: readonly string[]
  /** ISO 8601. */
  readonly now: string
}

export type LandDecision =
  /** The tip is the revision's base: the commit itself lands. */
  | { readonly kind: 'fast-forward' }
  /** The tip moved, no touched file did: same transitions on the new tip, same digest, the approval stands. */
  | { readonly kind: 're-parent' }
  /** Touched files moved: a merge makes a new revision, which needs its own approval. */
  | { readonly kind: 'merge'; readonly movedPaths: readonly string[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Decides whether and how a change may land (DESIGN.md sections 11 and 12).
 *
 * Refusals, in this order: `wrong-state`; `digest-mismatch` where bytes, message or author are not what the log or an
 * approval says; `forged` where an approval's object does not hold and no other approval suffices; `not-approved`;
 * `expired`; `checks-failed`; `check-missing`; `stale` where
 * a file that the agent relied on moved and the policy refuses that; `branch-moved` where the branch is gone.
 */
export function decideLanding(facts: LandFacts): LandDecision {
  const refusal =
    stateRefusal(facts) ??
    tamperingRefusal(facts) ??
    approvalRefusal(facts) ??
    checksRefusal(facts) ??
    readsRefusal(facts) ??
    tipRefusal(facts)
  if (refusal !== null) return { kind: 'refused', refusal }
  if (facts.tip === facts.revision.base) return { kind: 'fast-forward' }
  const { movedPaths } = facts
  return movedPaths.length === 0 ? { kind: 're-parent' } : { kind: 'merge', movedPaths }
}

function stateRefusal({ id, state }: LandFacts): Refusal | null {
  switch (state) {
    case 'staged':
    case 'approved':
      return null
    case 'rejected':
    case 'landed':
    case 'undone':
    case 'stale':
      return refusal(
        'wrong-state',
        `land ${id}: expected a change that is staged or approved, found ${state}`,
        { state },
      )
    default:
      return assertNever(state)
  }
}

function tamperingRefusal(facts: LandFacts): Refusal | null {
  const { id, revision, recomputedDigest, messageHash } = facts
  if (revision.digest !== recomputedDigest) {
    const message = `land ${id}: revision ${revision.number} was staged with digest ${revision.digest}, its commit has ${recomputedDigest}`
    return refusal('digest-mismatch', message, { expected: revision.digest, found: recomputedDigest })
  }
  const ours = approvalsOf(facts)
  const other = ours.find(
    (approval) => approval.digest !== revision.digest && approval.revision === revision.number,
  )
  if (other !== undefined) {
    const message = `land ${id}: revision ${revision.number} was approved with digest ${other.digest}, it has ${revision.digest}`
    return refusal('digest-mismatch', message, {
      expected: other.digest,
      found: revision.digest,
      tag: other.tag,
    })
  }
  const covering = ours.filter((approval) => approval.digest === revision.digest)
  const [reworded] = covering
  if (reworded === undefined || covering.some((approval) => approval.messageHash === messageHash)) return null
  const message = `land ${id}: message or author of ${revision.commit} are not those that were approved`
  return refusal('digest-mismatch', message, {
    expected: reworded.messageHash,
    found: messageHash,
    tag: reworded.tag,
  })
}

const approvalsOf = ({ id, approvals }: ApprovalFacts): readonly Approval[] =>
  approvals.flatMap((fact) =>
    fact.kind === 'approval' && fact.approval.change === id ? [fact.approval] : [],
  )

/** What the approvals of one revision are judged by: when it lands, and when a verifier meets its bytes later. */
export type ApprovalFacts = Pick<
  LandFacts,
  'id' | 'revision' | 'messageHash' | 'approvals' | 'signedTags' | 'checks' | 'policy' | 'ignored' | 'now'
>

/**
 * Counts those who approved exactly this; one person counts once, however often they approved.
 *
 * @returns null where that is enough; `expired`, `forged` or `not-approved` otherwise.
 */
export function approvalRefusal(facts: ApprovalFacts): Refusal | null {
  const { id, revision, messageHash, policy, now } = facts
  const covering = approvalsOf(facts).filter(
    (a) => a.digest === revision.digest && a.messageHash === messageHash,
  )
  const counting = covering.filter((approval) => isEnough(facts, approval))
  const needed = policy.approval.count
  const current = counting.filter((approval) => !hasExpired(approval, now))
  if (distinct(current) >= needed) return null
  if (distinct(counting) >= needed) {
    const expired = counting.find((approval) => hasExpired(approval, now))
    const message = `land ${id}: the approval by ${expired?.by ?? ''} expired at ${expired?.expires ?? ''}`
    return refusal('expired', message, { expires: expired?.expires ?? null, now })
  }
  const broken = facts.approvals.find((fact) => fact.kind === 'broken')
  if (broken !== undefined) {
    return refusal('forged', `land ${id}: the approval at ${broken.ref} does not hold: ${broken.reason}`, {
      ref: broken.ref,
    })
  }
  const reason = whyAPerson(policy, revision)
  const rule = reason === null ? '' : `; ${reason} and needs a person at a terminal or browser`
  const kind = policy.approval.requires === 'any' ? '' : ` (${policy.approval.requires})`
  const message = `land ${id}: ${needed} approval${needed === 1 ? '' : 's'}${kind} of digest ${revision.digest} needed, found ${distinct(counting)}${rule}`
  return refusal('not-approved', message, {
    needed,
    found: distinct(counting),
    requires: policy.approval.requires,
  })
}

/**
 * Why the word of an agent's client (`via: "mcp-client"`) is no approval of a revision, or null. A client can say yes by itself, so that it
 * never stands for a person at a terminal or browser.
 */
export function clientApprovalRefusal(policy: Policy, id: ChangeId, revision: Revision): Refusal | null {
  const { requires } = policy.approval
  const why =
    requires === 'any' ? whyAPerson(policy, revision) : `the policy wants an approval by ${requires}`
  if (why === null) return null
  return {
    ...refusal('not-approved', `approve ${id} through an agent's client: ${why}`, { id, requires }),
    hint: `A person approves it in a terminal of their own: \`galley show ${id}\`, \`galley approve ${id}\`.`,
  }
}

/** Why a revision needs a person at a terminal or browser, or null. */
function whyAPerson(policy: Policy, { manifest, remarks }: Revision): string | null {
  const [guarded] = protectedPaths(policy, manifest)
  if (guarded !== undefined) return `${guarded.path} is protected`
  const [taken] = pathsTaken(remarks)
  return taken === undefined ? null : `uncommitted work in ${taken} goes along`
}

/** Whether this kind of approval counts for this change: see DESIGN.md section 11. */
function isEnough(
  { policy, revision, checks, signedTags = [], ignored = [] }: ApprovalFacts,
  approval: Approval,
): boolean {
  const isPerson = approval.via !== 'rule' && approval.via !== 'mcp-client'
  if (!isPerson && whyAPerson(policy, revision) !== null) return false
  // A rule may have been withdrawn since, or have stood in another commit alone: it must grant this now.
  if (approval.via === 'rule' && autoApproves(policy, { ...revision, checks, ignored }).kind === 'no')
    return false
  switch (policy.approval.requires) {
    case 'any':
      return true
    case 'terminal':
      return approval.via === 'terminal'
    case 'signature':
      return signedTags.includes(approval.tag)
    default:
      return assertNever(policy.approval.requires)
  }
}

/** People are told apart by the address in "Name <address>": git knows no better. */
const distinct = (approvals: readonly Approval[]): number =>
  new Set(approvals.map(({ by }) => addressOf(by))).size

const addressOf = (by: string): string => (/<([^<>]+)>$/.exec(by)?.[1] ?? by).toLowerCase()

/** A time that cannot be read has passed. */
function hasExpired({ expires }: Approval, now: string): boolean {
  return expires !== null && !(Date.parse(expires) > Date.parse(now))
}

function checksRefusal({ id, revision, policy, checks }: LandFacts): Refusal | null {
  const results = checks.filter((check) => check.commit === revision.commit)
  const { failed, missing } = judgeChecks(policy, { manifest: revision.manifest, results, names: [] })
  const [bad] = failed
  if (bad !== undefined) {
    const message = `land ${id}: the check ${bad.name} ${bad.outcome === 'timed-out' ? 'timed out' : 'failed'} on ${revision.commit}: ${bad.summary}`
    return refusal(
      'checks-failed',
      message,
      { checks: failed.map((check) => check.name) },
      checksHint(failed),
    )
  }
  if (missing.length === 0) return null
  return refusal('check-missing', `land ${id}: no result of ${missing.join(', ')} for ${revision.commit}`, {
    checks: missing,
  })
}

function readsRefusal({ id, policy, movedReads = [] }: LandFacts): Refusal | null {
  if (policy.freshness.reads !== 'refuse' || movedReads.length === 0) return null
  return refusal('stale', `land ${id}: the agent relied on ${movedReads.join(', ')}, which changed since`, {
    paths: movedReads,
  })
}

function tipRefusal({ id, revision, tip }: LandFacts): Refusal | null {
  if (tip !== null || revision.base === null) return null
  const message = `land ${id}: the branch is gone; the change was staged on ${revision.base}`
  return refusal('branch-moved', message, { expected: revision.base, found: null })
}

const refusal = (
  code: ErrorCode,
  message: string,
  data: Readonly<Record<string, unknown>>,
  hint?: string,
): Refusal => ({ code, message, data, ...(hint === undefined ? {} : { hint }) })
