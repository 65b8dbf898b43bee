import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import type { Tier } from '../model/edit.ts'
import type { Failure } from '../model/resolution.ts'
import { ArgumentReader, failureOf, refusedWith } from './arguments.ts'
import { inTurn, textPair, writeText } from './tool-edits.ts'

/** The editor finds text exactly; only the kind of line ending may differ, which the model never sees. */
const maxTier: Tier = 'eol'

const TOOLS: readonly string[] = ['str_replace_based_edit_tool', 'str_replace_editor']
const COMMANDS = ['view', 'create', 'str_replace', 'insert', 'undo_edit'] as const

/** Arguments of each command besides `command` and `path`. */
const ARGUMENTS: Readonly<Record<(typeof COMMANDS)[number], readonly string[]>> = {
  view: ['view_range', 'max_characters'],
  create: ['file_text'],
  str_replace: ['old_str', 'new_str'],
  insert: ['insert_line', 'insert_text', 'new_str'],
  undo_edit: [],
}

/**
 * Anthropic's text editor (`text_editor_20241022` to `text_editor_20250728`): `create` (which its versions let
 * overwrite or not, so the review says which it was), `str_replace` of exactly one place, `insert` after a line, and
 * `view`. `undo_edit` is refused: undoing is a change of its own.
 */
export const anthropicEditor: Dialect = {
  name: 'anthropic-editor',
  profile: { order: 'sequential', maxTier, needsRead: false },
  tools: TOOLS,
  fits: (call) => TOOLS.includes(call.tool) && typeof call.input['command'] === 'string',
  translate,
  readCall,
}

function translate(call: ToolItem, context: DialectContext): Translation {
  if (!TOOLS.includes(call.tool)) {
    const message = `${call.tool} is not a tool of the Anthropic text editor`
    return refusedWith(failureOf(call, context, { code: 'unknown-tool', message, data: { tool: call.tool } }))
  }
  const reader = new ArgumentReader(call, context)
  const command = reader.requireOneOf('command', COMMANDS)
  if (reader.failures.length > 0) return refusedWith(...reader.failures)
  if (command === 'view' || command === 'undo_edit') return refusedWith(notAnEdit(call, context, command))
  reader.allowOnly(['command', 'path', ...ARGUMENTS[command]])
  const path = reader.requirePath('path', context.root)
  const place = { item: context.item, step: context.step, path }
  switch (command) {
    case 'create':
      return inTurn(reader, context, [writeText(place, reader.requireString('file_text'), 'either')])
    case 'str_replace': {
      const pair = textPair(reader, { old: 'old_str', new: 'new_str', newIsOptional: true })
      if (pair.old === '' && reader.has('old_str')) reader.refuse('invalid-batch', '"old_str" is empty')
      return inTurn(reader, context, [{ ...place, op: 'replace', ...pair, all: false, maxTier }])
    }
    case 'insert': {
      const after = reader.requireInteger('insert_line')
      if (after < 0)
        reader.refuse('out-of-range', `"insert_line" is ${after}; it is a line, or 0 for the top`)
      const content = insertedText(reader)
      // The editor inserts where it is told, read or not.
      return inTurn(reader, context, [{ ...place, op: 'insert', after, content, needsNoRead: true }])
    }
  }
}

/** The text of an insert: `insert_text`, and in versions before July 2025 `new_str`. */
function insertedText(reader: ArgumentReader): string {
  if (!reader.has('new_str')) return reader.requireString('insert_text')
  if (reader.has('insert_text')) {
    reader.refuse('invalid-batch', 'both "insert_text" and "new_str" are given; expected one')
  }
  return reader.requireString('new_str')
}

function notAnEdit(call: ToolItem, context: DialectContext, command: 'view' | 'undo_edit'): Failure {
  const message = `the command "${command}" of ${call.tool} is not an edit`
  const hint =
    command === 'view'
      ? 'Use `galley call` or `galley read` to read.'
      : 'Undo a landed change with `galley undo <change>`; revise a pending one with `galley propose --revise <id>`.'
  return failureOf(call, context, { code: 'unknown-tool', message, data: { tool: call.tool, command }, hint })
}

function readCall(call: ToolItem, context: DialectContext): ReadCall | Failure | null {
  if (!TOOLS.includes(call.tool) || call.input['command'] !== 'view') return null
  const reader = new ArgumentReader(call, context)
  reader.allowOnly(['command', 'path', ...ARGUMENTS.view])
  const path = reader.requirePath('path', context.root)
  const range = reader.has('view_range') ? reader.requireList('view_range') : null
  const lines = range === null ? { from: null, to: null } : viewRange(reader, range)
  return reader.failures[0] ?? { kind: 'read', path, ...lines }
}

/** `[first, last]`, both from 1; a last of -1 is the end of the file. */
function viewRange(reader: ArgumentReader, range: readonly unknown[]): Pick<ReadCall, 'from' | 'to'> {
  const [from, to] = range
  const isRange =
    range.length === 2 &&
    typeof from === 'number' &&
    typeof to === 'number' &&
    Number.isSafeInteger(from) &&
    Number.isSafeInteger(to) &&
    from >= 1 &&
    (to === -1 || to >= from)
  if (isRange) return { from, to: to === -1 ? null : to }
  reader.refuse(
    'out-of-range',
    '"view_range" is not two lines from 1 on, the second -1 or not before the first',
  )
  return { from: null, to: null }
}
