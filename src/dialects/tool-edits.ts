import type { DialectContext, Translation } from '../model/dialect.ts'
import type { Edit, ReplaceEdit, WriteEdit } from '../model/edit.ts'
import { type ArgumentReader, refusedWith } from './arguments.ts'

const encoder = new TextEncoder()

/** Reads the text to find and the text to put there. A pair that changes nothing is refused as `no-change`. */
export function textPair(
  reader: ArgumentReader,
  names: { readonly old: string; readonly new: string; readonly newIsOptional?: boolean },
): Pick<ReplaceEdit, 'old' | 'new'> {
  const faultsBefore = reader.failures.length
  const old = reader.requireString(names.old)
  const text =
    names.newIsOptional === true ? (reader.optionalString(names.new) ?? '') : reader.requireString(names.new)
  if (reader.failures.length === faultsBefore && old === text) {
    reader.refuse('no-change', `"${names.old}" and "${names.new}" are the same text`, {})
  }
  return { old, new: text }
}

/** An edit that writes the text as the whole file. */
export const writeText = (
  place: Pick<WriteEdit, 'item' | 'step' | 'path'>,
  text: string,
  mode: WriteEdit['mode'],
): WriteEdit => ({ ...place, op: 'write', content: encoder.encode(text), mode, isText: true })

/** The edits of a call, one step each, or the refusal where the reader found faults. */
export function inTurn(reader: ArgumentReader, context: DialectContext, edits: readonly Edit[]): Translation {
  if (reader.failures.length > 0) return refusedWith(...reader.failures)
  return { kind: 'edits', edits, nextStep: context.step + edits.length }
}
