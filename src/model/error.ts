import type { ErrorCode } from './error-codes.ts'

/**
 * A refusal, as a value: what pure code returns and surfaces print.
 *
 * `message` says what was being done to what, with the observed and the expected value. Advice is in `hint`.
 */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
  /** Overrides the code's general advice (`hintFor`) where a better one is known. */
  readonly hint?: string
}

/** The one error that galley throws on purpose; anything else is a fault of its own (`internal`). */
export class GalleyError extends Error implements Refusal {
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>
  readonly hint?: string

  constructor(refusal: Refusal, options?: { readonly cause?: unknown }) {
    super(refusal.message, options)
    this.name = 'GalleyError'
    this.code = refusal.code
    this.data = refusal.data
    if (refusal.hint !== undefined) this.hint = refusal.hint
  }
}

/** Throws the refusal. Its type lets guard clauses narrow. */
export function refuse(
  code: ErrorCode,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
  hint?: string,
): never {
  throw new GalleyError(hint === undefined ? { code, message, data } : { code, message, data, hint })
}

/** Closes a union: a new kind that is not handled does not compile. */
export function assertNever(value: never): never {
  throw new Error(`BUG: unhandled ${JSON.stringify(value)}`)
}

/** States an invariant of our own code. A failure is a bug, never the user's mistake. */
export function invariant(condition: unknown, statement: string): asserts condition {
  if (!condition) throw new Error(`BUG: ${statement}`)
}
