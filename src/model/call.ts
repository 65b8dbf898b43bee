import type { ToolItem } from './batch.ts'
import type { ReadCall } from './dialect.ts'
import type { Edit } from './edit.ts'
import type { Refusal } from './error.ts'
import type { ItemResult, ResolvedFile } from './resolution.ts'

/**
 * What came of one tool call. `denied`: nobody approved it, or it may not be made. `failed`: it was in order and was not
 * done. `unknown`: it was begun, and whether it took effect cannot be told; it is never done again.
 */
export type CallKind = 'completed' | 'denied' | 'failed' | 'invalid_arguments' | 'unknown'

export interface CallResult {
  readonly kind: CallKind
  /** In the form of the system that asked. */
  readonly text: string
}

/** One edit call as it was resolved against the files: what answers and screens are made of. */
export interface EditDone {
  readonly call: ToolItem
  readonly edits: readonly Edit[]
  readonly files: readonly ResolvedFile[]
  readonly results: readonly ItemResult[]
  /** The change as a unified diff; made when asked for. */
  readonly diff: () => string
}

/** A read as a system answers it: the text, and the lines that it shows. */
export type NativeRead =
  | {
      readonly kind: 'shown'
      readonly text: string
      /** 1-based, inclusive; null = every line. */
      readonly lines: { readonly from: number; readonly to: number } | null
    }
  | { readonly kind: 'refused'; readonly text: string }

/** How one system words its answers. Pure, as its adapter is. */
export interface NativeAnswers {
  readonly read: (call: ToolItem, asked: ReadCall, bytes: Uint8Array) => NativeRead
  readonly done: (done: EditDone) => string
  /** A refused call; the first refusal speaks for it. */
  readonly refused: (call: ToolItem, refusals: readonly Refusal[]) => string
  /** The system's own screen before an approval, where it has one: shown above the question in place of the diff. */
  readonly screen?: (
    done: EditDone,
    projectDirectory: string,
  ) => { readonly text: string; readonly question: string }
}
