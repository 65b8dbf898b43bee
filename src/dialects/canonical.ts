import type { OperationItem } from '../model/batch.ts'
import type { Edit, WriteEdit } from '../model/edit.ts'
import type { Refusal } from '../model/error.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'
import { checkPlace } from '../policy/paths.ts'
import { isWellFormed, quote } from '../policy/quote.ts'

export type CanonicalTranslation =
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'refused'; readonly failures: readonly Failure[] }

/** Characters of base64 other than the padding at its end. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/

const encoder = new TextEncoder()

type Base = Pick<Edit, 'item' | 'step' | 'path' | 'blob'>
type Operation<T extends OperationItem['op']> = Extract<OperationItem, { readonly op: T }>

/**
 * Translates one of galley's own operations into an edit.
 *
 * Refuses with the code of the path rule, `out-of-range` (line numbers below 1, or `to` before `from`), `no-change`
 * (text replaced by itself, a file moved onto itself), `not-utf8` (half of a surrogate pair), or `invalid-batch`
 * (empty `old`, text that is not base64). All faults of the item are listed.
 */
export function translateOperation(
  operation: OperationItem,
  context: { readonly item: number; readonly step: number },
): CanonicalTranslation {
  const refusals = [...pathRefusals(operation), ...textRefusals(operation), ...operationRefusals(operation)]
  if (refusals.length > 0) {
    const path = operation.path.slice(0, limits.pathMaxBytes)
    const failures = refusals.map((refusal) => ({ ...refusal, item: context.item, path }))
    return { kind: 'refused', failures }
  }
  const { path, blob } = operation
  const { item, step } = context
  const base: Base = { item, step, path, ...(blob === undefined ? {} : { blob }) }
  return { kind: 'edit', edit: editOf(operation, base) }
}

function editOf(operation: OperationItem, base: Base): Edit {
  switch (operation.op) {
    case 'replace': {
      const { old, all = false } = operation
      return { ...base, op: 'replace', old, new: operation.new, all }
    }
    case 'lines': {
      const { from, to = null, content, expected } = operation
      const evidence = expected === undefined ? {} : { expected }
      return { ...base, op: 'lines', from, to, content, expectedOrder: 'in-order', ...evidence }
    }
    case 'insert':
      return { ...base, op: 'insert', after: operation.after, content: operation.content }
    case 'append':
      return { ...base, op: 'append', content: operation.content }
    case 'write':
      return writeOf(operation, base)
    case 'delete':
      return { ...base, op: 'delete' }
    case 'move':
      return { ...base, op: 'move', to: operation.to }
    case 'chmod':
      return { ...base, op: 'chmod', executable: operation.executable }
  }
}

function writeOf(operation: Operation<'write'>, base: Base): WriteEdit {
  const { content, mode = 'either', encoding = 'utf8', executable } = operation
  const bytes = encoding === 'utf8' ? encoder.encode(content) : Buffer.from(unwrapped(content), 'base64')
  const permission = executable === undefined ? {} : { executable }
  return { ...base, op: 'write', content: bytes, mode, isText: encoding === 'utf8', ...permission }
}

function pathRefusals(operation: OperationItem): readonly Refusal[] {
  const paths = operation.op === 'move' ? [operation.path, operation.to] : [operation.path]
  return paths.map(checkPlace).filter((refusal) => refusal !== null)
}

/** Text without a UTF-8 form would be written as U+FFFD. */
function textRefusals(operation: OperationItem): readonly Refusal[] {
  const texts = new Map<string, string | null | undefined>()
  if (operation.op === 'replace') texts.set('old', operation.old).set('new', operation.new)
  if (operation.op === 'lines') texts.set('content', operation.content).set('expected', operation.expected)
  if (operation.op === 'insert' || operation.op === 'append' || operation.op === 'write') {
    texts.set('content', operation.content)
  }
  return [...texts]
    .filter(([, text]) => typeof text === 'string' && !isWellFormed(text))
    .map(([name]) => refusalOf(operation, 'not-utf8', `"${name}" holds half of a surrogate pair`, { name }))
}

function operationRefusals(operation: OperationItem): readonly Refusal[] {
  switch (operation.op) {
    case 'replace':
      return replaceRefusals(operation)
    case 'lines':
      return lineRefusals(operation)
    case 'insert': {
      const { after } = operation
      if (Number.isSafeInteger(after) && after >= 0) return []
      return [
        refusalOf(operation, 'out-of-range', `"after" is ${after}; it is a line, or 0 for the top`, {
          after,
        }),
      ]
    }
    case 'write':
      if (operation.encoding !== 'base64' || isBase64(operation.content)) return []
      return [refusalOf(operation, 'invalid-batch', '"content" is not base64 as "encoding" says', {})]
    case 'move':
      if (operation.to !== operation.path) return []
      return [refusalOf(operation, 'no-change', 'the file is moved to where it is', { to: operation.to })]
    default:
      return []
  }
}

function replaceRefusals(operation: Operation<'replace'>): readonly Refusal[] {
  if (operation.old === '') {
    const hint = 'To make a file use `write`; to add at a place use `insert` or `append`.'
    return [refusalOf(operation, 'invalid-batch', '"old" is empty; expected the text to replace', {}, hint)]
  }
  if (operation.old !== operation.new) return []
  return [refusalOf(operation, 'no-change', '"old" and "new" are the same text', {})]
}

function lineRefusals(operation: Operation<'lines'>): readonly Refusal[] {
  const { from, to } = operation
  const data = { from, to: to ?? null }
  if (!Number.isSafeInteger(from) || from < 1) {
    return [refusalOf(operation, 'out-of-range', `"from" is ${from}; lines count from 1`, data)]
  }
  if (to === undefined || (Number.isSafeInteger(to) && to >= from)) return []
  return [refusalOf(operation, 'out-of-range', `"to" is ${to}; expected ${from} ("from") or more`, data)]
}

function refusalOf(
  operation: OperationItem,
  code: ErrorCode,
  fault: string,
  data: Readonly<Record<string, unknown>>,
  hint?: string,
): Refusal {
  const message = `${operation.op} of ${quote(operation.path)}: ${fault}`
  const refusal = { code, message, data: { op: operation.op, ...data } }
  return hint === undefined ? refusal : { ...refusal, hint }
}

/** Base64 in one piece: tools wrap it at 64 or 76 characters. */
const unwrapped = (text: string): string => text.split(/\r?\n/).join('')

function isBase64(text: string): boolean {
  const joined = unwrapped(text)
  const padding = joined.endsWith('==') ? 2 : joined.endsWith('=') ? 1 : 0
  return joined.length % 4 === 0 && !NOT_BASE64.test(joined.slice(0, joined.length - padding))
}
