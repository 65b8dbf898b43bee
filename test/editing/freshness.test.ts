import { describe, expect, test } from 'vitest'
import type { ReadRecord } from '../../src/model/file-state.ts'
import {
  blobOf,
  type Draft,
  edited,
  failuresOf,
  filesAfter,
  refused,
  remarksOf,
  replace,
  resultsOf,
  submit,
} from './submit.ts'

const text = 'alpha one\nbeta two\ngamma three\ndelta four\nepsilon five\nzeta six\n'
const lines = (
  from: number,
  to: number | null,
  content: string | null,
  more: Partial<Extract<Draft, { op: 'lines' }>> = {},
): Draft => ({
  op: 'lines',
  from,
  to,
  content,
  ...more,
})
const read = (content: string, more: Partial<ReadRecord> = {}): ReadRecord => ({
  path: 'a.txt',
  blob: blobOf(content),
  bytes: Buffer.from(content),
  ...more,
})

describe('an edit by line numbers', () => {
  test('needs evidence', () => {
    expect(refused(text, [lines(2, 2, 'x')])).toMatchObject({
      code: 'not-read',
      data: { line: 2, blob: blobOf(text) },
    })
    expect(refused(text, [{ op: 'insert', after: 2, content: 'x' }]).code).toBe('not-read')
    expect(refused('', [lines(1, null, 'x')]).code).toBe('not-read')
  })

  test.each([
    ['the file\u2019s blob', lines(2, 2, 'x', { blob: blobOf(text) }), []],
    ['a read of the whole file', lines(2, 2, 'x'), [read(text)]],
    ['a read of these lines', lines(2, 2, 'x'), [read(text, { lines: [{ from: 2, to: 2 }] })]],
    [
      'reads that cover them together',
      lines(2, 4, 'x'),
      [
        read(text, { lines: [{ from: 3, to: 6 }] }),
        read(text, {
          lines: [
            { from: 1, to: 1 },
            { from: 2, to: 2 },
          ],
        }),
      ],
    ],
    ['a later read besides one that no longer holds', lines(2, 2, 'x'), [read('old\n'), read(text)]],
    ['quoted lines', lines(2, 4, 'x', { expected: 'beta two\ngamma three\ndelta four' }), []],
    ['the top, for an insertion there', { op: 'insert', after: 0, content: 'x' } as Draft, []],
    ['the dialect\u2019s word', { op: 'insert', after: 2, content: 'x', needsNoRead: true } as Draft, []],
  ])('is taken on the evidence of %s', (_name, edit, reads) => {
    expect(submit({ 'a.txt': text }, [edit], { reads }).kind).toBe('resolved')
  })

  test.each([
    [lines(2, 4, 'x'), [{ from: 1, to: 3 }], 4],
    [lines(2, 4, 'x'), [{ from: 3, to: 6 }], 2],
    [
      lines(2, 6, 'x'),
      [
        { from: 1, to: 3 },
        { from: 5, to: 6 },
      ],
      4,
    ],
    [lines(7, null, 'x'), [{ from: 1, to: 5 }], 6],
  ])('names the first line that was not shown: %j', (edit, shown, line) => {
    const failure = refused(text, [edit], { reads: [read(text, { lines: shown })] })
    expect(failure).toMatchObject({ code: 'not-read', data: { line } })
  })
})

describe('quoted lines', () => {
  const quoted = (
    expected: string,
    order: 'in-order' | 'any-order' = 'in-order',
    range: [number, number] = [2, 4],
  ) => submit({ 'a.txt': text }, [lines(range[0], range[1], 'x', { expected, expectedOrder: order })])

  test.each([['beta two\ngamma three'], ['beta two'], [''], ['\n \n']])(
    'that are too few are weak-evidence: %j',
    (expected) => {
      expect(failuresOf(quoted(expected))[0]).toMatchObject({ code: 'weak-evidence' })
    },
  )

  test('with a very short line must be four', () => {
    const before = 'if (a) {\n  b();\n}\nfoo();\n'
    const three = refused(before, [lines(1, 3, 'x', { expected: 'if (a) {\nb();\n}' })])
    expect(three).toMatchObject({
      code: 'weak-evidence',
      data: { rule: expect.stringContaining('fewer than 3 bytes') },
    })
    expect(edited(before, [lines(1, 4, 'x', { expected: 'if (a) {\nb();\n}\nfoo();' })])).toBe('x\n')
  })

  test('measure the short line in bytes of UTF-8', () => {
    const before = '\u4e2d\nbbb\nccc\n'
    expect(edited(before, [lines(1, 3, 'x', { expected: before })])).toBe('x\n')
    const short = '\u00e9\nbbb\nccc\n'
    expect(refused(short, [lines(1, 3, 'x', { expected: short })]).code).toBe('weak-evidence')
  })

  test('that are not in the range are no-match, with the range shown', () => {
    const failure = failuresOf(quoted('beta two\ngamma 3\ndelta four'))[0]
    expect(failure).toMatchObject({
      code: 'no-match',
      data: { missing: ['gamma 3'], from: 2, to: 4, found: ['beta two', 'gamma three', 'delta four'] },
    })
  })

  test('are compared with the range alone, and the advice says so', () => {
    const failure = failuresOf(quoted('beta two\ngamma three\ndelta four', 'in-order', [3, 3]))[0]
    expect(failure?.code).toBe('no-match')
    expect(failure?.hint).toContain('lines 3 to 3 only')
  })

  test('count as often as they are quoted', () => {
    const before = 'if (a) {\n  b();\n}\nfoo();\n'
    const expected = '}\n}\n}\n}'
    for (const expectedOrder of ['in-order', 'any-order'] as const) {
      expect(refused(before, [lines(1, 4, 'q', { expected, expectedOrder })]).code).toBe('no-match')
    }
  })

  test('may come in any order where the dialect says so', () => {
    const shuffled = 'delta four\nbeta two\ngamma three'
    expect(quoted(shuffled, 'any-order').kind).toBe('resolved')
    expect(failuresOf(quoted(shuffled))[0]?.code).toBe('no-match')
  })

  test('ignore indentation, blank lines and curly quotes', () => {
    const before = '  say “a”\n\n  say ‘b’\n  say c\n'
    expect(edited(before, [lines(1, 4, 'x', { expected: 'say "a"\nsay \'b\'\n\nsay c\r\n' })])).toBe('x\n')
  })

  test('must hold although a read proves the place, but may then be few', () => {
    const reads = [read(text)]
    expect(edited(text, [lines(2, 2, 'x', { expected: 'beta two' })], { reads })).toContain(
      'alpha one\nx\ngamma',
    )
    expect(refused(text, [lines(2, 2, 'x', { expected: 'other' })], { reads }).code).toBe('no-match')
  })

  test('of an insertion stand where it goes', () => {
    const expected = 'beta two\ngamma three\ndelta four'
    expect(edited(text, [lines(2, null, 'x', { expected })])).toContain('alpha one\nx\nbeta two')
    expect(refused(text, [lines(3, null, 'x', { expected })]).code).toBe('no-match')
  })
})

describe('a stale read', () => {
  const before = `header\n${text}`

  test.each([
    ['a text edit', replace('beta', 'b')],
    ['an append', { op: 'append', content: 'x' } as Draft],
    ['a write', { op: 'write', content: Buffer.from('mine\n') } as Draft],
    ['a deletion', { op: 'delete' } as Draft],
    ['a move', { op: 'move', to: 'b.txt' } as Draft],
    ['a change of mode', { op: 'chmod', executable: true } as Draft],
    ['an edit by line numbers', lines(2, 2, 'x')],
  ])('refuses %s, recorded or named by the edit', (_name, edit) => {
    const recorded = refused(before, [edit], { reads: [read(text)] })
    expect(recorded).toMatchObject({
      code: 'stale-read',
      data: { expected: blobOf(text), actual: blobOf(before) },
    })
    expect(refused(before, [{ ...edit, blob: blobOf(text) } as Draft]).code).toBe('stale-read')
  })

  test('of another path refuses nothing', () => {
    expect(
      submit({ 'a.txt': before }, [replace('beta', 'b')], { reads: [read(text, { path: 'b.txt' })] }).kind,
    ).toBe('resolved')
  })

  test('yields to a blob that the edit names', () => {
    const edit = { ...replace('beta', 'b'), blob: blobOf(before) } as Draft
    expect(submit({ 'a.txt': before }, [edit], { reads: [read(text)] }).kind).toBe('resolved')
  })

  test('shows what changed', () => {
    const { data } = refused(before, [lines(2, 2, 'x')], { reads: [read(text)] })
    expect(data['changes']).toEqual(['@@ -1,1 +1,2 @@', '+header', ' alpha one'])
  })

  test('suggests the lines to which the named ones have moved', () => {
    const failure = refused(before, [lines(2, 3, 'x')], { reads: [read(text)] })
    expect(failure.data['suggestion']).toEqual({ from: 3, to: 4 })
    expect(failure.hint).toContain('3 to 4')
  })

  test.each([
    ['the lines themselves changed', text.replace('beta two', 'beta 2')],
    ['a neighbour changed', text.replace('alpha one', 'alpha 1')],
    ['they stand twice', `${text}${text}`],
    ['they are gone', 'nothing\n'],
  ])('suggests nothing where %s', (_name, now) => {
    const failure = refused(now, [lines(2, 2, 'x')], { reads: [read(text)] })
    expect(failure.code).toBe('stale-read')
    expect(failure.data).not.toHaveProperty('suggestion')
  })

  test('suggests nothing for lines that were not shown', () => {
    const failure = refused(before, [lines(2, 2, 'x')], {
      reads: [read(text, { lines: [{ from: 4, to: 5 }] })],
    })
    expect(failure.data).not.toHaveProperty('suggestion')
  })

  test('is carried over to the new lines if allowed', () => {
    const resolution = submit(
      { 'a.txt': before },
      [lines(2, 2, 'BETA'), { op: 'insert', after: 5, content: 'new' }],
      {
        reads: [read(text)],
        carry: true,
      },
    )
    expect(filesAfter(resolution)['a.txt']).toBe(
      before.replace('beta two', 'BETA').replace('five\n', 'five\nnew\n'),
    )
    expect(resultsOf(resolution)[0]).toMatchObject({ carried: true, oldLines: { from: 3, to: 3 } })
    expect(remarksOf(resolution).map(({ kind }) => kind)).toEqual(['carried', 'carried'])
  })

  test('lets a text edit through to where its text stands, if carrying is allowed', () => {
    const resolution = submit({ 'a.txt': before }, [replace('beta two', 'BETA')], {
      reads: [read(text)],
      carry: true,
    })
    expect(filesAfter(resolution)['a.txt']).toBe(before.replace('beta two', 'BETA'))
    expect(remarksOf(resolution).map(({ kind }) => kind)).toEqual(['stale-read'])
  })

  test('never lets a whole-file edit through', () => {
    const options = { reads: [read(text)], carry: true }
    expect(refused(before, [{ op: 'write', content: Buffer.from('x') }], options).code).toBe('stale-read')
    expect(refused(before, [{ op: 'delete' }], options).code).toBe('stale-read')
  })
})

describe('absence', () => {
  const write = (blob: null | undefined): Draft => ({
    op: 'write',
    content: Buffer.from('x'),
    ...(blob === null ? { blob } : {}),
  })

  test('that was read and holds lets a file be made', () => {
    expect(filesAfter(submit({}, [write(null)]))).toEqual({ 'a.txt': 'x' })
    expect(filesAfter(submit({}, [write(undefined)], { reads: [{ path: 'a.txt', blob: null }] }))).toEqual({
      'a.txt': 'x',
    })
  })

  test('that was read and holds no more is exists for a write, stale-read for others', () => {
    expect(refused(text, [write(null)]).code).toBe('exists')
    expect(refused(text, [{ ...replace('beta', 'b'), blob: null } as Draft]).code).toBe('stale-read')
    expect(refused(text, [replace('beta', 'b')], { reads: [{ path: 'a.txt', blob: null }] }).code).toBe(
      'stale-read',
    )
  })

  test('of a file that was read makes a write stale', () => {
    const failures = failuresOf(submit({}, [write(undefined)], { reads: [read(text)] }))
    expect(failures[0]).toMatchObject({ code: 'stale-read', data: { actual: null } })
  })
})

describe('later steps of a batch', () => {
  const reads = [read(text, { lines: [{ from: 1, to: 3 }] })]

  test('take text whose file was named as it was at the beginning: the batch knows its own changes', () => {
    const edits = [
      replace('beta', 'BETA'),
      { ...replace('gamma', 'GAMMA', { step: 1 }), blob: blobOf(text) } as Draft,
    ]
    expect(edited(text, edits, { reads })).toContain('BETA two\nGAMMA three')
  })

  test('count lines in the text as it then is, and know the lines of earlier steps', () => {
    const edits = [lines(1, 1, 'A\nB\nC'), lines(2, 2, 'own', { step: 1 }), lines(4, 4, 'beta', { step: 2 })]
    expect(edited(text, edits, { reads })).toBe(text.replace('alpha one\nbeta two', 'A\nown\nC\nbeta'))
  })

  test('do not know lines that were never shown, wherever they are now', () => {
    const edits = [lines(1, 1, 'A\nB\nC'), lines(6, 6, 'x', { step: 1 })]
    expect(refused(text, edits, { reads })).toMatchObject({ code: 'not-read', item: 1, data: { line: 6 } })
    const removed = [lines(1, 3, null), lines(1, 1, 'x', { step: 1 })]
    expect(refused(text, removed, { reads })).toMatchObject({ code: 'not-read', item: 1, data: { line: 1 } })
  })

  test('know a file that the batch made, and follow one that it moved', () => {
    const made: Draft[] = [
      { op: 'write', path: 'n.txt', content: Buffer.from('a\nb\n') },
      lines(2, 2, 'B', { path: 'n.txt', step: 1 }),
    ]
    expect(filesAfter(submit({}, made))).toEqual({ 'n.txt': 'a\nB\n' })
    const moved: Draft[] = [{ op: 'move', to: 'b.txt' }, lines(2, 2, 'B', { path: 'b.txt', step: 1 })]
    expect(filesAfter(submit({ 'a.txt': text }, moved, { reads }))['b.txt']).toContain('alpha one\nB\n')
  })

  const blob = blobOf(text)
  const late = (edit: Draft): Draft => ({ ...edit, step: 1 }) as Draft

  test.each<[string, Draft, Draft, string]>([
    ['above what moved', lines(4, 4, 'D\nE'), lines(2, 2, 'B', { blob }), 'B\ngamma three\nD\nE\n'],
    ['where nothing moved', lines(1, 1, 'A'), lines(2, 2, 'B', { blob }), 'A\nB\n'],
    [
      'above an insertion',
      { op: 'insert', after: 3, content: 'x', blob },
      lines(3, 3, 'C', { blob }),
      'C\nx\n',
    ],
  ])('take line numbers %s by the blob of the beginning', (_, first, second, part) => {
    expect(edited(text, [first, late(second)], { reads: [read(text)] })).toContain(part)
  })

  test.each<[string, Draft, Draft, { readonly from: number; readonly to: number } | undefined]>([
    [
      'below an insertion',
      { op: 'insert', after: 0, content: 'x', blob },
      lines(2, 3, 'B', { blob }),
      { from: 3, to: 4 },
    ],
    ['below a deletion', lines(1, 1, null), lines(2, 2, 'B', { blob }), { from: 1, to: 1 }],
    ['within what has grown', lines(1, 2, 'A\nB\nC'), lines(2, 2, 'B', { blob }), undefined],
    ['across what was removed', lines(2, 2, null), lines(1, 3, 'B', { blob }), undefined],
    ['below a last line that has grown', lines(6, 6, 'Z\nz'), lines(6, 6, 'B', { blob }), undefined],
  ])('refuse line numbers %s by the blob of the beginning', (_, first, second, suggestion) => {
    const failure = refused(text, [first, late(second)], { reads: [read(text)] })
    expect(failure).toMatchObject({ code: 'stale-read', item: 1, data: { expected: blob } })
    expect(failure.data['suggestion']).toEqual(suggestion)
    expect(failure.message).toContain('edits of this batch')
  })

  test('carry such numbers along if allowed', () => {
    const edits: Draft[] = [{ op: 'insert', after: 0, content: 'x', blob }, late(lines(2, 3, 'B', { blob }))]
    expect(edited(text, edits, { carry: true })).toBe(`x\n${text.replace('beta two\ngamma three', 'B')}`)
  })

  test('judge a blob by the file that they see', () => {
    const first = lines(1, 1, 'A\nB\nC', { blob })
    const between = text.replace('alpha one', 'A\nB\nC')
    const seen = blobOf(between)
    expect(edited(text, [first, late(lines(4, 4, 'b', { blob: seen }))])).toContain('C\nb\ngamma')
    const gone: Draft = { op: 'delete', blob: seen }
    expect(filesAfter(submit({ 'a.txt': text }, [first, late(gone)]))).toEqual({ 'a.txt': null })
    for (const edit of [
      { op: 'delete', blob },
      { op: 'write', content: Buffer.from('x'), blob },
    ] as const) {
      expect(refused(text, [first, late(edit)])).toMatchObject({
        code: 'stale-read',
        data: { expected: blob, actual: seen },
      })
    }
  })

  test('judge the blob of a file that the batch itself made', () => {
    const made: Draft = { op: 'write', content: Buffer.from('a\nb\n'), path: 'n.txt' }
    const change = (named: string): Draft =>
      late({ ...lines(2, 2, 'B', { blob: blobOf(named) }), path: 'n.txt' } as Draft)
    expect(filesAfter(submit({}, [made, change('a\nb\n')]))).toEqual({ 'n.txt': 'a\nB\n' })
    expect(failuresOf(submit({}, [made, change('other')]))).toMatchObject([
      { code: 'stale-read', data: { actual: blobOf('a\nb\n') } },
    ])
  })
})
