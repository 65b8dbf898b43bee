import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claudeCode } from '../../src/dialects/claude-code.ts'
import { pureRuns } from '../helpers/runs.ts'
import { root } from './in-memory.ts'
import { context, shown, stepsOf } from './translation.ts'

const call = (tool: string, input: Readonly<Record<string, unknown>>) =>
  claudeCode.translate({ tool, input }, context)
const file_path = `${root}/src/a.ts`
const edit = (more: Readonly<Record<string, unknown>>) =>
  call('Edit', { file_path, old_string: 'x', new_string: 'y', ...more })
const path = 'src/a.ts'

describe('Edit', () => {
  const replace = { op: 'replace', step: 0, path, old: 'x', new: 'y', all: false, maxTier: 'unicode' }

  test('replaces one place, or all', () => {
    expect(shown(edit({}))).toEqual([replace])
    expect(shown(edit({ replace_all: true }))).toEqual([{ ...replace, all: true }])
  })

  test('makes a file that must be absent of an empty old_string', () => {
    const write = { op: 'write', step: 0, path, mode: 'create', isText: true, content: 'y' }
    expect(shown(edit({ old_string: '' }))).toEqual([write])
  })

  test('takes a relative path', () => {
    expect(shown(edit({ file_path: './b' }))).toMatchObject([{ path: 'b' }])
  })

  test.each([
    ['the same text twice', { new_string: 'x' }, 'no-change'],
    ['a path elsewhere', { file_path: `${root}2/a.ts` }, 'outside-repository'],
    ['no path', { file_path: undefined }, 'invalid-batch'],
    ['no old text', { old_string: null }, 'invalid-batch'],
    ['an unknown argument', { replaceAll: true }, 'invalid-batch'],
    ['a flag that is none', { replace_all: 'yes' }, 'invalid-batch'],
    ['half of a surrogate pair', { new_string: '\udc00' }, 'not-utf8'],
  ])('is refused with %s', (_, more, code) => {
    expect(shown(edit(more))).toEqual([code])
  })
})

describe('MultiEdit', () => {
  const edits = [
    { old_string: '', new_string: 'one\n' },
    { old_string: 'one', new_string: 'two', replace_all: true },
  ]

  test('applies its edits in turn, the first of which may make the file', () => {
    const made = call('MultiEdit', { file_path, edits })
    expect(shown(made)).toMatchObject([
      { op: 'write', mode: 'create', content: 'one\n' },
      { op: 'replace', old: 'one', new: 'two', all: true },
    ])
    expect(stepsOf(made)).toEqual({ steps: [0, 1], used: 2 })
  })

  test('is refused with every fault of its edits', () => {
    const faulty = [
      { old_string: 'a' },
      { old_string: 'b', new_string: 'b' },
      7,
      { old_string: 'c', new_string: 'd', x: 1 },
    ]
    const made = call('MultiEdit', { file_path, edits: faulty })
    expect(shown(made)).toEqual(expect.arrayContaining(['invalid-batch', 'no-change']))
    expect(JSON.stringify(made)).toContain('edits[2]')
    expect(JSON.stringify(made)).toContain('edits[3].x')
  })

  test.each([
    ['an empty list', [], 'empty-batch'],
    ['no list', 'x', 'invalid-batch'],
    ['more edits than a batch holds', Array.from({ length: 50_001 }, () => edits[1]), 'too-large'],
  ])('is refused with %s', (_, list, code) => {
    expect(shown(call('MultiEdit', { file_path, edits: list }))).toContain(code)
  })
})

describe('Write', () => {
  test('writes the whole file, whether it is there or not', () => {
    const write = { op: 'write', step: 0, path, mode: 'either', isText: true, content: 'a\r\n' }
    expect(shown(call('Write', { file_path, content: 'a\r\n' }))).toEqual([write])
    expect(shown(call('Write', { file_path }))).toEqual(['invalid-batch'])
  })
})

describe('NotebookEdit', () => {
  const notebook_path = `${root}/n.ipynb`
  const notebook = (more: Readonly<Record<string, unknown>>) =>
    call('NotebookEdit', { notebook_path, new_source: 'x', ...more })
  const cell = { op: 'cell', step: 0, path: 'n.ipynb', source: 'x' }

  test.each([
    ['replaces a cell by id', { cell_id: 'ab' }, { cell: { id: 'ab' }, action: 'replace' }],
    ['replaces a cell by number', { cell_number: 2 }, { cell: { index: 2 }, action: 'replace' }],
    [
      'changes the type',
      { cell_id: 'ab', cell_type: 'markdown' },
      { cell: { id: 'ab' }, action: 'replace', cellType: 'markdown' },
    ],
    [
      'inserts behind a cell',
      { edit_mode: 'insert', cell_id: 'ab', cell_type: 'code' },
      { cell: { id: 'ab' }, action: 'insert-after', cellType: 'code' },
    ],
    [
      'inserts first',
      { edit_mode: 'insert', cell_type: 'code' },
      { cell: null, action: 'insert-after', cellType: 'code' },
    ],
    [
      'inserts as number 0',
      { edit_mode: 'insert', cell_number: 0, cell_type: 'code' },
      { cell: null, action: 'insert-after', cellType: 'code' },
    ],
    [
      'inserts as number 2',
      { edit_mode: 'insert', cell_number: 2, cell_type: 'code' },
      { cell: { index: 1 }, action: 'insert-after', cellType: 'code' },
    ],
    ['deletes', { edit_mode: 'delete', cell_id: 'ab' }, { cell: { id: 'ab' }, action: 'delete' }],
  ])('%s', (_, more, expected) => {
    expect(shown(notebook(more))).toEqual([{ ...cell, ...expected }])
  })

  test('needs no source to delete', () => {
    const input = { notebook_path, cell_id: 'ab', edit_mode: 'delete' }
    expect(shown(call('NotebookEdit', input))).toMatchObject([{ action: 'delete', source: '' }])
  })

  test.each([
    ['no cell', {}, 'invalid-batch'],
    ['a new cell of no type', { edit_mode: 'insert' }, 'invalid-batch'],
    ['two names for the cell', { cell_id: 'a', cell_number: 1 }, 'invalid-batch'],
    ['a number below 0', { cell_number: -1 }, 'out-of-range'],
    ['another kind of file', { cell_id: 'a', notebook_path: 'a.json' }, 'invalid-batch'],
    ['an unknown mode', { cell_id: 'a', edit_mode: 'append' }, 'invalid-batch'],
    ['no source', { cell_id: 'a', new_source: undefined }, 'invalid-batch'],
  ])('is refused with %s', (_, more, code) => {
    expect(shown(notebook(more))).toEqual([code])
  })
})

describe('Read', () => {
  const read = (input: Readonly<Record<string, unknown>>) =>
    claudeCode.readCall?.({ tool: 'Read', input }, context)

  test('asks for the file, or for lines of it', () => {
    expect(read({ file_path })).toEqual({ kind: 'read', path, from: null, to: null })
    expect(read({ file_path, offset: 11, limit: 5 })).toEqual({ kind: 'read', path, from: 11, to: 15 })
    expect(read({ file_path, offset: 0, limit: 5 })).toEqual({ kind: 'read', path, from: 1, to: 5 })
    expect(read({ file_path, offset: 3 })).toEqual({ kind: 'read', path, from: 3, to: null })
  })

  test('is refused with a bad path or limit, and is no edit', () => {
    expect(read({ file_path: '/etc/passwd' })).toMatchObject({ code: 'outside-repository' })
    expect(read({ file_path, limit: 0 })).toMatchObject({ code: 'out-of-range' })
    expect(shown(call('Read', { file_path }))).toEqual(['unknown-tool'])
    expect(claudeCode.readCall?.({ tool: 'Edit', input: {} }, context)).toBeNull()
  })
})

test('fits a call that names its file, and never throws on any other', () => {
  expect(claudeCode.fits({ tool: 'Edit', input: { file_path } })).toBe(true)
  expect(claudeCode.fits({ tool: 'Edit', input: { path } })).toBe(false)
  const tool = fc.constantFrom(...claudeCode.tools)
  const names = [
    'file_path',
    'old_string',
    'new_string',
    'edits',
    'notebook_path',
    'cell_id',
    'offset',
    'limit',
  ]
  const input = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 1 }))
  fc.assert(
    fc.property(tool, input, (name, given) => {
      const item = { tool: name, input: given }
      expect(['edits', 'refused']).toContain(claudeCode.translate(item, context).kind)
      expect(claudeCode.readCall?.(item, context)).not.toBeUndefined()
    }),
    { numRuns: pureRuns(1000) },
  )
})
