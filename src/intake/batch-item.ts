import type { BatchItem } from '../model/batch.ts'
import { nearestName } from '../model/nearest-name.ts'
import { describe, quote } from '../policy/quote.ts'
import { base64Fault } from './base64.ts'
import { type BatchFault, faultsOf } from './batch-faults.ts'
import { freeFormSchema, type OperationName, operationSchemas, toolSchema } from './batch-schema.ts'
import { isJsonObject } from './json.ts'

export type ReadItem =
  | { readonly kind: 'item'; readonly item: BatchItem }
  | { readonly kind: 'faults'; readonly faults: readonly BatchFault[] }

const operationNames = Object.keys(operationSchemas) as readonly OperationName[]

/** Reads one member of `edits`; it is judged by the keys of its own operation, or as a tool call. */
export function readItem(edit: unknown, way: readonly PropertyKey[]): ReadItem {
  if (!isJsonObject(edit))
    return refused(way, `expected an object with "op" or "tool", found ${describe(edit)}`)
  const hasOperation = Object.hasOwn(edit, 'op')
  if (hasOperation && Object.hasOwn(edit, 'tool')) {
    return refused(way, 'an edit has "op" (an operation) or "tool" (a tool call), not both')
  }
  if (hasOperation) return readOperation(edit, way)
  if (Object.hasOwn(edit, 'tool')) return readTool(edit, way)
  return refused(way, `an edit needs "op" or "tool"${meantKey(edit)}`)
}

function readOperation(edit: Readonly<Record<string, unknown>>, way: readonly PropertyKey[]): ReadItem {
  const op = operationNames.find((name) => name === edit['op'])
  if (op === undefined) return refused([...way, 'op'], unknownOperation(edit['op']))
  const result = operationSchemas[op].safeParse(edit)
  if (!result.success)
    return {
      kind: 'faults',
      faults: faultsOf(result.error.issues, edit, way, () => Object.keys(operationSchemas[op].shape)),
    }
  const fault = crossFault(result.data, way)
  return fault === null ? { kind: 'item', item: result.data } : { kind: 'faults', faults: [fault] }
}

function readTool(edit: Readonly<Record<string, unknown>>, way: readonly PropertyKey[]): ReadItem {
  const free = freeFormSchema.safeParse(edit)
  if (free.success) return { kind: 'item', item: { tool: free.data.tool, input: { input: free.data.input } } }
  const result = toolSchema.safeParse(edit)
  if (!result.success)
    return {
      kind: 'faults',
      faults: faultsOf(result.error.issues, edit, way, () => Object.keys(toolSchema.shape)),
    }
  return { kind: 'item', item: result.data }
}

/** What a schema of single values cannot say. */
function crossFault(item: BatchItem, way: readonly PropertyKey[]): BatchFault | null {
  if ('tool' in item) return null
  if (item.op === 'lines' && item.to !== undefined && item.to < item.from) {
    return faultAt([...way, 'to'], `expected a line not before "from" (${item.from}), found ${item.to}`)
  }
  if ((item.op === 'write' || item.op === 'diff') && item.encoding === 'base64') {
    const key = item.op === 'write' ? 'content' : 'text'
    const fault = base64Fault(item.op === 'write' ? item.content : item.text)
    return fault === null ? null : faultAt([...way, key], `expected base64, but ${fault}`)
  }
  return null
}

function unknownOperation(op: unknown): string {
  if (typeof op !== 'string') return `expected the name of an operation, found ${describe(op)}`
  const near = nearestName(op, operationNames)
  return near === null
    ? `unknown operation ${quote(op)}; known: ${operationNames.join(', ')}`
    : `unknown operation ${quote(op)}; the nearest is "${near}"`
}

/** Names the key that was written in place of `op` or `tool`, where one is near or another protocol's. */
function meantKey(edit: Readonly<Record<string, unknown>>): string {
  if (typeof edit['name'] === 'string')
    return `, found "name"; write the call as { "tool": ${quote(edit['name'])}, "input": { … } }`
  const key = Object.keys(edit).find((name) => nearestName(name, ['op', 'tool']) !== null)
  return key === undefined ? '' : `, found ${quote(key)}`
}

const faultAt = (way: readonly PropertyKey[], message: string): BatchFault => ({
  way,
  code: 'invalid-batch',
  message,
})

const refused = (way: readonly PropertyKey[], message: string): ReadItem => ({
  kind: 'faults',
  faults: [faultAt(way, message)],
})
