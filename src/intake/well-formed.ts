import { limits } from '../model/limits.ts'
import { isWellFormed } from '../policy/quote.ts'
import type { BatchFault } from './batch-faults.ts'

/** Text decoded from UTF-8 is well-formed; only an escape can bring half of a pair. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

/**
 * Finds the texts and keys of a JSON value that hold half of a surrogate pair: such a text has no UTF-8, and written
 * to a file it would silently become U+FFFD. Tool calls are looked through to their leaves.
 *
 * @param text - The JSON text that `value` was parsed from.
 * @returns the first ones, `limits.failuresShown` at most.
 */
export function illFormedTexts(text: string, value: unknown): readonly BatchFault[] {
  const faults: BatchFault[] = []
  if (!SURROGATE_ESCAPE.test(text)) return faults
  for (const fault of walk(value, [])) {
    faults.push(fault)
    if (faults.length === limits.failuresShown) break
  }
  return faults
}

function* walk(value: unknown, way: readonly PropertyKey[]): Generator<BatchFault> {
  if (typeof value === 'string') {
    if (!isWellFormed(value)) yield faultAt(way, 'the text')
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    if (!isWellFormed(key)) yield faultAt([...way, key], 'the key')
    else yield* walk(child, [...way, key])
  }
}

const faultAt = (way: readonly PropertyKey[], what: string): BatchFault => ({
  way,
  code: 'not-utf8',
  message: `${what} holds half of a surrogate pair (such as "\\ud83d" alone) and has no UTF-8`,
})
