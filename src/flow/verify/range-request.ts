import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { StepPolicy } from './step-policy.ts'

/** What is judged, and by what. */
export interface JudgeRequest {
  readonly tip: CommitId | null
  /** The policy in force, by the tree of the state before a step. */
  readonly policyAt: (tree: TreeId | null) => Promise<StepPolicy>
  /** The moment at which approvals must not have expired: one for all (ISO 8601), or when each commit was made. */
  readonly at: 'commit' | string
  /** The commit that is about to be made on top of the tip, from the index. */
  readonly staged?: StagedCommit
  /** Verdicts tell all that they rest on. */
  readonly explains?: boolean
}

export interface BranchRequest extends JudgeRequest {
  /** A commit on the tip's first-parent line, where the branch stands or stood; null = judge the line from its beginning. */
  readonly start: CommitId | null
}

/** A commit that does not exist yet: a hook is asked about it. */
export interface StagedCommit {
  /** The first is where HEAD is; more of them: a merge. */
  readonly parents: readonly CommitId[]
  readonly message: string
  /** What the index holds against a tree. `objects`: where the tree's objects are, if not in the repository. */
  readonly against: (tree: string, objects: string | null) => Promise<Manifest>
}
