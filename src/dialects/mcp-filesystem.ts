import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, ReadCall, Translation } from '../model/dialect.ts'
import type { Edit, Tier } from '../model/edit.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'
import { ArgumentReader, failureOf, isRecord, refusedWith } from './arguments.ts'
import { inTurn, textPair, writeText } from './tool-edits.ts'

/** The server falls back to lines compared without their indentation, and keeps the file's. */
const maxTier: Tier = 'indent'

const READS: readonly string[] = ['read_file', 'read_text_file']

/**
 * The MCP project's filesystem server: `edit_file` with `edits[]` (each sees the result of the one before; where the
 * server takes the first place that matches, exactly one is required here), `write_file`, `move_file`,
 * `create_directory` (refused: git keeps no empty directories), `read_text_file` and `read_file`.
 */
export const mcpFilesystem: Dialect = {
  name: 'mcp-filesystem',
  profile: { order: 'sequential', maxTier, needsRead: false },
  tools: ['edit_file', 'write_file', 'move_file', 'create_directory', ...READS],
  fits,
  translate,
  readCall,
}

/** Mino's and Gemini's tools of the same names differ in their arguments. */
function fits(call: ToolItem): boolean {
  const { input } = call
  switch (call.tool) {
    case 'edit_file':
      return Object.hasOwn(input, 'path') && Array.isArray(input['edits'])
    case 'write_file':
      return Object.hasOwn(input, 'path') && Object.hasOwn(input, 'content') && !Object.hasOwn(input, 'mode')
    case 'move_file':
      return Object.hasOwn(input, 'source') && Object.hasOwn(input, 'destination')
    default:
      return (call.tool === 'create_directory' || READS.includes(call.tool)) && Object.hasOwn(input, 'path')
  }
}

function translate(call: ToolItem, context: DialectContext): Translation {
  const reader = new ArgumentReader(call, context)
  const { item, step, root } = context
  switch (call.tool) {
    case 'edit_file':
      return translateEdits(call, reader, context)
    case 'write_file': {
      reader.allowOnly(['path', 'content'])
      const path = reader.requirePath('path', root)
      return inTurn(reader, context, [
        writeText({ item, step, path }, reader.requireString('content'), 'either'),
      ])
    }
    case 'move_file': {
      reader.allowOnly(['source', 'destination'])
      const path = reader.requirePath('source', root)
      const to = reader.requirePath('destination', root)
      if (path === to && path !== '') reader.refuse('no-change', 'the file is moved to where it is', { to })
      return inTurn(reader, context, [{ op: 'move', item, step, path, to }])
    }
    case 'create_directory': {
      const message = 'a directory without a file changes nothing in git'
      const hint = 'Leave the call out: writing a file makes the directories above it.'
      return refusedWith(failureOf(call, context, { code: 'no-change', message, hint }))
    }
    default:
      return refusedWith(notAnEdit(call, context, `${call.tool} is not an edit of the MCP filesystem server`))
  }
}

function translateEdits(call: ToolItem, reader: ArgumentReader, context: DialectContext): Translation {
  reader.allowOnly(['path', 'edits', 'dryRun'])
  if (reader.optionalBoolean('dryRun') === true) {
    return refusedWith(
      notAnEdit(call, context, 'edit_file with "dryRun" only shows what it would do: no edit'),
    )
  }
  const path = reader.requirePath('path', context.root)
  const listed = reader.requireList('edits')
  if (listed.length === 0 && reader.has('edits')) reader.refuse('empty-batch', '"edits" is empty')
  if (listed.length > limits.batchMaxEdits) {
    reader.refuse(
      'too-large',
      `"edits" has ${listed.length} members; at most ${limits.batchMaxEdits} are taken`,
    )
    return refusedWith(...reader.failures)
  }
  const edits = listed.map((entry, index): Edit => {
    const nested = reader.nested(entry, `edits[${index}]`)
    if (isRecord(entry)) nested.allowOnly(['oldText', 'newText'])
    const pair = textPair(nested, { old: 'oldText', new: 'newText' })
    if (pair.old === '' && nested.has('oldText')) nested.refuse('invalid-batch', '"oldText" is empty')
    const step = context.step + index
    return { op: 'replace', item: context.item, step, path, ...pair, all: false, maxTier }
  })
  return inTurn(reader, context, edits)
}

const notAnEdit = (call: ToolItem, context: DialectContext, message: string): Failure =>
  failureOf(call, context, { code: 'unknown-tool', message, data: { tool: call.tool } })

function readCall(call: ToolItem, context: DialectContext): ReadCall | Failure | null {
  if (!READS.includes(call.tool)) return null
  const reader = new ArgumentReader(call, context)
  reader.allowOnly(['path', 'head', 'tail'])
  const path = reader.requirePath('path', context.root)
  const head = reader.optionalInteger('head')
  if (head !== undefined && head < 1) reader.refuse('out-of-range', `"head" is ${head}; expected 1 or more`)
  if (reader.has('tail')) {
    const hint = 'Read the whole file, or its first lines with "head".'
    reader.refuse('unknown-tool', 'reading the last lines of a file ("tail") is not supported', {}, hint)
  }
  return reader.failures[0] ?? { kind: 'read', path, from: head === undefined ? null : 1, to: head ?? null }
}
