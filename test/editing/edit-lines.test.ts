import { describe, expect, test } from 'vitest'
import { blobOf, type Content, type Draft, edited, refused, replace, resultsOf, submit } from './submit.ts'

const lines = (from: number, to: number | null, content: string | null): Draft => ({
  op: 'lines',
  from,
  to,
  content,
})
const insert = (after: number, content: string): Draft => ({ op: 'insert', after, content })
const append = (content: string): Draft => ({ op: 'append', content })

/** `a.txt` after edits whose requester has read it. */
const editedAfterRead = (before: Content, ...edits: readonly Draft[]): string | null | undefined =>
  edited(before, edits, { reads: [{ path: 'a.txt', blob: blobOf(before) }] })

const failure = (before: Content, ...edits: readonly Draft[]) =>
  refused(before, edits, { reads: [{ path: 'a.txt', blob: blobOf(before) }] })

describe('lines', () => {
  test.each([
    ['one line', 'a\nb\nc\n', lines(2, 2, 'B\n'), 'a\nB\nc\n'],
    ['content without a final newline gets one', 'a\nb\nc\n', lines(2, 2, 'B'), 'a\nB\nc\n'],
    ['more lines than before', 'a\nb\nc\n', lines(2, 2, 'B1\nB2'), 'a\nB1\nB2\nc\n'],
    ['fewer lines than before', 'a\nb\nc\n', lines(1, 2, 'X'), 'X\nc\n'],
    ['deletion of a range', 'a\nb\nc\n', lines(1, 2, null), 'c\n'],
    ['deletion by empty content', 'a\nb\nc\n', lines(2, 2, ''), 'a\nc\n'],
    ['deletion of one line', 'a\nb\nc\n', lines(2, null, null), 'a\nc\n'],
    ['one blank line', 'a\nb\n', lines(1, 1, '\n'), '\nb\n'],
    ['insertion before a line', 'a\nb\n', lines(2, null, 'x'), 'a\nx\nb\n'],
    ['insertion at the end', 'a\nb\n', lines(3, null, 'x'), 'a\nb\nx\n'],
    ['the unterminated last line', 'a\nb', lines(2, 2, 'B'), 'a\nB'],
    ['the unterminated last line, terminated by the content', 'a\nb', lines(2, 2, 'B\n'), 'a\nB\n'],
    ['a line far from the unterminated end', 'a\nb', lines(1, 1, 'A'), 'A\nb'],
    ['deletion of an unterminated last line', 'a\nb', lines(2, 2, null), 'a\n'],
    ['insertion after an unterminated last line', 'a\nb', lines(3, null, 'c\n'), 'a\nb\nc\n'],
    ['insertion that ends at the unterminated end', 'a\nb', lines(3, null, 'c'), 'a\nb\nc'],
    ['the only line', 'only\n', lines(1, 1, null), ''],
    ['insertion into an empty file', '', lines(1, null, 'first\n'), 'first\n'],
    ['CRLF', 'a\r\nb\r\nc\r\n', lines(2, 3, 'X\nY\nZ'), 'a\r\nX\r\nY\r\nZ\r\n'],
    ['mixed endings one by one', 'a\r\nb\nc\r\n', lines(1, 2, 'A\nB\nB2'), 'A\r\nB\nB2\nc\r\n'],
    ['a spelled-out CRLF', 'a\nb\n', lines(1, 1, 'A\r\n'), 'A\r\nb\n'],
    ['a byte-order mark', '\ufeffa\nb\n', lines(1, 1, 'A'), '\ufeffA\nb\n'],
    ['a form feed is no line break', 'a\n\fb\nc\n', lines(2, 2, 'B'), 'a\nB\nc\n'],
    ['U+2028 is no line break', 'a\u2028b\nc\n', lines(2, 2, 'C'), 'a\u2028b\nC\n'],
    ['lone CRs in a file of CRs', 'a\rb\rc', lines(2, 2, 'B'), 'a\rB\rc'],
  ])('%s', (_name, before, edit, expected) => {
    expect(editedAfterRead(before, edit)).toBe(expected)
  })

  test('keep Latin-1 bytes elsewhere', () => {
    const before = Buffer.from('x\n// caf\xe9\n', 'latin1')
    expect(editedAfterRead(before, lines(1, 1, 'y'))).toBe('latin1:y\n// caf\xe9\n')
  })

  test.each([
    [lines(0, 1, 'x')],
    [lines(-2, -1, 'x')],
    [lines(2, 1, 'x')],
    [lines(1, 3, 'x')],
    [lines(4, null, 'x')],
    [lines(3, null, null)],
    [lines(1.5, 2, 'x')],
    [lines(Number.NaN, 2, 'x')],
    [insert(3, 'x')],
    [insert(-1, 'x')],
  ])('outside the file are out-of-range: %j', (edit) => {
    expect(failure('a\nb\n', edit)).toMatchObject({ code: 'out-of-range', data: { totalLines: 2 } })
  })

  test('of an empty file are out-of-range', () => {
    expect(failure('', lines(1, 1, 'x')).code).toBe('out-of-range')
    expect(failure('\ufeff', lines(1, 1, 'x')).code).toBe('out-of-range')
  })

  test('replaced by the same are no-change', () => {
    expect(failure('a\nb\n', lines(1, 2, 'a\nb')).code).toBe('no-change')
    expect(failure('a\r\n', lines(1, 1, 'a\n')).code).toBe('no-change')
  })

  test('all mean the numbers of the original', () => {
    expect(editedAfterRead('a\nb\nc\nd\ne\n', lines(2, 2, 'B1\nB2\nB3'), lines(5, 5, 'E'))).toBe(
      'a\nB1\nB2\nB3\nc\nd\nE\n',
    )
  })

  test('that two edits claim are an overlap naming both', () => {
    const found = failure('a\nb\nc\nd\n', lines(1, 3, 'X'), lines(3, 4, 'Y'))
    expect(found).toMatchObject({ code: 'overlap', item: 1, data: { items: [0, 1] } })
    expect(found.message).toContain('lines 1 to 3, and lines 3 to 4')
  })

  test('that only touch are no overlap', () => {
    expect(editedAfterRead('a\nb\nc\n', lines(1, 2, 'X'), lines(3, 3, 'Y'), insert(2, 'between'))).toBe(
      'X\nbetween\nY\n',
    )
  })
})

describe('insert', () => {
  test.each([
    ['at the top', 'a\nb\n', insert(0, 'x'), 'x\na\nb\n'],
    ['at the top, after a byte-order mark', '\ufeffa\n', insert(0, 'x'), '\ufeffx\na\n'],
    ['in the middle', 'a\nb\n', insert(1, 'x\ny\n'), 'a\nx\ny\nb\n'],
    ['at the end', 'a\nb\n', insert(2, 'x'), 'a\nb\nx\n'],
    ['at an unterminated end', 'one\ntwo', insert(2, 'tail'), 'one\ntwo\ntail'],
    ['into an empty file', '', insert(0, 'x'), 'x\n'],
    ['into a file of a byte-order mark alone', '\ufeff', insert(0, 'x'), '\ufeffx\n'],
    ['with the ending of the line above', 'a\r\nb\n', insert(1, 'x'), 'a\r\nx\r\nb\n'],
    ['into CRLF', 'one\r\ntwo\r\nthree', insert(1, 'a\nb'), 'one\r\na\r\nb\r\ntwo\r\nthree'],
  ])('%s', (_name, before, edit, expected) => {
    expect(editedAfterRead(before, edit)).toBe(expected)
  })

  test('keeps the order of the batch at one point', () => {
    expect(editedAfterRead('a\nb\n', insert(1, 'first'), insert(1, 'second'), lines(2, null, 'third'))).toBe(
      'a\nfirst\nsecond\nthird\nb\n',
    )
  })

  test('goes before what replaces the line below and after what replaces the line above', () => {
    expect(editedAfterRead('a\nb\n', lines(2, 2, 'B'), lines(1, 1, 'A'), insert(1, 'x'))).toBe('A\nx\nB\n')
  })

  test('of nothing is no-change', () => {
    expect(failure('a\n', insert(1, '')).code).toBe('no-change')
    expect(failure('a\n', lines(1, null, '')).code).toBe('no-change')
  })

  test('stays a line of its own where another edit takes the newline before it', () => {
    expect(editedAfterRead('\na', replace('\n', 'x', { wholeLines: true }), insert(1, 'y'))).toBe('x\ny\na')
    expect(editedAfterRead('a\nb\n', replace('a\n', ''), insert(1, 'y'))).toBe('y\nb\n')
  })

  test('inside replaced lines is an overlap', () => {
    expect(failure('a\nb\nc\n', lines(1, 3, 'X'), insert(2, 'y')).code).toBe('overlap')
  })
})

describe('append', () => {
  test.each([
    ['to terminated lines', 'a\n', append('b\n'), 'a\nb\n'],
    ['without a final newline of its own', 'l1\n', append('l2'), 'l1\nl2'],
    ['to an unterminated line', 'red\nblue', append('green\n'), 'red\nblue\ngreen\n'],
    ['to an unterminated line of a CRLF file', 'a\r\nb', append('c\nd'), 'a\r\nb\r\nc\r\nd'],
    ['to an empty file', '', append('x\n'), 'x\n'],
    ['to a byte-order mark alone', '\ufeff', append('z\n'), '\ufeffz\n'],
    ['with CRLF spelled out', 'a\r\n', append('c\r\nd\r\n'), 'a\r\nc\r\nd\r\n'],
  ])('%s', (_name, before, edit, expected) => {
    expect(edited(before, [edit])).toBe(expected)
  })

  test('of several texts keeps each on its own lines', () => {
    expect(edited('a', [append('b'), append('c\n'), append('d')])).toBe('a\nb\nc\nd')
    expect(edited('a\n', [append('b'), append('c')])).toBe('a\nb\nc')
    expect(edited('', [append('b'), append('c')])).toBe('b\nc')
  })

  test('follows a replaced last line', () => {
    expect(editedAfterRead('a\nb', lines(2, 2, 'B'), append('c'))).toBe('a\nB\nc')
    expect(editedAfterRead('a\nb', lines(2, 2, 'B\n'), append('c'))).toBe('a\nB\nc')
    expect(editedAfterRead('a\nb', lines(2, 2, null), append('c'))).toBe('a\nc')
  })

  test('of nothing is no-change', () => {
    expect(refused('a', [append('')]).code).toBe('no-change')
  })
})

describe('the lines reported', () => {
  test.each([
    ['a\nb\nc\n', [lines(2, 2, 'x\ny')], [{ oldLines: { from: 2, to: 2 }, newLines: { from: 2, to: 3 } }]],
    ['a\nb\nc\n', [lines(2, 3, null)], [{ oldLines: { from: 2, to: 3 } }]],
    ['a\nb\n', [insert(2, 'x\ny')], [{ newLines: { from: 3, to: 4 } }]],
    [
      'a\nb',
      [append('c'), append('d')],
      [{ newLines: { from: 3, to: 3 } }, { newLines: { from: 4, to: 4 } }],
    ],
    [
      'a\nb\n',
      [append('c'), append('d')],
      [{ newLines: { from: 3, to: 3 } }, { newLines: { from: 4, to: 4 } }],
    ],
    [
      'a\nb\nc\nd\n',
      [lines(1, 1, null), lines(3, 3, 'x\ny\nz'), insert(4, 'e')],
      [
        { oldLines: { from: 1, to: 1 } },
        { oldLines: { from: 3, to: 3 }, newLines: { from: 2, to: 4 } },
        { newLines: { from: 6, to: 6 } },
      ],
    ],
    // The rest of a line that was cut in two, a line joined to the one before, and one kept apart by an insertion.
    ['\n// b', [replace('\n/', '\r\n')], [{ oldLines: { from: 1, to: 2 }, newLines: { from: 1, to: 2 } }]],
    ['a\nb\nc\n', [replace('a\n', 'x')], [{ oldLines: { from: 1, to: 2 }, newLines: { from: 1, to: 1 } }]],
    [
      '\na',
      [replace('\n', 'x', { wholeLines: true }), insert(1, 'y')],
      [{ oldLines: { from: 1, to: 1 }, newLines: { from: 1, to: 1 } }, { newLines: { from: 2, to: 2 } }],
    ],
  ])('of edits of %j are those of the file before and after: %j', (before, edits, expected) => {
    const reads = [{ path: 'a.txt', blob: blobOf(before) }]
    const results = resultsOf(submit({ 'a.txt': before }, edits, { reads }))
    expect(
      results.map(({ oldLines, newLines }) => ({
        ...(oldLines && { oldLines }),
        ...(newLines && { newLines }),
      })),
    ).toEqual(expected)
  })
})

describe('lines past the end', () => {
  const clamped = (from: number, to: number | null, content: string | null): Draft => ({
    ...(lines(from, to, content) as Extract<Draft, { op: 'lines' }>),
    pastEnd: 'clamp',
  })

  test.each<[string, string, Draft, string]>([
    ['up to the last line', 'a\nb\nc\n', clamped(2, 99, 'X\n'), 'a\nX\n'],
    ['inserted at the end', 'a\nb\n', clamped(99, null, 'X\n'), 'a\nb\nX\n'],
    ['replaced behind the end', 'a\nb\n', clamped(10, 12, 'X\n'), 'a\nb\nX\n'],
    ['deleted up to the last line', 'a\nb\nc\n', clamped(2, 99, null), 'a\n'],
    ['behind an unterminated line', 'a\nb', clamped(9, null, 'X\n'), 'a\nb\nX\n'],
    ['of an empty file', '', clamped(5, 7, 'X\n'), 'X\n'],
    ['within the file', 'a\nb\n', clamped(1, 1, 'X\n'), 'X\nb\n'],
  ])('are clamped where the dialect says so: %s', (_, before, edit, after) => {
    expect(editedAfterRead(before, edit)).toBe(after)
  })

  test('are refused where it does not, and never deleted', () => {
    expect(failure('a\n', lines(1, 9, 'X')).code).toBe('out-of-range')
    expect(failure('a\n', clamped(5, 9, null)).code).toBe('out-of-range')
  })

  test('still need the last line to have been read', () => {
    const reads = [{ path: 'a.txt', blob: blobOf('a\nb\nc\n'), lines: [{ from: 1, to: 2 }] }]
    expect(refused('a\nb\nc\n', [clamped(2, 99, 'X')], { reads })).toMatchObject({
      code: 'not-read',
      data: { line: 3 },
    })
  })
})
