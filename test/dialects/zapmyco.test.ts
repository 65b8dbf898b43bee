import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { zapmyco } from '../../src/dialects/zapmyco.ts'
import type { Translation } from '../../src/model/dialect.ts'
import { pureRuns } from '../helpers/runs.ts'
import { root } from './in-memory.ts'

const context = { item: 2, step: 5, root }

const translate = (input: Readonly<Record<string, unknown>>, tool = 'file_edit'): Translation =>
  zapmyco.translate({ tool, input }, context)

const file = { file_path: 't.txt' }
const range = { start_line: 1, end_line: 3, expected: 'aaa\nbbb\nccc', new_content: 'x' }

describe('the routing of file_edit', () => {
  test.each([
    ['an edits list goes before mode', { edits: [range], mode: 'append', content: 'x' }, 'lines'],
    ['edits that are no list are ignored', { edits: {}, mode: 'append', content: 'x' }, 'append'],
    ['mode goes before start_line', { mode: 'append', content: 'x', ...range }, 'append'],
    ['a mode that is no text is ignored', { mode: 1, ...range }, 'lines'],
    ['a start_line without mode', range, 'lines'],
    ['old and new text', { old_string: 'a', new_string: 'b' }, 'replace'],
    ['unknown arguments are ignored', { old_string: 'a', new_string: 'b', explain: 'why' }, 'replace'],
  ])('%s', (_, input, op) => {
    expect(translate({ ...file, ...input })).toMatchObject({
      kind: 'edits',
      edits: [{ op, item: 2, step: 5 }],
    })
  })

  test.each([['1'], [-1], [1.5], [true]])('a start_line of %j does not count', (start) => {
    const refused = translate({ ...file, ...range, start_line: start })
    const native = "缺少 'old_string' 或 'start_line' 参数，请使用 old_string/new_string 或 line_range 模式"
    expect(refused).toMatchObject({
      kind: 'refused',
      failures: [{ code: 'invalid-batch', data: { native } }],
    })
  })

  test('content without a mode is taken for a text edit and refused', () => {
    expect(translate({ ...file, content: 'x' })).toMatchObject({
      kind: 'refused',
      failures: [{ code: 'invalid-batch' }],
    })
  })
})

describe('what a faulty call is told', () => {
  const without = (name: string) => ({ ...file, mode: 'line_range', ...range, [name]: undefined })

  test.each([
    ['no file_path', {}, 'invalid-batch', "缺少必填参数 'file_path'"],
    ['a file_path that is no text', { file_path: 1 }, 'invalid-batch', "缺少必填参数 'file_path'"],
    ['an empty file_path', { file_path: '' }, 'path-invalid', 'file_path 不能为空'],
    [
      'an unknown mode',
      { ...file, mode: 'insert_after' },
      'invalid-batch',
      "不支持的编辑模式: 'insert_after'",
    ],
    ['no start_line', without('start_line'), 'invalid-batch', "缺少必填参数 'start_line'"],
    ['no end_line', without('end_line'), 'invalid-batch', "缺少必填参数 'end_line'"],
    ['no expected', without('expected'), 'invalid-batch', "缺少必填参数 'expected'"],
    ['no new_content', without('new_content'), 'invalid-batch', "缺少必填参数 'new_content'"],
    ['no content', { ...file, mode: 'append' }, 'invalid-batch', "缺少必填参数 'content'"],
    ['no new_string', { ...file, old_string: 'a' }, 'invalid-batch', "缺少必填参数 'new_string'"],
    [
      'an empty old_string',
      { ...file, old_string: '', new_string: 'a' },
      'invalid-batch',
      'old_string 不能为空',
    ],
    [
      'equal texts',
      { ...file, old_string: 'a', new_string: 'a' },
      'no-change',
      'old_string 和 new_string 相同，没有需要修改的内容',
    ],
    ['an empty list', { ...file, edits: [] }, 'invalid-batch', 'edits 数组为空'],
    [
      'a list member without end_line',
      { ...file, edits: [range, { start_line: 4 }] },
      'invalid-batch',
      "edits[1] 缺少 'end_line' 参数",
    ],
    [
      'a list member that is no object',
      { ...file, edits: ['x'] },
      'invalid-batch',
      "edits[0] 缺少 'start_line' 参数",
    ],
    [
      'line 0',
      { ...file, ...range, start_line: 0 },
      'out-of-range',
      '行号超出范围：start_line=0, end_line=3',
    ],
    [
      'a range backwards',
      { ...file, ...range, start_line: 4 },
      'out-of-range',
      '行号超出范围：start_line=4, end_line=3',
    ],
  ])('%s', (_, input, code, native) => {
    expect(translate(input)).toMatchObject({
      kind: 'refused',
      failures: [{ code, item: 2, data: { native } }],
    })
  })

  test('every faulty member of a list is named', () => {
    const refused = translate({
      ...file,
      edits: [{ ...range, expected: 'a' }, range, { ...range, start_line: 9 }],
    })
    const messages = refused.kind === 'refused' ? refused.failures.map(({ message }) => message) : []
    expect(messages).toEqual([
      expect.stringMatching(/^edits\[0\]: .*three-line/),
      expect.stringMatching(/^edits\[2\]: /),
    ])
  })

  test.each([
    ['two lines', 'aaa\nbbb\n\n  \n', 'three-lines'],
    ['three lines, one of two bytes', 'aaa\nbbb\né', 'short-line'],
    ['the replace example of its manual', 'let x = 10;\nlet y = 20;\n}', 'short-line'],
    ['lines of U+0085 and other blanks', 'aaa\nbbb\n\u0085\u3000\u00a0', 'three-lines'],
  ])('weak evidence names its rule: %s', (_, expected, rule) => {
    const refused = translate({ ...file, ...range, expected })
    expect(refused).toMatchObject({ kind: 'refused', failures: [{ code: 'weak-evidence', data: { rule } }] })
  })

  test('a byte-order mark is no blank, so its line counts', () => {
    expect(translate({ ...file, ...range, expected: 'aaa\nbbb\n\ufeff' }).kind).toBe('edits')
  })

  test.each([['old_string'], ['edits'], ['append']])('a notebook is refused in every mode: %s', (mode) => {
    const inputs: Readonly<Record<string, unknown>> = {
      old_string: { old_string: 'a', new_string: 'b' },
      edits: { edits: [range] },
      append: { mode: 'append', content: 'x' },
    }
    const input = { file_path: 'n.IPYNB', ...(inputs[mode] as Readonly<Record<string, unknown>>) }
    expect(translate(input)).toMatchObject({ kind: 'refused', failures: [{ code: 'invalid-batch' }] })
  })

  test.each([['expected'], ['new_content']])('half of a surrogate pair in %s is refused', (name) => {
    const input = { ...file, ...range, [name]: 'aaa\nbbb\nccc\ud800' }
    expect(translate(input)).toMatchObject({ kind: 'refused', failures: [{ code: 'not-utf8' }] })
  })
})

describe('what a call becomes', () => {
  test('a line range compares its lines in any order', () => {
    const expected = { op: 'lines', path: 't.txt', from: 1, to: 3, content: 'x', expectedOrder: 'any-order' }
    expect(translate({ ...file, ...range })).toMatchObject({
      edits: [{ ...expected, expected: range.expected }],
    })
  })

  test('an absolute path below the root is mapped, one beside it refused', () => {
    const edit = { old_string: 'a', new_string: 'b' }
    expect(translate({ file_path: `${root}/src/a.ts`, ...edit })).toMatchObject({
      edits: [{ path: 'src/a.ts' }],
    })
    const outside = translate({ file_path: `${root}-2/a.ts`, ...edit })
    expect(outside).toMatchObject({ kind: 'refused', failures: [{ code: 'outside-repository' }] })
  })

  test('text is found up to typographic quotes', () => {
    const replace = { op: 'replace', old: 'a', new: 'b', all: true, maxTier: 'unicode' }
    expect(translate({ ...file, old_string: 'a', new_string: 'b', replace_all: true })).toMatchObject({
      edits: [replace],
    })
  })

  test('file_write makes or overwrites a file, and takes no NUL', () => {
    const write = translate({ ...file, content: 'é\n' }, 'file_write')
    expect(write).toMatchObject({
      edits: [{ op: 'write', mode: 'either', isText: true, content: new TextEncoder().encode('é\n') }],
    })
    expect(translate({ ...file, content: 'a\0' }, 'file_write')).toMatchObject({
      failures: [{ code: 'binary' }],
    })
    expect(translate(file, 'file_write')).toMatchObject({
      failures: [{ data: { native: "缺少必填参数 'content'" } }],
    })
  })
})

describe('file_read', () => {
  const read = (input: Readonly<Record<string, unknown>>) =>
    zapmyco.readCall?.({ tool: 'file_read', input }, context)

  test.each([
    ['of a whole file shows 2000 lines', {}, { from: 1, to: 2000 }],
    ['with offset and limit', { offset: 3, limit: 2 }, { from: 3, to: 4 }],
  ])('%s', (_, input, lines) => {
    expect(read({ ...file, ...input })).toEqual({ kind: 'read', path: 't.txt', ...lines })
  })

  test.each([[{ offset: 0 }], [{ limit: '5' }], [{ offset: 1.5 }]])('refuses %j', (input) => {
    expect(read({ ...file, ...input })).toMatchObject({ code: 'out-of-range' })
  })

  test('is no edit, and an edit is no read', () => {
    expect(translate(file, 'file_read')).toMatchObject({ failures: [{ code: 'unknown-tool' }] })
    expect(zapmyco.readCall?.({ tool: 'file_edit', input: file }, context)).toBeNull()
  })
})

test('no call makes the adapter throw', () => {
  const input = fc.dictionary(
    fc.oneof(
      fc.constantFrom('file_path', 'edits', 'mode', 'start_line', 'end_line', 'expected', 'content'),
      fc.string(),
    ),
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.string({ unit: 'binary' }), fc.integer()),
  )
  fc.assert(
    fc.property(fc.constantFrom(...zapmyco.tools), input, (tool, arguments_) => {
      const call = { tool, input: arguments_ }
      zapmyco.fits(call)
      zapmyco.readCall?.(call, context)
      const result = zapmyco.translate(call, context)
      expect(result.kind === 'edits' ? result.edits.length : result.failures.length).toBeGreaterThan(0)
    }),
    { numRuns: pureRuns(1000) },
  )
})
