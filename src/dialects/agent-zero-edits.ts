import type { Edit } from '../model/edit.ts'
import type { ErrorCode } from '../model/error-codes.ts'
import { isRecord, type JsonRecord, shown } from './arguments.ts'

/** One thing wrong with a list of numbered edits; `native` is what Agent Zero says, where it refuses too. */
export interface EditsFault {
  readonly code: ErrorCode
  readonly message: string
  readonly native?: string
  /** Index in the list, from 0. */
  readonly index: number
}

export type NumberedEdits =
  | { readonly kind: 'edits'; readonly edits: readonly Edit[] }
  | { readonly kind: 'refused'; readonly faults: readonly EditsFault[] }

type Base = Pick<Edit, 'item' | 'step' | 'path'>
export type LineNumber =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'falsy' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'not-a-number'; readonly native: string }

/** Python's `int()` on text, for ASCII digits. */
const INTEGER = /^\s*[+-]?\d{1,15}\s*$/

/**
 * Translates the `edits` of one Agent Zero patch: all line numbers are those of the file as it was.
 *
 * Numbers follow the host: numeric text, fractions (cut off) and `true` count, `to` of 0 or `""` is `from`, and lines
 * past the end are clamped. Two of its rules guess a place and are refused instead: a missing or zero `from` (taken as
 * 1), and `{"from": n}` with neither `to` nor `content` (deletes the line).
 */
export function numberedEdits(list: readonly unknown[], base: Base): NumberedEdits {
  const edits: Edit[] = []
  const faults: EditsFault[] = []
  list.forEach((entry, index) => {
    const result = isRecord(entry) ? numberedEdit(entry, base) : notAnObject(entry)
    if (result.kind === 'edit') edits.push(result.edit)
    else faults.push({ ...result.fault, message: `edits[${index}]: ${result.fault.message}`, index })
  })
  return faults.length > 0 ? { kind: 'refused', faults } : { kind: 'edits', edits }
}

type Fault = Omit<EditsFault, 'index'>
type OneEdit =
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'fault'; readonly fault: Fault }

function numberedEdit(entry: JsonRecord, base: Base): OneEdit {
  const from = lineNumber(entry, 'from')
  if (from.kind === 'not-a-number') return fault('invalid-batch', from.native, from.native)
  if (from.kind === 'missing') return fault('invalid-batch', `'from' is missing; lines count from 1`)
  if (from.kind === 'falsy' || from.value < 1) {
    const native = `patch 'from' must be >= 1`
    return fault('out-of-range', `${native}; it is ${shown(entry['from'])}`, native)
  }
  const to = lineNumber(entry, 'to')
  if (to.kind === 'not-a-number') return fault('invalid-batch', to.native, to.native)
  if (to.kind === 'number' && to.value < from.value) {
    const native = `patch 'to' must be >= 'from'`
    return fault('out-of-range', `${native}; they are ${to.value} and ${from.value}`, native)
  }
  const last = to.kind === 'number' ? to.value : to.kind === 'falsy' ? from.value : null
  const content = contentOf(entry)
  if (content.kind === 'fault') return content
  return editOf({ entry, from: from.value, to: last, content: content.text }, base)
}

interface ReadEntry {
  readonly entry: JsonRecord
  readonly from: number
  readonly to: number | null
  readonly content: string | null
}

function editOf({ entry, from, to, content }: ReadEntry, base: Base): OneEdit {
  if (to === null && content === null && !Object.hasOwn(entry, 'content')) {
    const message = `'from' alone does not say what to do; to delete line ${from} give 'to' as well`
    return fault('invalid-batch', message)
  }
  if (to === null && content === '') return fault('no-change', 'inserting no text changes nothing')
  // An empty content deletes.
  const isDeletion = content === null || content === ''
  return edit({
    ...base,
    op: 'lines',
    from,
    to,
    content: isDeletion ? null : content,
    expectedOrder: 'in-order',
    pastEnd: 'clamp',
  })
}

/** The host writes a number as its digits; of other values Python's own spelling would end up in the file. */
function contentOf(
  entry: JsonRecord,
): { readonly kind: 'text'; readonly text: string | null } | (OneEdit & { kind: 'fault' }) {
  const value = Object.hasOwn(entry, 'content') ? (entry['content'] ?? null) : null
  if (value === null || typeof value === 'string') return { kind: 'text', text: value }
  if (Number.isSafeInteger(value)) return { kind: 'text', text: String(value) }
  return fault('invalid-batch', `'content' is ${shown(value)}; expected a string`)
}

/** Reads a line number as the host does; `falsy` is 0, `""` or `false`. */
export function lineNumber(entry: JsonRecord, name: string): LineNumber {
  const value = Object.hasOwn(entry, name) ? entry[name] : undefined
  if (value === undefined || value === null) return { kind: 'missing' }
  if (value === 0 || value === '' || value === false) return { kind: 'falsy' }
  if (value === true) return { kind: 'number', value: 1 }
  if (typeof value === 'number' && Number.isFinite(value))
    return { kind: 'number', value: Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER) }
  if (typeof value === 'string' && INTEGER.test(value))
    return { kind: 'number', value: Number.parseInt(value, 10) }
  return { kind: 'not-a-number', native: `invalid literal for int() with base 10: ${pythonText(value)}` }
}

/** A value as Python prints it, near enough for a message: text in single quotes. */
const pythonText = (value: unknown): string =>
  typeof value === 'string' ? `'${shown(value).slice(1, -1)}'` : shown(value)

const notAnObject = (entry: unknown): OneEdit => {
  const native = typeof entry === 'string' ? `'str' object has no attribute 'get'` : undefined
  return fault('invalid-batch', `an edit must be an object; it is ${shown(entry)}`, native)
}

const edit = (value: Edit): OneEdit => ({ kind: 'edit', edit: value })

function fault(
  code: ErrorCode,
  message: string,
  native?: string,
): { readonly kind: 'fault'; readonly fault: Fault } {
  return { kind: 'fault', fault: { code, message, ...(native === undefined ? {} : { native }) } }
}
