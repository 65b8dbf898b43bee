import { asSystemRefusal } from './errno.ts'
import { GalleyError, type Refusal } from './error.ts'
import { hintFor } from './error-codes.ts'

/** What went wrong, as every surface returns it. An unknown error is a fault of galley's own. */
export function refusalOf(thrown: unknown): Required<Refusal> {
  const error = asSystemRefusal(thrown)
  if (error instanceof GalleyError) {
    return {
      code: error.code,
      message: error.message,
      data: error.data,
      hint: error.hint ?? hintFor(error.code),
    }
  }
  const message = error instanceof Error ? error.message : String(error)
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return { code: 'internal', message, data: { stack }, hint: hintFor('internal') }
}
