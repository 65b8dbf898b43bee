import type { CommitId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { ApprovalRules } from './approval-pool.ts'

/** Commits to judge, and by what. */
export interface RangeRequest {
  readonly include: readonly CommitId[]
  readonly exclude: readonly CommitId[]
  /** Every commit must be covered. */
  readonly isStrict: boolean
  readonly rules: ApprovalRules
  /** The moment at which approvals must not have expired: one for all (ISO 8601), or when each commit was made. */
  readonly at: 'commit' | string
  /** The commit that is about to be made on top of the range, from the index. */
  readonly staged?: StagedCommit
}

/** A commit that does not exist yet: a hook is asked about it. */
export interface StagedCommit {
  /** The first is where HEAD is; more of them: a merge. */
  readonly parents: readonly CommitId[]
  readonly message: string
  /** What the index holds against a tree. `objects`: where the tree's objects are, if not in the repository. */
  readonly against: (tree: string, objects: string | null) => Promise<Manifest>
}
