import { readItem } from '../../intake/batch-item.ts'
import { decodeUtf8, isJsonObject, parseJson, pointerOf } from '../../intake/json.ts'
import { illFormedTexts } from '../../intake/well-formed.ts'
import type { ToolItem } from '../../model/batch.ts'
import type { Refusal } from '../../model/error.ts'
import { limits } from '../../model/limits.ts'

export type ParsedCall =
  | { readonly kind: 'call'; readonly call: ToolItem }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Reads one tool call: a JSON object with `tool` and `input`, or with `calls` as a list of one of these.
 *
 * As strict as a batch is: UTF-8, one value and nothing after it, no key twice, no key that is not known, a bounded
 * size and depth, no half of a surrogate pair. Refusals: `too-large`, `invalid-json`, `invalid-batch`, `not-utf8`.
 */
export function parseCall(bytes: Uint8Array): ParsedCall {
  if (bytes.length > limits.batchMaxBytes) {
    return refused('too-large', `the call has ${bytes.length} bytes; ${limits.batchMaxBytes} are allowed`)
  }
  const text = decodeUtf8(bytes)
  if (typeof text !== 'string') return { kind: 'refused', refusal: text }
  const json = parseJson(text, limits.jsonMaxDepth)
  if (json.kind === 'refused') return json
  if (isJsonObject(json.value) && Object.hasOwn(json.value, 'edits')) return aBatch
  const value = onlyCall(json.value)
  if ('code' in value) return { kind: 'refused', refusal: value }
  const read = readItem(value.call, [])
  if (read.kind === 'faults') {
    const [fault] = read.faults
    return refused('invalid-batch', `the call${placeOf(fault?.way ?? [])}: ${fault?.message ?? 'it is none'}`)
  }
  if (!('tool' in read.item)) {
    return refused('invalid-batch', 'the call has "op"; an edit of that form goes into a batch')
  }
  const [illFormed] = illFormedTexts(text, json.value)
  if (illFormed !== undefined) {
    return refused(illFormed.code, `the call${placeOf(illFormed.way)}: ${illFormed.message}`)
  }
  return { kind: 'call', call: read.item }
}

const aBatch: ParsedCall = {
  kind: 'refused',
  refusal: {
    code: 'invalid-batch',
    message: 'this is a batch (it has "edits") and no tool call: `galley propose` and `galley apply` take it',
    data: { pointer: '/edits' },
  },
}

/** The call of a list of one. Several are several calls: each has its own approval. */
function onlyCall(value: unknown): { readonly call: unknown } | Refusal {
  if (!isJsonObject(value) || !Object.hasOwn(value, 'calls')) return { call: value }
  const { calls } = value
  if (Array.isArray(calls) && calls.length === 1 && Object.keys(value).length === 1) return { call: calls[0] }
  const found = Array.isArray(calls)
    ? `it has ${calls.length} and ${Object.keys(value).length - 1} further keys`
    : ''
  return {
    code: 'invalid-batch',
    message: `"calls" is a list of exactly one call, alone in its object; ${found || 'it is no list'}`,
    data: {},
    hint: 'Make one call after the other, each with its own answer; edits that belong together go into a batch.',
  }
}

const placeOf = (way: readonly PropertyKey[]): string => (way.length === 0 ? '' : ` at ${pointerOf(way)}`)

const refused = (code: Refusal['code'], message: string): ParsedCall => ({
  kind: 'refused',
  refusal: { code, message, data: {} },
})
