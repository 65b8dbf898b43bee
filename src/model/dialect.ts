import type { DialectName, ToolItem } from './batch.ts'
import type { Edit, Tier } from './edit.ts'
import type { Failure } from './resolution.ts'

/** What an adapter may know of the place it works in. Nothing of any file. */
export interface DialectContext {
  /** Index of the item in the batch, from 0. */
  readonly item: number
  /** The step of the item's first edit; an adapter whose own lists are sequential counts on from here. */
  readonly step: number
  /** Absolute path of the work tree's root, for adapters whose systems send absolute paths. */
  readonly root: string
}

/** An adapter's answer to one item. */
export type Translation =
  | { readonly kind: 'edits'; readonly edits: readonly Edit[]; readonly nextStep: number }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }

/** A system's own limits and rules, which the flow and the engine apply (DESIGN.md section 5). */
export interface DialectProfile {
  /** Items of this dialect in one batch see one another's results unless the batch says otherwise. */
  readonly order: 'original' | 'sequential'
  readonly maxTier: Tier
  /** An existing file must have been read (session, `reads` or `blob`) before any edit of it. */
  readonly needsRead: boolean
  readonly fileMaxBytes?: number
  /** The existing file must be UTF-8 without NUL as a whole: for edits of its text, or for whole-file writes too. */
  readonly wholeFileUtf8?: 'text-edits' | 'every-edit'
  readonly parentsMustExist?: boolean
  readonly callsPerTurn?: number
  /** Approval is bound to the file itself: any change after it is `changed-after-approval`. */
  readonly bindsFile?: boolean
}

/** A read that a tool call asks for, in the canonical form; `galley call` answers it in the system's own form. */
export interface ReadCall {
  readonly kind: 'read'
  readonly path: string
  readonly from: number | null
  readonly to: number | null
}

/** One adapter: pure translation, both ways. */
export interface Dialect {
  readonly name: DialectName
  readonly profile: DialectProfile
  /** Names of the tools it knows, reads included. */
  readonly tools: readonly string[]
  /** Whether this call has this dialect's shape: decides `dialect: "auto"`. */
  readonly fits: (call: ToolItem) => boolean
  readonly translate: (call: ToolItem, context: DialectContext) => Translation
  /** The read a call asks for, or null when it is an edit. */
  readonly readCall?: (call: ToolItem, context: DialectContext) => ReadCall | Failure | null
}
