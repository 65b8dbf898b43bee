import type { Batch, BatchItem, BatchRead } from '../model/batch.ts'
import type { Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { checkPlace } from '../policy/paths.ts'
import { type BatchFault, faultsOf, placeFaults } from './batch-faults.ts'
import { readItem } from './batch-item.ts'
import { agentSchema, batchHeadSchema, readSchema } from './batch-schema.ts'
import { decodeUtf8, isJsonObject, parseJson } from './json.ts'
import { illFormedTexts } from './well-formed.ts'

export type ParsedBatch =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Reads a batch as submitted (DESIGN.md section 4): checks size, encoding, JSON and form, and nothing that needs the
 * repository or an adapter. Paths of `reads` are checked here; those of edits where edits are translated.
 *
 * Refusals: `too-large`, `invalid-json`, `invalid-batch`, `empty-batch`; `not-utf8` where a text holds half of a
 * surrogate pair; a path's own code where only that is wrong. `data.faults` lists every fault with JSON pointer,
 * line, column and message in the order of the text, `limits.failuresShown` at most; `data.more` counts the rest.
 */
export function parseBatch(bytes: Uint8Array): ParsedBatch {
  if (bytes.length > limits.batchMaxBytes) {
    return tooLarge(`batch: ${bytes.length} bytes, more than ${limits.batchMaxBytes}`)
  }
  const text = decodeUtf8(bytes)
  if (typeof text !== 'string') return { kind: 'refused', refusal: text }
  const json = parseJson(text, limits.jsonMaxDepth)
  if (json.kind === 'refused') return json
  const edits = isJsonObject(json.value) ? json.value['edits'] : undefined
  if (Array.isArray(edits) && edits.length > limits.batchMaxEdits) {
    return tooLarge(`batch at /edits: ${edits.length} edits, more than ${limits.batchMaxEdits}`)
  }
  const read = readBatch(json.value, illFormedTexts(text, json.value))
  if (read.kind === 'batch') return read
  const refusal = placeFaults(read.faults, json)
  return { kind: 'refused', refusal: isToolCall(json.value) ? { ...refusal, hint: CALL_HINT } : refusal }
}

/** `{ "tool": …, "input": … }`, alone or as a list of one: what `galley call` takes. */
const isToolCall = (value: unknown): boolean =>
  isJsonObject(value) && !Object.hasOwn(value, 'edits') && ('tool' in value || 'calls' in value)

const CALL_HINT = 'This is a tool call: `galley call` runs it; in a batch it is an item of "edits".'

const tooLarge = (message: string): ParsedBatch => ({
  kind: 'refused',
  refusal: { code: 'too-large', message, data: {} },
})

type ReadBatch =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'faults'; readonly faults: readonly BatchFault[] }

function readBatch(value: unknown, illFormed: readonly BatchFault[]): ReadBatch {
  const head = batchHeadSchema.safeParse(value)
  const headFaults = head.success
    ? readsFaults(head.data.reads ?? [])
    : faultsOf(head.error.issues, value, [], headKeys)
  const items = readItems(isJsonObject(value) ? value['edits'] : undefined)
  const faults = [...illFormed, ...headFaults, ...items.faults]
  if (!head.success || faults.length > 0) return { kind: 'faults', faults }
  const { title, reads = [], dialect = 'auto', edits: _, ...rest } = head.data
  return { kind: 'batch', batch: { ...rest, title: title.trim(), reads, dialect, items: items.items } }
}

/** The keys that belong at a place outside the edits. */
function headKeys(way: readonly PropertyKey[]): readonly string[] {
  const schema = way[0] === 'agent' ? agentSchema : way[0] === 'reads' ? readSchema : batchHeadSchema
  return Object.keys(schema.shape)
}

function readsFaults(reads: readonly BatchRead[]): readonly BatchFault[] {
  return reads.flatMap(({ path }, index) => {
    const refusal = checkPlace(path)
    return refusal === null
      ? []
      : [{ way: ['reads', index, 'path'], code: refusal.code, message: refusal.message }]
  })
}

interface ReadItems {
  readonly items: readonly BatchItem[]
  readonly faults: readonly BatchFault[]
}

function readItems(edits: unknown): ReadItems {
  if (!Array.isArray(edits)) return { items: [], faults: [] }
  if (edits.length === 0) {
    return {
      items: [],
      faults: [{ way: ['edits'], code: 'empty-batch', message: 'the batch asks for no edit' }],
    }
  }
  const items: BatchItem[] = []
  const faults: BatchFault[] = []
  for (const [index, edit] of edits.entries()) {
    const read = readItem(edit, ['edits', index])
    if (read.kind === 'item') items.push(read.item)
    else for (const fault of read.faults) faults.push(fault)
  }
  return { items, faults }
}
