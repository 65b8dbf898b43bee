import type { ChangeId, CommitId, Digest, TreeId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { Policy } from '../../model/policy.ts'
import type { FoundApproval } from '../../store/approvals.ts'
import type { JudgedApprovals } from '../verify-approval.ts'

/** A manifest that somebody approved, recomputed from the objects, and those who did. */
export interface Covering {
  readonly key: ChangeId
  readonly revision: number
  readonly commit: CommitId
  readonly tree: TreeId
  readonly base: CommitId | null
  readonly digest: Digest
  readonly manifest: Manifest
  readonly messageHash: string
  readonly approvals: readonly FoundApproval[]
  /** When the first of them was given (ISO 8601). */
  readonly at: string
}

/** What approvals are held against: a policy, and the signatures that it asks for, at a moment (ISO 8601). */
export interface ApprovalRules {
  readonly policy: Policy
  readonly judge: (records: readonly FoundApproval[], at: string) => Promise<JudgedApprovals>
}
