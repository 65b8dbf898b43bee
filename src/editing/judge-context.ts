import type { Tier } from '../model/edit.ts'
import type { Draft } from './draft.ts'
import type { Reads } from './reads.ts'

/** What judging needs besides the edit and its file. */
export interface JudgeContext {
  readonly draft: Draft
  readonly reads: Reads
  readonly maxTier: Tier
  readonly carry: boolean
  readonly fileMaxBytes: number
}
