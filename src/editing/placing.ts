import type { PlacedHunk } from './hunk-splices.ts'
import type { Outcome } from './outcome.ts'

/** Where all hunks of an edit go, or the first one that has no place. */
export type Placing =
  | { readonly kind: 'placed'; readonly hunks: readonly PlacedHunk[] }
  | Extract<Outcome, { kind: 'failed' }>
