import type { Tier } from './edit.ts'
import type { Refusal } from './error.ts'
import type { FileState } from './file-state.ts'

/** One failing edit of a batch. A refused batch lists them all. */
export interface Failure extends Refusal {
  readonly item: number
  readonly path: string
}

export const remarkKinds = [
  'carried',
  'tier',
  'quote-class',
  'invisible',
  'created-or-overwrote',
  're-encoded',
  'stale-read',
  /** By a check; it belongs to no item, and `item` is 0. */
  'rewritten',
  /** Uncommitted work of the user's is part of the change: a person has to approve it. */
  'takes-uncommitted',
  /** Of an undo: where the user's file is that the undone change took along. */
  'uncommitted-kept',
] as const

/** Something the reviewer should see although the edit was taken. */
export interface Remark {
  readonly kind: (typeof remarkKinds)[number]
  readonly item: number
  readonly path: string
  readonly text: string
}

/** What an edit came to: a replacement of bytes in the file as it was before the edit's step. */
export interface Splice {
  readonly item: number
  readonly offset: number
  readonly length: number
  readonly replacement: Uint8Array
  readonly tier: Tier
}

/** One path after the whole batch. A path whose bytes and mode end as they began does not appear. */
export interface ResolvedFile {
  readonly path: string
  readonly before: FileState
  readonly after: ResolvedState
  /** The most lenient tier used by any edit of the file. */
  readonly tier: Tier
  readonly renamedFrom?: string
  /** The other path that it was moved or copied from. `holdsText`: it was not written as a whole since. */
  readonly madeFrom?: { readonly path: string; readonly holdsText: boolean }
}

export type ResolvedState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly executable: boolean }

/** The result of one edit, for the answer to the agent: where it stands now, by line (1-based, inclusive). */
export interface ItemResult {
  readonly item: number
  readonly path: string
  readonly tier: Tier
  readonly carried: boolean
  /** Lines of the edited text in the file as it was and as it now is; absent for whole-file edits. */
  readonly oldLines?: { readonly from: number; readonly to: number }
  readonly newLines?: { readonly from: number; readonly to: number }
  /** How many places were replaced, of an edit that replaces all. */
  readonly places?: number
}

export type Resolution =
  | {
      readonly kind: 'resolved'
      readonly files: readonly ResolvedFile[]
      readonly results: readonly ItemResult[]
      readonly remarks: readonly Remark[]
    }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }
