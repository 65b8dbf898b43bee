import type { Agent } from './batch.ts'
import type { Tier } from './edit.ts'
import type { BlobId, ChangeId, CommitId, Digest, RefName, TagId, TreeId } from './ids.ts'
import type { FileMode, Manifest } from './manifest.ts'
import type { Remark } from './resolution.ts'

export type ChangeState = 'staged' | 'approved' | 'rejected' | 'landed' | 'undone' | 'stale'

/** States in which a change still waits for something. */
export const isPending = (state: ChangeState): boolean => state === 'staged' || state === 'approved'

/** One staged commit of a change. */
export interface Revision {
  readonly number: number
  readonly commit: CommitId
  readonly tree: TreeId
  /** null = an unborn branch: the commit has no parent. */
  readonly base: CommitId | null
  readonly digest: Digest
  readonly manifest: Manifest
  readonly files: readonly RevisionFile[]
  readonly remarks: readonly Remark[]
  /** Files that the agent relied on without editing them, as it saw them. */
  readonly reads: readonly { readonly path: string; readonly blob: BlobId | null }[]
}

/** Where the working file is not what the tree has, before and after. */
export interface WorkingSides {
  /** Blob ids of its bytes; null = those of the tree. */
  readonly old: string | null
  readonly new: string | null
  /** It has this mode and keeps it, whatever the tree's is. */
  readonly mode?: FileMode
  /** The change deletes it, and it had been removed from the index alone (`git rm --cached`): it stays where it still is so. */
  readonly stays?: true
}

/** What a manifest cannot say of a path: how it was found, how many lines moved, what the working file held. */
export interface RevisionFile {
  readonly path: string
  readonly tier: Tier
  readonly added: number | null
  readonly removed: number | null
  readonly renamedFrom?: string
  readonly working?: WorkingSides
  /**
   * The working file that the edits were made on, where the change takes uncommitted work in it along: its mode and the blob id of its
   * bytes; null = it was deleted.
   */
  readonly taken?: { readonly mode: FileMode; readonly id: string } | null
}

export interface CheckResult {
  readonly name: string
  readonly commit: CommitId
  readonly outcome: 'passed' | 'failed' | 'timed-out' | 'missing'
  readonly required: boolean
  readonly exitCode: number | null
  readonly durationMs: number
  /** First line of what it said, for lists; the whole output is an attachment of the log event. */
  readonly summary: string
}

/** A decision on one digest, as the annotated tag in the store records it. */
export interface Approval {
  readonly tag: TagId
  readonly change: ChangeId
  readonly revision: number
  readonly commit: CommitId
  readonly base: CommitId | null
  readonly tree: TreeId
  readonly digest: Digest
  /** Lower-case hex SHA-256 over message and author of the commit. */
  readonly messageHash: string
  readonly policyHash: string
  readonly checks: readonly CheckResult[]
  readonly by: string
  readonly via: 'terminal' | 'cli' | 'web' | 'mcp-client' | 'rule'
  /** ISO 8601. */
  readonly at: string
  readonly expires: string | null
  /** For `via: "rule"`: the rule's text and the commit it was read from. */
  readonly rule?: { readonly text: string; readonly commit: CommitId | null }
}

export interface Landing {
  readonly ref: RefName
  /** null = the branch was unborn. */
  readonly before: CommitId | null
  readonly after: CommitId
}

/** What somebody says of a change, of a file of it, or of lines. */
export interface CommentWords {
  /** The revision that it speaks of. */
  readonly revision: number
  readonly text: string
  readonly path?: string
  /** First and last line; of the old file where `about` says so, else of the new one. */
  readonly line?: number
  readonly toLine?: number
  readonly about?: QuotedLines
  /** The environment showed an agent at work. */
  readonly byAgent?: true
  /** The lines are a hunk that the reviewer rejected, and the text says why. */
  readonly rejects?: true
  /** The lines are a hunk that the reviewer accepted with lines of their own in its place. */
  readonly edits?: true
}

/** The lines that a comment is about, as they stood: numbers alone lead astray with the next revision. */
export interface QuotedLines {
  /** `diff`: lines of both files, each with its sign. */
  readonly side: 'new' | 'old' | 'diff'
  readonly lines: readonly string[]
  /** They were too many, or too long, to be kept whole. */
  readonly isCut?: true
}

export interface ChangeComment extends CommentWords {
  readonly by: string
  readonly at: string
}

/** One entry of a change's log; the change's state is the fold over these. */
export type ChangeEvent = { readonly at: string; readonly by: string } & (
  | {
      readonly kind: 'proposed'
      readonly title: string
      readonly body: string
      readonly agent: Agent | null
      readonly onto: RefName
      readonly stackedOn: ChangeId | null
      readonly key: string | null
      /** Lower-case hex SHA-256 of the batch's bytes. */
      readonly batchHash: string
      /** Commits that the change takes back as a whole. */
      readonly undoes: readonly CommitId[]
      /** Commits that it takes back in part: some paths or hunks. Absent = none. */
      readonly undoesPartly?: readonly CommitId[]
      /** Commits that it brings back: they had been undone. */
      readonly redoes: readonly CommitId[]
      /** The first revision was taken from index and work tree, which hold it still. Absent = it was not. */
      readonly captured?: true
      /** Messages of the commits that it was made of, oldest first, where a run's became one change. Absent = none. */
      readonly messages?: readonly string[]
    }
  | {
      readonly kind: 'staged' | 'restaged'
      readonly revision: Revision
      readonly reason: string
      /** Where a revision says anew what the change is for, and by whom. */
      readonly title?: string
      readonly body?: string
      readonly agent?: Agent | null
    }
  | {
      readonly kind: 'checked'
      readonly revision: number
      /** Every check of one commit that was to run: they take the place of what was found there before. */
      readonly checks: readonly CheckResult[]
      /** That commit, where no check was to run any more. */
      readonly commit?: CommitId
    }
  | ({ readonly kind: 'commented' } & CommentWords)
  | {
      readonly kind: 'approved'
      /** For `via: "rule"`: the rule's text and the commit it was read from. */
      readonly rule?: Approval['rule']
      readonly revision: number
      readonly digest: Digest
      readonly tag: TagId
      readonly via: Approval['via']
    }
  | { readonly kind: 'rejected'; readonly revision: number; readonly reason: string }
  | {
      readonly kind: 'landed'
      readonly revision: number
      readonly landing: Landing
      /** The change had landed before: `by` took its undo (`undo`, whole or in part) back. */
      readonly again?: { readonly by: ChangeId; readonly undo: ChangeId; readonly isPart?: true }
    }
  | {
      readonly kind: 'undone'
      readonly commit: CommitId
      readonly undoneBy: ChangeId
      /** Only some paths or hunks were taken back: the change counts as landed still. */
      readonly isPart?: true
    }
  | { readonly kind: 'stale'; readonly reason: string }
)

/** A change as its log folds up. */
export interface Change {
  readonly id: ChangeId
  readonly state: ChangeState
  readonly title: string
  readonly body: string
  readonly agent: Agent | null
  readonly onto: RefName
  readonly stackedOn: ChangeId | null
  readonly undoes: readonly CommitId[]
  readonly undoesPartly: readonly CommitId[]
  readonly messages: readonly string[]
  readonly redoes: readonly CommitId[]
  /** Whether its first revision was taken from index and work tree. */
  readonly captured: boolean
  readonly revisions: readonly Revision[]
  /** Of the current revision. */
  readonly checks: readonly CheckResult[]
  readonly approvals: readonly {
    readonly tag: TagId
    readonly digest: Digest
    readonly by: string
    readonly at: string
    readonly via: Approval['via']
  }[]
  readonly comments: readonly ChangeComment[]
  readonly rejection: string | null
  /** The commit by which it stands in its branch; after a redo, the redo's. */
  readonly landing: Landing | null
  readonly undoneBy: ChangeId | null
  /** Changes that took a part of it back and stand still, oldest first. */
  readonly partlyUndoneBy: readonly ChangeId[]
  readonly log: readonly ChangeEvent[]
}

/** One path of a change as every surface shows it (DESIGN.md section 15). */
export interface FileSummary {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed'
  readonly oldMode: FileMode
  readonly newMode: FileMode
  readonly oldBlob: string
  readonly newBlob: string
  /** null = binary. */
  readonly added: number | null
  readonly removed: number | null
  readonly tier: Tier
  readonly renamedFrom?: string
}
