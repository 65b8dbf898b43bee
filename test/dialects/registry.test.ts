import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectAmong } from '../../src/dialects/detect.ts'
import { detect, dialectFor, dialects, translateBatch } from '../../src/dialects/registry.ts'
import type { DialectName } from '../../src/model/batch.ts'
import { type Batch, type BatchItem, dialectNames } from '../../src/model/batch.ts'
import type { Dialect, Translation } from '../../src/model/dialect.ts'
import { pureRuns } from '../helpers/runs.ts'
import { root } from './in-memory.ts'

const batchOf = (items: readonly BatchItem[], more: Partial<Batch> = {}): Batch => ({
  version: 1,
  title: 'test',
  reads: [],
  dialect: 'auto',
  items,
  ...more,
})

const translate = (items: readonly BatchItem[], more: Partial<Batch> = {}) =>
  translateBatch(batchOf(items, more), { root })

const stepsOf = (
  items: readonly BatchItem[],
  more: Partial<Batch> = {},
): readonly (readonly [number, number])[] => {
  const result = translate(items, more)
  return result.kind === 'edits' ? result.edits.map(({ item, step }) => [item, step]) : []
}

const context = { item: 0, step: 0, root }
const call = (tool: string, input: Readonly<Record<string, unknown>>) => ({ tool, input })

const minoEdit = call('edit_file', { path: 'a.go', old_string: 'a', new_string: 'b' })
const mcpEdit = call('edit_file', {
  path: 'a.go',
  edits: [
    { oldText: 'a', newText: 'b' },
    { oldText: 'c', newText: 'd' },
  ],
})
const zapmycoEdit = call('file_edit', { file_path: 'a.go', mode: 'append', content: 'x\n' })
const append: BatchItem = { op: 'append', path: 'b.ts', content: 'x\n' }

describe('the dialect of a call', () => {
  test.each([
    ['mino', minoEdit],
    ['mcp-filesystem', mcpEdit],
    ['mino', call('write_file', { path: 'a', content: 'x', mode: 'create' })],
    ['mcp-filesystem', call('write_file', { path: 'a', content: 'x' })],
    ['gemini', call('write_file', { file_path: 'a', content: 'x' })],
    ['gemini', call('replace', { file_path: 'a', old_string: 'x', new_string: 'y' })],
    ['zapmyco', zapmycoEdit],
    ['agent-zero', call('text_editor_remote', { action: 'write', path: 'a', content: 'x' })],
    ['agent-zero', call('text_editor:patch', { path: 'a', old_text: 'x', new_text: 'y' })],
    ['claude-code', call('Edit', { file_path: 'a', old_string: 'x', new_string: 'y' })],
    ['claude-code', call('Write', { file_path: 'a', content: 'x' })],
    [
      'anthropic-editor',
      call('str_replace_based_edit_tool', { command: 'create', path: 'a', file_text: 'x' }),
    ],
    ['codex', call('apply_patch', { input: '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch' })],
    ['mino', call('read_file', { path: 'a' })],
    ['gemini', call('read_file', { file_path: 'a' })],
  ])('is %s for %j', (name, item) => {
    const detection = detect(item, 'auto', context)
    expect(detection.kind === 'dialect' ? detection.dialect.name : detection.failure).toBe(name)
  })

  test('is the one named, whatever the arguments fit', () => {
    const detection = detect(call('write_file', { path: 'a', content: 'x' }), 'mino', context)
    expect(detection.kind === 'dialect' && detection.dialect.name).toBe('mino')
  })

  test('of a tool that one dialect knows is that dialect, so that its rules refuse the arguments', () => {
    expect(translate([call('file_edit', {})])).toMatchObject({
      kind: 'refused',
      failures: [{ code: 'invalid-batch', data: { native: "缺少必填参数 'file_path'" } }],
    })
  })

  test('is not known for an unknown tool, and the nearest are named', () => {
    const detection = detect(call('edit-files', {}), 'auto', context)
    expect(detection).toMatchObject({
      kind: 'refused',
      failure: { code: 'unknown-tool', data: { nearest: expect.arrayContaining(['edit_file']) } },
    })
  })

  test("has none of a tool that is another dialect's", () => {
    const detection = detect(zapmycoEdit, 'mino', context)
    expect(detection).toMatchObject({
      kind: 'refused',
      failure: { code: 'unknown-tool', data: { dialect: 'mino' } },
    })
  })

  test.each(['aider', 'cline', 'unified-diff'] as const)('%s has no tools', (name) => {
    expect(dialectFor(name)).toBeNull()
    expect(detect(minoEdit, name, context)).toMatchObject({
      kind: 'refused',
      failure: { code: 'unknown-tool' },
    })
  })

  test('is not guessed where the arguments fit none of several', () => {
    const detection = detect(call('edit_file', { path: 'a' }), 'auto', context)
    expect(detection).toMatchObject({ kind: 'refused', failure: { code: 'invalid-batch' } })
    expect(detection.kind === 'refused' && detection.failure.message).toMatch(/mino.*mcp-filesystem/)
  })
})

describe('a call that fits several dialects', () => {
  const [first, second] = ['mino', 'mcp-filesystem'].map((name) =>
    dialects.find((dialect) => dialect.name === name),
  )

  test('is that of the first where all mean the same', () => {
    const shared = call('read_file', { path: 'a' })
    expect(first?.fits(shared) && second?.fits(shared)).toBe(true)
    const detection = detect(shared, 'auto', context)
    expect(detection.kind === 'dialect' && detection.dialect.name).toBe('mino')
  })

  test('is that of the only one that takes it', () => {
    // Absolute paths are refused by Mino and mapped by the filesystem server.
    const detection = detect(call('read_file', { path: `${root}/a` }), 'auto', context)
    expect(detection.kind === 'dialect' && detection.dialect.name).toBe('mcp-filesystem')
  })
})

describe('a call that fits several made-up dialects', () => {
  const made = (name: DialectName, translation: Translation): Dialect => ({
    name,
    profile: { order: 'original', maxTier: 'exact', needsRead: false },
    tools: ['put'],
    fits: () => true,
    translate: () => translation,
  })
  const appending = (content: string): Translation => ({
    kind: 'edits',
    edits: [{ op: 'append', item: 0, step: 0, path: 'a', content }],
    nextStep: 1,
  })
  const writing = (byte: number): Translation => ({
    kind: 'edits',
    edits: [
      {
        op: 'write',
        item: 0,
        step: 0,
        path: 'a',
        content: Uint8Array.of(byte),
        mode: 'either',
        isText: true,
      },
    ],
    nextStep: 1,
  })
  const refusing: Translation = {
    kind: 'refused',
    failures: [{ item: 0, path: 'a', code: 'too-large', message: 'too large', data: {} }],
  }
  const detectPut = (first: Translation, second: Translation) =>
    detectAmong([made('mino', first), made('gemini', second)], call('put', {}), 'auto', context)

  test.each([
    ['the same texts', appending('x'), appending('x')],
    ['the same bytes', writing(1), writing(1)],
    ['refusals only', refusing, refusing],
  ])('%s: the first', (_, first, second) => {
    expect(detectPut(first, second)).toMatchObject({ kind: 'dialect', dialect: { name: 'mino' } })
  })

  test.each([
    ['other texts', appending('x'), appending('y')],
    ['other bytes', writing(1), writing(2)],
    ['other edits', appending('x'), writing(1)],
  ])('%s: neither, and both are named', (_, first, second) => {
    expect(detectPut(first, second)).toMatchObject({
      kind: 'refused',
      failure: { code: 'ambiguous-dialect', data: { candidates: ['mino', 'gemini'] } },
    })
  })

  test('a refusal and an edit: the one that takes it', () => {
    expect(detectPut(refusing, appending('x'))).toMatchObject({
      kind: 'dialect',
      dialect: { name: 'gemini' },
    })
  })
})

describe('the nearest name of an unknown tool', () => {
  test.each([
    ['edit_flie', ['edit_file']],
    ['EDIT-FILE', ['edit_file']],
    ['mcp_write_file', ['write_file']],
    ['zzz', []],
    ['x'.repeat(100_000), []],
  ])('is that of %s', (name, nearest) => {
    expect(detect(call(name, {}), 'auto', context)).toMatchObject({ failure: { data: { nearest } } })
  })
})

describe('steps', () => {
  test('operations of a batch share one', () => {
    expect(stepsOf([append, { op: 'delete', path: 'c.ts' }, append])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
    ])
  })

  test('operations in sequence have one each', () => {
    expect(stepsOf([append, append], { order: 'sequential' })).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  test('calls of a system that answers one at a time have one each, and a list counts on', () => {
    expect(stepsOf([mcpEdit, minoEdit, mcpEdit])).toEqual([
      [0, 0],
      [0, 1],
      [1, 2],
      [2, 3],
      [2, 4],
    ])
  })

  test('calls of zapmyco share one', () => {
    expect(stepsOf([zapmycoEdit, zapmycoEdit])).toEqual([
      [0, 0],
      [1, 0],
    ])
  })

  test("the batch's order goes before the system's", () => {
    expect(stepsOf([minoEdit, minoEdit], { order: 'original' })).toEqual([
      [0, 0],
      [1, 0],
    ])
    expect(stepsOf([zapmycoEdit, zapmycoEdit], { order: 'sequential' })).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  test('a list keeps its own order in a batch of the original order', () => {
    expect(stepsOf([mcpEdit, append], { order: 'original' })).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ])
  })

  test('operations in a row share the step of their row, between calls in sequence', () => {
    const mixed = [append, append, minoEdit, append, append, minoEdit]
    expect(stepsOf(mixed)).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 2],
      [5, 3],
    ])
  })

  test('a row that held a list is followed by what sees all of it', () => {
    const blocks: BatchItem = {
      op: 'blocks',
      path: 'a.ts',
      text: '<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n',
    }
    expect(stepsOf([append, blocks, append, minoEdit])).toEqual([
      [0, 0],
      [1, 0],
      [1, 1],
      [2, 0],
      [3, 2],
    ])
  })
})

describe('a batch', () => {
  test('has a profile and a dialect for each item', () => {
    const result = translate([append, minoEdit, zapmycoEdit])
    expect(result).toMatchObject({
      kind: 'edits',
      dialects: [null, 'mino', 'zapmyco'],
      profiles: [{ needsRead: false }, { callsPerTurn: 16 }, { needsRead: true }],
    })
  })

  test('of foreign texts is translated by their forms', () => {
    const patch: BatchItem = { op: 'patch', text: '*** Begin Patch\n*** Delete File: a.ts\n*** End Patch' }
    const diff: BatchItem = { op: 'diff', text: '--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-x\n+y\n' }
    const result = translate([patch, diff])
    expect(result).toMatchObject({
      dialects: ['codex', 'unified-diff'],
      edits: [
        { op: 'delete', path: 'a.ts' },
        { op: 'hunks', path: 'b.ts' },
      ],
    })
  })

  test('lists the failures of all its items', () => {
    const result = translate([
      { op: 'delete', path: '/x' },
      append,
      call('nope', {}),
      { ...append, path: '../y' },
    ])
    const found = result.kind === 'refused' ? result.failures.map(({ item, code }) => [item, code]) : []
    expect(found).toEqual([
      [0, 'outside-repository'],
      [2, 'unknown-tool'],
      [3, 'outside-repository'],
    ])
  })

  test.each([
    call('read_file', { path: 'a' }),
    call('file_read', { file_path: 'a' }),
    call('Read', { file_path: 'a' }),
    call('text_editor_remote', { action: 'read', path: 'a' }),
    call('str_replace_based_edit_tool', { command: 'view', path: 'a' }),
  ])('takes no read: %j', (read) => {
    const result = translate([read])
    expect(result).toMatchObject({ kind: 'refused', failures: [{ code: 'unknown-tool' }] })
    expect(result.kind === 'refused' && result.failures[0]?.message).toMatch(/read/)
  })

  test('without items is empty', () => {
    expect(translate([])).toMatchObject({ kind: 'refused', failures: [{ code: 'empty-batch' }] })
  })
})

describe('the list of dialects', () => {
  test('has no name twice, and only known names', () => {
    const names = dialects.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(dialectNames).toContain(name)
  })

  test('finds each by its name', () => {
    for (const dialect of dialects) expect(dialectFor(dialect.name)).toBe(dialect)
  })
})

describe('calls of hostile size are refused like any other', () => {
  const many = 200_000

  test.each([
    [
      'unknown arguments',
      call('edit_file', Object.fromEntries(Array.from({ length: many }, (_, i) => [`a${i}`, i]))),
    ],
    [
      'faulty edits of zapmyco',
      call('file_edit', { file_path: 'a', edits: Array.from({ length: many }, () => 0) }),
    ],
    [
      'faulty edits of Agent Zero',
      call('text_editor', { action: 'patch', path: 'a', edits: Array(many).fill('x') }),
    ],
    [
      'faulty hunks',
      call('text_editor', { action: 'patch', path: 'a', patch_text: '@@\n c\n'.repeat(many) }),
    ],
    ['a tool name', call('x'.repeat(5_000_000), {})],
    ['a path', call('file_edit', { file_path: '/'.repeat(5_000_000), mode: 'append', content: 'x' })],
  ])('%s', (_, item) => {
    const result = translate([item], { dialect: item.tool === 'edit_file' ? 'mino' : 'auto' })
    expect(result.kind).toBe('refused')
    const [first] = result.kind === 'refused' ? result.failures : []
    expect(first?.message.length).toBeLessThan(2000)
  })
})

test('an edit holds nothing of the place that it is translated in', () => {
  const result = translate([append])
  expect(result.kind === 'edits' && result.edits).toEqual([{ ...append, item: 0, step: 0 }])
})

test('no batch makes the translation throw', () => {
  const tools = dialects.flatMap((dialect) => dialect.tools)
  const names =
    'path file_path edits old_string new_string content mode action command input patch_text'.split(' ')
  const input = fc.dictionary(
    fc.oneof(fc.constantFrom(...names), fc.string()),
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.string()),
  )
  const item = fc.record({ tool: fc.oneof(fc.constantFrom(...tools), fc.string()), input })
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('auto', ...dialectNames),
      (items, dialect) => {
        const result = translate(items, { dialect })
        if (result.kind === 'edits') expect(result.profiles).toHaveLength(items.length)
        else expect(result.failures.length).toBeGreaterThan(0)
      },
    ),
    { numRuns: pureRuns(1000) },
  )
})
