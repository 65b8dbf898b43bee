import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import type { Edit, Tier } from '../model/edit.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'
import { ArgumentReader, failureOf, isRecord, refusedWith } from './arguments.ts'
import { cellEdit } from './notebook.ts'
import { inTurn, textPair, writeText } from './tool-edits.ts'

/** Claude Code folds curly quotes itself when it looks for text, and drops space at line ends. */
const maxTier: Tier = 'unicode'

/** Which argument names the file, for each tool. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['Write', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
  ['Read', 'file_path'],
  ['NotebookRead', 'notebook_path'],
])

/**
 * Claude Code: `Edit`, `MultiEdit` (each edit sees the result of the one before), `Write`, `NotebookEdit`; `Read` and
 * `NotebookRead`. An empty `old_string` makes a file that must be absent.
 */
export const claudeCode: Dialect = {
  name: 'claude-code',
  profile: { order: 'sequential', maxTier, needsRead: false },
  tools: [...TOOLS.keys()],
  fits: (call) => {
    const path = TOOLS.get(call.tool)
    return path !== undefined && Object.hasOwn(call.input, path)
  },
  translate,
  readCall,
}

function translate(call: ToolItem, context: DialectContext): Translation {
  const reader = new ArgumentReader(call, context)
  switch (call.tool) {
    case 'Edit':
      return translateEdit(reader, context)
    case 'MultiEdit':
      return translateMultiEdit(reader, context)
    case 'Write': {
      reader.allowOnly(['file_path', 'content'])
      const path = reader.requirePath('file_path', context.root)
      const content = reader.requireString('content')
      return inTurn(reader, context, [
        writeText({ item: context.item, step: context.step, path }, content, 'either'),
      ])
    }
    case 'NotebookEdit': {
      const edit = cellEdit(reader, context)
      return inTurn(reader, context, [edit])
    }
    default: {
      const message = `${call.tool} is not an edit of Claude Code`
      return refusedWith(
        failureOf(call, context, { code: 'unknown-tool', message, data: { tool: call.tool } }),
      )
    }
  }
}

function translateEdit(reader: ArgumentReader, context: DialectContext): Translation {
  reader.allowOnly(['file_path', 'old_string', 'new_string', 'replace_all'])
  const path = reader.requirePath('file_path', context.root)
  const edit = readEdit(reader, { item: context.item, step: context.step, path })
  return inTurn(reader, context, [edit])
}

function translateMultiEdit(reader: ArgumentReader, context: DialectContext): Translation {
  reader.allowOnly(['file_path', 'edits'])
  const path = reader.requirePath('file_path', context.root)
  const listed = reader.requireList('edits')
  if (listed.length === 0) reader.refuse('empty-batch', '"edits" is empty', {})
  if (listed.length > limits.batchMaxEdits) {
    reader.refuse(
      'too-large',
      `"edits" has ${listed.length} members; at most ${limits.batchMaxEdits} are taken`,
    )
    return refusedWith(...reader.failures)
  }
  const edits = listed.map((entry, index) => {
    const nested = reader.nested(entry, `edits[${index}]`)
    if (isRecord(entry)) nested.allowOnly(['old_string', 'new_string', 'replace_all'])
    return readEdit(nested, { item: context.item, step: context.step + index, path })
  })
  return inTurn(reader, context, edits)
}

function readEdit(reader: ArgumentReader, place: Pick<Edit, 'item' | 'step' | 'path'>): Edit {
  const pair = textPair(reader, { old: 'old_string', new: 'new_string' })
  const all = reader.optionalBoolean('replace_all') ?? false
  if (pair.old === '') return writeText(place, pair.new, 'create')
  return { ...place, op: 'replace', ...pair, all, maxTier }
}

function readCall(call: ToolItem, context: DialectContext): ReadCall | Failure | null {
  if (call.tool !== 'Read' && call.tool !== 'NotebookRead') return null
  const reader = new ArgumentReader(call, context)
  const path = reader.requirePath(call.tool === 'Read' ? 'file_path' : 'notebook_path', context.root)
  // `offset` counts lines from 1; Claude Code takes 0 for the first line too.
  const from = Math.max(reader.optionalInteger('offset') ?? 1, 1)
  const limit = reader.optionalInteger('limit')
  if (limit !== undefined && limit < 1)
    reader.refuse('out-of-range', `"limit" is ${limit}; expected 1 or more`)
  const found = reader.failures[0]
  if (found !== undefined) return found
  if (from === 1 && limit === undefined) return { kind: 'read', path, from: null, to: null }
  return { kind: 'read', path, from, to: limit === undefined ? null : from + limit - 1 }
}
