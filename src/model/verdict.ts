import type { Approval } from './change.ts'
import type { ChangeId, CommitId, Digest } from './ids.ts'
import type { Manifest } from './manifest.ts'

/**
 * What a verifier finds a commit to be.
 *
 * `approved`: each of its transitions is covered. `carried`: it brings nothing of its own: a merge of approved changes, as they are or
 * cleanly made anew, or no change at all. `human`: not covered, and nothing says that it had to be. `unapproved`: not covered, on a guarded
 * branch or by an agent's own account. `forged`: it claims a change that does not cover it.
 */
export type Verdict = 'approved' | 'carried' | 'human' | 'unapproved' | 'forged'

export const isFailure = (verdict: Verdict): boolean => verdict === 'unapproved' || verdict === 'forged'

export interface CommitVerdict {
  readonly commit: CommitId
  readonly title: string
  readonly verdict: Verdict
  /** Whose approvals cover it; several for a squash. */
  readonly changes: readonly ChangeId[]
  /** Paths that no approval covers. */
  readonly paths: readonly string[]
  /** In words, for people; empty where the verdict says all. */
  readonly reason: string
  /** Only where it was asked for. */
  readonly explanation?: Explanation
}

/** What a verdict rests on. */
export interface Explanation {
  /** The step is from here to the commit; null = from nothing. The policy is that of this state. */
  readonly from: CommitId | null
  readonly guardedBy: string | null
  /** `exact`: one manifest is the step. `composed`: several are, one after another. `remerged`: a merge made them anew. */
  readonly how: 'exact' | 'composed' | 'remerged' | null
  readonly transitions: Manifest
  readonly used: readonly {
    readonly change: ChangeId
    readonly revision: number
    readonly digest: Digest
    /** What a merge made of it; null = it is used as it was approved. */
    readonly made: Manifest | null
    readonly approvals: readonly (Pick<Approval, 'by' | 'via' | 'at'> & { readonly rule: string | null })[]
  }[]
}

export interface Verification {
  /** null = from the beginning of the history. */
  readonly from: readonly CommitId[]
  readonly to: CommitId | null
  /** The branch whose guard counted; null = none was named. */
  readonly onto: string | null
  /** The pattern that guards it. */
  readonly guardedBy: string | null
  /** Oldest first. */
  readonly commits: readonly CommitVerdict[]
  readonly counts: Readonly<Record<Verdict, number>>
}
