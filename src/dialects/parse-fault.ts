import type { Refusal } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'

/** What is wrong with a patch, diff or block list, and where. */
export interface ParseFault {
  readonly kind: 'fault'
  /** Line of the request's own text, from 1. */
  readonly line: number
  readonly message: string
  /** Default `parse-error`. */
  readonly code?: ErrorCode
  /** The path that the line belongs to, as sent. */
  readonly path?: string
  readonly hint?: string
}

/** Makes a fault of this line. */
export const fault = (
  line: number,
  message: string,
  more: { readonly code?: ErrorCode; readonly path?: string; readonly hint?: string } = {},
): ParseFault => ({ kind: 'fault', line, message, ...more })

/** Whether a parser's answer is a fault. */
export const isFault = (value: unknown): value is ParseFault =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'fault'

/** The failure of an item whose text, a `what` ("diff", "patch"), has this fault; data: `{ line }`. */
export function faultFailure(found: ParseFault, item: number, what: string): Failure {
  const { line, code = 'parse-error', path = '', hint } = found
  const message = `${what}, line ${line}: ${found.message}`
  const failure = { item, path: path.slice(0, limits.pathMaxBytes), code, message, data: { line } }
  return hint === undefined ? failure : { ...failure, hint }
}

/** A refused path as a fault of the line that names it. */
export function pathFault(line: number, path: string, refusal: Refusal): ParseFault {
  const { code, message, hint } = refusal
  return fault(line, message, hint === undefined ? { code, path } : { code, path, hint })
}
