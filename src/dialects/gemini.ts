import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import type { ReplaceEdit, Tier } from '../model/edit.ts'
import type { Failure } from '../model/resolution.ts'
import { ArgumentReader, failureOf, refusedWith } from './arguments.ts'
import { inTurn, textPair, writeText } from './tool-edits.ts'

/** Gemini CLI falls back to lines compared without their indentation, and re-indents the replacement. */
const maxTier: Tier = 'indent'

/** Names of the path in the CLI's versions. */
const READ_PATHS = ['file_path', 'absolute_path'] as const

/** What the CLI itself adds to a call when a person changed it: no argument of the model's. */
const OWN_NOTES = ['modified_by_user', 'ai_proposed_content', 'ai_proposed_string'] as const

/**
 * Gemini CLI: `replace` (one place; all with `allow_multiple`; exactly as many as `expected_replacements` says; an
 * empty `old_string` makes a file that must be absent), `write_file` and `read_file`.
 */
export const gemini: Dialect = {
  name: 'gemini',
  profile: { order: 'sequential', maxTier, needsRead: false },
  tools: ['replace', 'write_file', 'read_file'],
  fits,
  translate,
  readCall,
}

function fits(call: ToolItem): boolean {
  const has = (name: string): boolean => Object.hasOwn(call.input, name)
  switch (call.tool) {
    case 'replace':
      return has('file_path') && has('old_string')
    case 'write_file':
      return has('file_path') && has('content')
    case 'read_file':
      return READ_PATHS.some(has)
    default:
      return false
  }
}

function translate(call: ToolItem, context: DialectContext): Translation {
  const reader = new ArgumentReader(call, context)
  const { item, step, root } = context
  switch (call.tool) {
    case 'replace':
      return translateReplace(reader, context)
    case 'write_file': {
      reader.allowOnly(['file_path', 'content', ...OWN_NOTES])
      const path = reader.requirePath('file_path', root)
      return inTurn(reader, context, [
        writeText({ item, step, path }, reader.requireString('content'), 'either'),
      ])
    }
    default: {
      const message = `${call.tool} is not an edit of Gemini CLI`
      return refusedWith(
        failureOf(call, context, { code: 'unknown-tool', message, data: { tool: call.tool } }),
      )
    }
  }
}

function translateReplace(reader: ArgumentReader, context: DialectContext): Translation {
  reader.allowOnly([
    'file_path',
    'instruction',
    'old_string',
    'new_string',
    'allow_multiple',
    'expected_replacements',
    ...OWN_NOTES,
  ])
  const path = reader.requirePath('file_path', context.root)
  const pair = textPair(reader, { old: 'old_string', new: 'new_string' })
  const number = numberOf(reader)
  const place = { item: context.item, step: context.step, path }
  if (pair.old === '') return inTurn(reader, context, [writeText(place, pair.new, 'create')])
  return inTurn(reader, context, [{ ...place, op: 'replace', ...pair, ...number, maxTier }])
}

/** How many places: `expected_replacements` is exact, beside `allow_multiple` too. */
function numberOf(reader: ArgumentReader): Pick<ReplaceEdit, 'all' | 'count'> {
  const all = reader.optionalBoolean('allow_multiple') ?? false
  const expected = reader.optionalInteger('expected_replacements')
  if (expected === undefined) return { all }
  if (expected < 1) {
    reader.refuse('out-of-range', `"expected_replacements" is ${expected}; expected 1 or more`)
  }
  return expected === 1 ? { all: false } : { all: true, count: expected }
}

function readCall(call: ToolItem, context: DialectContext): ReadCall | Failure | null {
  if (call.tool !== 'read_file') return null
  const reader = new ArgumentReader(call, context)
  reader.allowOnly([...READ_PATHS, 'start_line', 'end_line', 'offset', 'limit'])
  const path = reader.requirePath(reader.has('absolute_path') ? 'absolute_path' : 'file_path', context.root)
  const lines = readLines(reader)
  return reader.failures[0] ?? { kind: 'read', path, ...lines }
}

/** `start_line` and `end_line` count from 1; `offset` of earlier versions counts from 0, with `limit`. */
function readLines(reader: ArgumentReader): Pick<ReadCall, 'from' | 'to'> {
  const offset = reader.optionalInteger('offset')
  const limit = reader.optionalInteger('limit')
  const start = reader.optionalInteger('start_line') ?? (offset === undefined ? undefined : offset + 1)
  const end =
    reader.optionalInteger('end_line') ?? (limit === undefined ? undefined : (start ?? 1) + limit - 1)
  if (start === undefined && end === undefined) return { from: null, to: null }
  const from = start ?? 1
  if (from < 1 || (end !== undefined && end < from)) {
    reader.refuse(
      'out-of-range',
      `the lines asked for are ${from} to ${end ?? 'the end'}; lines count from 1`,
    )
  }
  return { from, to: end ?? null }
}
