import type * as z from 'zod'
import type { Refusal } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { limits } from '../model/limits.ts'
import { nearestName } from '../model/nearest-name.ts'
import { describe, quote } from '../policy/quote.ts'
import type { ParsedJson } from './json.ts'
import { pointerOf } from './json-pointer.ts'

/** Something wrong with a batch, at a place of its JSON value. */
export interface BatchFault {
  readonly way: readonly PropertyKey[]
  readonly code: ErrorCode
  readonly message: string
  /** The key itself is wrong, not the value under it. */
  readonly isKey?: boolean
}

/**
 * Puts the issues of a schema into our words. The schemas of `batch-schema.ts` give as message what they expect.
 *
 * @param value - What was parsed. @param way - Where that stands in the batch.
 * @param known - The keys of an object at a place of `value`.
 */
export function faultsOf(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  way: readonly PropertyKey[],
  known: (way: readonly PropertyKey[]) => readonly string[],
): readonly BatchFault[] {
  return issues.flatMap((issue, index): readonly BatchFault[] => {
    const here = [...way, ...issue.path]
    if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, here, known(issue.path))
    // A number that is too large fails two checks of one schema with one message.
    const before = issues[index - 1]
    if (before?.message === issue.message && pointerOf(before.path) === pointerOf(issue.path)) return []
    const found = valueAt(value, issue.path)
    const last = issue.path.at(-1)
    const message =
      found === undefined && typeof last === 'string'
        ? `"${last}" is missing; expected ${issue.message}`
        : `expected ${issue.message}, found ${describe(found)}`
    return [{ way: here, code: 'invalid-batch', message }]
  })
}

/** One fault for each key, as far as faults are shown at all, and one for the rest. */
function unknownKeys(
  keys: readonly string[],
  way: readonly PropertyKey[],
  known: readonly string[],
): readonly BatchFault[] {
  const code = 'invalid-batch'
  const faults = keys.slice(0, limits.failuresShown).map((key): BatchFault => {
    const message = `unknown key ${quote(key)}; ${keyAdvice(key, known)}`
    return { way: [...way, key], code, message, isKey: true }
  })
  const rest = keys.length - faults.length
  return rest === 0 ? faults : [...faults, { way, code, message: `${rest} more unknown keys` }]
}

function keyAdvice(key: string, known: readonly string[]): string {
  const near = nearestName(key, known)
  return near === null ? `known here: ${known.join(', ')}` : `the nearest known is "${near}"`
}

function valueAt(value: unknown, way: readonly PropertyKey[]): unknown {
  let here = value
  for (const step of way) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Readonly<Record<PropertyKey, unknown>>)[step]
  }
  return here
}

/** Makes one refusal of all faults: sorted by their place, the first one in the message and giving the code. */
export function placeFaults(faults: readonly BatchFault[], json: ParsedJson): Refusal {
  const placed = faults.slice(0, limits.failuresShown).map((fault) => {
    const pointer = pointerOf(fault.way)
    const place = fault.isKey === true ? json.keyPositionOf(pointer) : json.positionOf(pointer)
    return { code: fault.code, pointer, ...place, message: fault.message }
  })
  placed.sort((a, b) => a.line - b.line || a.column - b.column)
  const first = placed[0]
  const code = first?.code ?? 'invalid-batch'
  const where = first === undefined ? '' : `${at(first.pointer)} (line ${first.line}, column ${first.column})`
  const others = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  return {
    code,
    message: `batch${where}: ${first?.message ?? ''}${others}`,
    data: { faults: placed.map(({ code: _, ...fault }) => fault), more: faults.length - placed.length },
  }
}

const at = (pointer: string): string => (pointer === '' ? '' : ` at ${pointer}`)
