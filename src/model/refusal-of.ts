import { asSystemRefusal } from './errno.ts'
import { GalleyError, type Refusal } from './error.ts'
import { hintFor } from './error-codes.ts'

/** What went wrong, as every surface returns it. An unknown error is a fault of galley's own. */
export function refusalOf(thrown: unknown): Required<Refusal> {
  const error = asSystemRefusal(thrown)
  if (error instanceof GalleyError) {
    const { code, message, data } = error
    return { code, message, data, hint: namingChange(error.hint ?? hintFor(code), data) }
  }
  const message = error instanceof Error ? error.message : String(error)
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return { code: 'internal', message, data: { stack }, hint: hintFor('internal') }
}

/** Advice names the change where it is known. */
function namingChange(hint: string, data: Readonly<Record<string, unknown>>): string {
  const change = data['change'] as { readonly id?: unknown } | null | undefined
  const id = typeof data['id'] === 'string' ? data['id'] : change?.id
  return typeof id === 'string' ? hint.replaceAll('<id>', () => id) : hint
}
