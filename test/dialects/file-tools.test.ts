import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mcpFilesystemAnswers } from '../../src/dialects/answers/mcp-filesystem.ts'
import { anthropicEditor } from '../../src/dialects/anthropic-editor.ts'
import { gemini } from '../../src/dialects/gemini.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem.ts'
import type { Dialect } from '../../src/model/dialect.ts'
import { pureRuns } from '../helpers/runs.ts'
import { root, submit } from './in-memory.ts'
import { context, shown, stepsOf } from './translation.ts'

type Input = Readonly<Record<string, unknown>>

const call = (dialect: Dialect, tool: string, input: Input) => dialect.translate({ tool, input }, context)
const read = (dialect: Dialect, tool: string, input: Input) => dialect.readCall?.({ tool, input }, context)
const written = { op: 'write', step: 0, mode: 'either', isText: true }

describe('the Anthropic text editor', () => {
  const editor = (input: Input) =>
    call(anthropicEditor, 'str_replace_based_edit_tool', { path: 'a.py', ...input })
  const view = (input: Input) =>
    read(anthropicEditor, 'str_replace_editor', { path: 'a.py', command: 'view', ...input })

  test('creates, whether the file is there or not', () => {
    const created = { ...written, path: 'a.py', content: 'a\r\nb\r\n' }
    expect(shown(editor({ command: 'create', file_text: 'a\r\nb\r\n' }))).toEqual([created])
  })

  test('replaces exactly one place; without new_str it deletes', () => {
    const replace = { op: 'replace', step: 0, path: 'a.py', old: 'x', all: false, maxTier: 'eol' }
    expect(shown(editor({ command: 'str_replace', old_str: 'x', new_str: 'y' }))).toEqual([
      { ...replace, new: 'y' },
    ])
    expect(shown(editor({ command: 'str_replace', old_str: 'x' }))).toEqual([{ ...replace, new: '' }])
  })

  test('inserts behind a line, by the name of either version', () => {
    const insert = { op: 'insert', step: 0, path: 'a.py', after: 2, content: 'x', needsNoRead: true }
    expect(shown(editor({ command: 'insert', insert_line: 2, insert_text: 'x' }))).toEqual([insert])
    expect(shown(editor({ command: 'insert', insert_line: 2, new_str: 'x' }))).toEqual([insert])
  })

  test('inserts into a file that was not read, as the editor does', () => {
    const input = { command: 'insert', path: 'a.py', insert_line: 1, insert_text: 'x\n' }
    const batch = { version: 1, title: 't', edits: [{ tool: 'str_replace_based_edit_tool', input }] }
    expect(submit(batch, { 'a.py': 'a\nb\n' })).toEqual({ kind: 'files', files: { 'a.py': 'a\nx\nb\n' } })
  })

  test('maps absolute paths', () => {
    const path = `${root}/d/a.py`
    expect(shown(editor({ command: 'create', path, file_text: '' }))).toMatchObject([{ path: 'd/a.py' }])
  })

  test.each([
    ['an undo', { command: 'undo_edit' }, 'unknown-tool'],
    ['a view', { command: 'view' }, 'unknown-tool'],
    ['an unknown command', { command: 'delete' }, 'invalid-batch'],
    ['no text to create', { command: 'create' }, 'invalid-batch'],
    ['no text to insert', { command: 'insert', insert_line: 0 }, 'invalid-batch'],
    [
      'two texts to insert',
      { command: 'insert', insert_line: 0, new_str: 'a', insert_text: 'b' },
      'invalid-batch',
    ],
    ['a line below 0', { command: 'insert', insert_line: -1, insert_text: 'b' }, 'out-of-range'],
    ['an empty text to find', { command: 'str_replace', old_str: '', new_str: 'b' }, 'invalid-batch'],
    ['the same text twice', { command: 'str_replace', old_str: 'b', new_str: 'b' }, 'no-change'],
    ['an argument of another command', { command: 'create', file_text: '', old_str: 'x' }, 'invalid-batch'],
    ['a path outside', { command: 'create', file_text: '', path: '/etc/hosts' }, 'outside-repository'],
  ])('is refused with %s', (_, input, code) => {
    expect(shown(editor(input))).toEqual([code])
  })

  test('says how to undo', () => {
    expect(JSON.stringify(editor({ command: 'undo_edit' }))).toContain('galley undo')
  })

  test('views a file, or lines of it', () => {
    expect(view({})).toEqual({ kind: 'read', path: 'a.py', from: null, to: null })
    expect(view({ view_range: [3, 9] })).toEqual({ kind: 'read', path: 'a.py', from: 3, to: 9 })
    expect(view({ view_range: [3, -1], max_characters: 9 })).toEqual({
      kind: 'read',
      path: 'a.py',
      from: 3,
      to: null,
    })
  })

  test.each([[[0, 3]], [[3, 2]], [[3]], [[1, 2, 3]], [['1', '2']]])(
    'does not view the lines %j',
    (view_range) => {
      expect(view({ view_range })).toMatchObject({ code: 'out-of-range' })
    },
  )
})

describe('the MCP filesystem server', () => {
  test.each([
    ['none', '+x\n', '```'],
    ['three', '+```\n', '````'],
    ['a hundred thousand', `+${'`'.repeat(100_000)}\n`, '`'.repeat(100_001)],
  ])('answers with the diff in a fence that is longer than any in it: %s', (_, diff, fence) => {
    const done = {
      call: { tool: 'edit_file', input: {} },
      edits: [],
      files: [],
      results: [],
      diff: () => diff,
    }
    expect(mcpFilesystemAnswers.done(done)).toBe(`${fence}diff\n${diff}${fence}\n\n`)
  })

  const edits = [
    { oldText: 'a', newText: 'b' },
    { oldText: 'b', newText: '' },
  ]
  const editFile = (input: Input) => call(mcpFilesystem, 'edit_file', { path: 'f', edits, ...input })

  test('edits in turn', () => {
    const replace = { op: 'replace', path: 'f', all: false, maxTier: 'indent' }
    const made = editFile({ dryRun: false })
    expect(shown(made)).toEqual([
      { ...replace, step: 0, old: 'a', new: 'b' },
      { ...replace, step: 1, old: 'b', new: '' },
    ])
    expect(stepsOf(made).used).toBe(2)
  })

  test('writes and moves', () => {
    const write = call(mcpFilesystem, 'write_file', { path: 'f', content: 'x' })
    expect(shown(write)).toEqual([{ ...written, path: 'f', content: 'x' }])
    const move = call(mcpFilesystem, 'move_file', { source: 'f', destination: `${root}/d/g` })
    expect(shown(move)).toEqual([{ op: 'move', step: 0, path: 'f', to: 'd/g' }])
  })

  test.each([
    ['a dry run', 'edit_file', { path: 'f', edits, dryRun: true }, 'unknown-tool'],
    ['no edits', 'edit_file', { path: 'f', edits: [] }, 'empty-batch'],
    [
      'an empty text to find',
      'edit_file',
      { path: 'f', edits: [{ oldText: '', newText: 'x' }] },
      'invalid-batch',
    ],
    ['a new directory', 'create_directory', { path: 'd' }, 'no-change'],
    ['a move onto itself', 'move_file', { source: 'f', destination: './f' }, 'no-change'],
    ['a move outside', 'move_file', { source: 'f', destination: '../f' }, 'outside-repository'],
    ['a read', 'read_text_file', { path: 'f' }, 'unknown-tool'],
  ])('is refused with %s', (_, tool, input, code) => {
    expect(shown(call(mcpFilesystem, tool, input))).toEqual([code])
  })

  test('reads a file or its first lines, not its last', () => {
    expect(read(mcpFilesystem, 'read_file', { path: 'f' })).toEqual({
      kind: 'read',
      path: 'f',
      from: null,
      to: null,
    })
    expect(read(mcpFilesystem, 'read_text_file', { path: 'f', head: 9 })).toMatchObject({ from: 1, to: 9 })
    expect(read(mcpFilesystem, 'read_text_file', { path: 'f', tail: 9 })).toMatchObject({
      code: 'unknown-tool',
    })
    expect(read(mcpFilesystem, 'edit_file', { path: 'f' })).toBeNull()
  })

  test.each([
    ['edit_file', { path: 'f', edits: [] }, true],
    ['edit_file', { path: 'f', old_string: 'a', new_string: 'b' }, false],
    ['write_file', { path: 'f', content: '' }, true],
    ['write_file', { path: 'f', content: '', mode: 'create' }, false],
    ['write_file', { file_path: 'f', content: '' }, false],
    ['read_file', { path: 'f' }, true],
    ['move_file', { source: 'f' }, false],
  ])('%s with %j: fits %s', (tool, input, fits) => {
    expect(mcpFilesystem.fits({ tool, input })).toBe(fits)
  })
})

describe('Gemini CLI', () => {
  const file_path = `${root}/f`
  const replace = (input: Input) =>
    call(gemini, 'replace', { file_path, instruction: 'why', old_string: 'a', new_string: 'b', ...input })
  const replaced = { op: 'replace', step: 0, path: 'f', old: 'a', new: 'b', maxTier: 'indent' }

  test.each([
    ['one place', {}, { all: false }],
    ['one expected place', { expected_replacements: 1 }, { all: false }],
    ['three expected places', { expected_replacements: 3 }, { all: true, count: 3 }],
    ['all places', { allow_multiple: true }, { all: true }],
    ['all of three places', { allow_multiple: true, expected_replacements: 3 }, { all: true, count: 3 }],
  ])('replaces %s', (_, input, number) => {
    expect(shown(replace(input))).toEqual([{ ...replaced, ...number }])
  })

  test('makes a file that must be absent of an empty old_string', () => {
    expect(shown(replace({ old_string: '' }))).toEqual([
      { ...written, mode: 'create', path: 'f', content: 'b' },
    ])
  })

  test('writes', () => {
    expect(shown(call(gemini, 'write_file', { file_path, content: '' }))).toEqual([
      { ...written, path: 'f', content: '' },
    ])
  })

  test.each([
    ['no expected place', { expected_replacements: 0 }, 'out-of-range'],
    ['the same text twice', { new_string: 'a' }, 'no-change'],
    ['an argument it does not know', { replace_all: true }, 'invalid-batch'],
    ['a path outside', { file_path: '../f' }, 'outside-repository'],
  ])('is refused with %s', (_, input, code) => {
    expect(shown(replace(input))).toEqual([code])
  })

  test('reads by the arguments of either version', () => {
    const lines = (input: Input) => read(gemini, 'read_file', input)
    expect(lines({ file_path })).toEqual({ kind: 'read', path: 'f', from: null, to: null })
    expect(lines({ file_path, start_line: 3, end_line: 9 })).toEqual({
      kind: 'read',
      path: 'f',
      from: 3,
      to: 9,
    })
    expect(lines({ absolute_path: file_path, offset: 10, limit: 5 })).toMatchObject({ from: 11, to: 15 })
    expect(lines({ absolute_path: file_path, limit: 5 })).toMatchObject({ from: 1, to: 5 })
    expect(lines({ file_path, start_line: 0 })).toMatchObject({ code: 'out-of-range' })
    expect(lines({ file_path, start_line: 9, end_line: 3 })).toMatchObject({ code: 'out-of-range' })
  })

  test.each([
    ['replace', { file_path: 'f', old_string: 'a' }, true],
    ['write_file', { path: 'f', content: '' }, false],
    ['read_file', { path: 'f' }, false],
    ['read_file', { absolute_path: '/f' }, true],
  ])('%s with %j: fits %s', (tool, input, fits) => {
    expect(gemini.fits({ tool, input })).toBe(fits)
  })
})

test.each([anthropicEditor, mcpFilesystem, gemini])('$name never throws, whatever the call', (dialect) => {
  const names = [
    'path',
    'file_path',
    'command',
    'edits',
    'old_str',
    'old_string',
    'content',
    'view_range',
    'source',
    'head',
  ]
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('view', 'insert', 'str_replace', 'a.ts'),
  )
  const input = fc.dictionary(fc.constantFrom(...names), value)
  fc.assert(
    fc.property(fc.constantFrom(...dialect.tools, 'other'), input, (tool, given) => {
      const item = { tool, input: given }
      expect(['edits', 'refused']).toContain(dialect.translate(item, context).kind)
      expect(typeof dialect.fits(item)).toBe('boolean')
      expect(dialect.readCall?.(item, context)).not.toBeUndefined()
    }),
    { numRuns: pureRuns(1000) },
  )
})
