import type { Tier } from '../model/edit.ts'
import type { Span } from './replacement.ts'

/** A text to find, and where it counts. */
export interface MatchRequest {
  readonly old: string
  /** Only to see whether it can take the file's indentation (tier `indent`). */
  readonly new: string
  readonly wholeLines: boolean
  /** 1-based; only places that begin on this line count. */
  readonly startLine: number | null
  readonly maxTier: Tier
  /** Stops after this many places. */
  readonly limit: number
}

/** One place where the text stands. */
export interface Place extends Span {
  /** The old text ends with a newline that the end of the file stands for here. */
  readonly lacksNewline: boolean
  /** How the new text's lines get the file's indentation (tier `indent`). */
  readonly reindent: Reindent | null
}

/** Moves one line of the new text to the file's indentation; null = the line cannot be moved that way. */
export type Reindent = (line: string) => string | null
