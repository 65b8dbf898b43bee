import type { Tier } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import type { Remark, Splice } from '../model/resolution.ts'

/**
 * A splice together with the bytes that its edit laid claim to. The claim is what the edit matched or named; the
 * splice inside it is what changes. Claims of one step must not overlap.
 */
export interface Claim extends Splice {
  readonly claimStart: number
  readonly claimEnd: number
  /**
   * The replacement must begin a line: this terminator is put before it where the text before it is unterminated, at
   * the end of a file or because another edit of the step takes its newline. For insertions.
   */
  readonly ownLine: Buffer | null
}

/** What judging one text edit came to. */
export type Outcome =
  | {
      readonly kind: 'claims'
      readonly claims: readonly Claim[]
      readonly tier: Tier
      readonly carried: boolean
      readonly remarks: readonly Remark[]
      /** Of an edit that replaces all: in how many places. */
      readonly places?: number
    }
  | { readonly kind: 'failed'; readonly refusal: Refusal }

export function refusal(
  code: ErrorCode,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
  hint?: string,
): Refusal {
  return hint === undefined ? { code, message, data } : { code, message, data, hint }
}

export const failed = (
  code: ErrorCode,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
  hint?: string,
): Outcome => ({ kind: 'failed', refusal: refusal(code, message, data, hint) })
