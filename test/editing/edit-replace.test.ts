import { describe, expect, test } from 'vitest'
import { blobOf, edited, refused, remarksOf, replace, resultsOf, submit } from './submit.ts'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('an exact replacement', () => {
  test.each([
    ['in the middle of a line', 'say foo now\n', 'foo', 'bar', 'say bar now\n'],
    ['at the beginning', 'foo now\n', 'foo', 'bar', 'bar now\n'],
    ['at an unterminated end', 'a\nfoo', 'foo', 'bar', 'a\nbar'],
    ['that deletes a line', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
    ['that deletes everything', 'a\n', 'a\n', '', ''],
    ['that adds a final newline', 'a\nb', 'b', 'b\n', 'a\nb\n'],
    ['that joins lines', 'a\nb\n', 'a\nb', 'ab', 'ab\n'],
    ['with dollars', 'cost: X\n', 'X', '$$20 $& $1', 'cost: $$20 $& $1\n'],
    ['with a text that holds the old one', 'aaa bbb ccc', 'bbb', 'bbb bbb', 'aaa bbb bbb ccc'],
    ['of a regular expression', 'a.c abc\n', 'a.c', 'x', 'x abc\n'],
    ['of a joined emoji', 'a 👩‍👩‍👧 b\n', '👩‍👩‍👧', 'x', 'a x b\n'],
    ['beside a byte-order mark', '\ufeffusing A;\n', 'using A;', 'using B;', '\ufeffusing B;\n'],
  ])('works %s', (_name, before, old, fresh, after) => {
    expect(edited(before, [replace(old, fresh)])).toBe(after)
  })

  test('leaves the bytes of a Latin-1 file beside it alone', () => {
    const before = latin1('n = 1 // th\xe9\nx\n')
    expect(edited(before, [replace('n = 1', 'n = 2')])).toBe('latin1:n = 2 // th\xe9\nx\n')
  })

  test('reports where the text stood and stands, by lines', () => {
    const results = resultsOf(submit({ 'a.txt': 'a\nb\nc\nd\n' }, [replace('a', 'a\na2'), replace('d', 'D')]))
    expect(results).toMatchObject([
      { item: 0, oldLines: { from: 1, to: 1 }, newLines: { from: 1, to: 2 }, tier: 'exact' },
      { item: 1, oldLines: { from: 4, to: 4 }, newLines: { from: 5, to: 5 }, carried: false },
    ])
  })
})

describe('one candidate', () => {
  test('is required: all lines are named', () => {
    const failure = refused('x = 1\ny\nx = 1\n', [replace('x = 1', 'x = 2')])
    expect(failure).toMatchObject({
      code: 'ambiguous-match',
      data: { lines: [1, 3], more: false, tier: 'exact' },
    })
  })

  test('is not what overlapping occurrences are', () => {
    expect(refused('aaa', [replace('aa', 'b')]).code).toBe('ambiguous-match')
  })

  test('names only so many lines of very many', () => {
    const { data } = refused('x\n'.repeat(500), [replace('x', 'y')])
    expect(data['lines']).toHaveLength(20)
    expect(data['more']).toBe(true)
  })

  test('at a stricter tier wins over candidates at a more lenient one', () => {
    expect(edited('key \nx\nkey\n', [replace('key\n', 'KEY\n', { wholeLines: true })])).toBe('key \nx\nKEY\n')
  })

  test('at the line asked for is enough', () => {
    expect(edited('t()\na\nt()\n', [replace('t()', 'u()', { startLine: 3 })])).toBe('t()\na\nu()\n')
  })

  test('must begin on the line asked for', () => {
    expect(refused('a\nb\n', [replace('b', 'c', { startLine: 1 })]).code).toBe('no-match')
    expect(refused('a\nb\n', [replace('b', 'c', { startLine: 9 })]).code).toBe('no-match')
  })
})

describe('replacing all', () => {
  test('goes from left to right without overlaps', () => {
    expect(edited('aaaaa', [replace('aa', 'b', { all: true })])).toBe('bba')
  })

  test('gives each line break its own ending', () => {
    const after = edited('x\r\ny\nx\ny\n', [
      replace('x\n', 'z\n', { all: true }),
      replace('y', 'w', { all: true }),
    ])
    expect(after).toBe('x\r\nw\nz\nw\n')
  })

  test('works for very many places', () => {
    const count = 150_000
    expect(edited('ab'.repeat(count), [replace('a', 'xy', { all: true })])).toBe('xyb'.repeat(count))
  })
})

describe('bounds', () => {
  test('are set to the places that one edit replaces', () => {
    expect(
      refused('a'.repeat(1_000_002), [replace('a', 'b', { all: true })], { fileMaxBytes: 1e7 }).code,
    ).toBe('too-large')
  })
})

describe('line endings', () => {
  test.each([
    ['LF text finds CRLF', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\nc\r\n', 'eol'],
    ['CRLF text finds LF', 'a\nb\nc\n', 'a\r\nb', 'x\r\ny', 'x\ny\nc\n', 'eol'],
    ['CRLF text finds CRLF', 'a\r\nb\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\n', 'exact'],
    ['new lines take the file\u2019s ending', 'a\r\nb\r\n', 'b', 'b1\nb2', 'a\r\nb1\r\nb2\r\n', 'exact'],
    ['a spelled-out CRLF stays at the exact tier', 'a\nb\n', 'b', 'b1\r\nb2', 'a\nb1\r\nb2\n', 'exact'],
    ['the last line takes its neighbour\u2019s ending', 'a\r\nb', 'b', 'b\n', 'a\r\nb\r\n', 'exact'],
    ['mixed endings are kept one by one', 'a\r\nb\nc\r\n', 'a\nb\nc\n', 'A\nB\nC\n', 'A\r\nB\nC\r\n', 'eol'],
    [
      'further lines take the last replaced ending',
      'a\nb\r\n',
      'a\nb\n',
      'A\nB\nC\nD\n',
      'A\nB\r\nC\r\nD\r\n',
      'eol',
    ],
    [
      'repeated lines keep their own endings',
      'a\r\nb\nc\r\n',
      'a\nb\nc',
      'a\nN\nb\nc',
      'a\r\nN\r\nb\nc\r\n',
      'eol',
    ],
    ['a lone CR is text among LF lines', 'a\rb\nc\n', 'a\rb', 'x', 'x\nc\n', 'exact'],
    ['a file of lone CRs has CR lines', 'a\rb\rc\r', 'a\nb\n', 'x\ny\nz\n', 'x\ry\rz\rc\r', 'eol'],
    [
      'a search that begins with a newline takes the whole CRLF',
      'a\r\nb\r\n',
      '\nb',
      '\nB',
      'a\r\nB\r\n',
      'eol',
    ],
    ['CR CR LF keeps the first CR as text', 'a\r\r\nb\n', 'a\r\nb', 'x\nb', 'a\r\r\nb\n', 'none'],
  ])('%s', (_name, before, old, fresh, after, tier) => {
    const resolution = submit({ 'a.txt': before }, [replace(old, fresh)])
    if (tier === 'none') return expect(resolution.kind).toBe('refused')
    expect(edited(before, [replace(old, fresh)])).toBe(after)
    expect(resultsOf(resolution)[0]?.tier).toBe(tier)
  })

  test('one CRLF in a file of LFs stays the only one', () => {
    expect(edited('a\nb\r\nc\nd\n', [replace('c', 'C1\nC2')])).toBe('a\nb\r\nC1\nC2\nd\n')
  })

  test.each([
    ['a\nb', 'b\n', 'B\n', 'a\nB'],
    ['a\nb', 'a\nb\n', 'A\nB\nC\n', 'A\nB\nC'],
    ['a\nb', 'b\n', '', 'a\n'],
  ])('the end of %j may stand for the newline that %j ends with', (before, old, fresh, after) => {
    expect(edited(before, [replace(old, fresh)])).toBe(after)
    expect(refused(before, [replace(old, fresh)], { maxTier: 'exact' }).code).toBe('no-match')
  })
})

describe('trailing blanks', () => {
  test.each([
    ['of the file are ignored', 'a  \nb\n', 'a\nb\n', 'x\ny\n', 'x\ny\n'],
    ['of the request are ignored', 'a\nb\n', 'a \t\nb\n', 'x\ny\n', 'x\ny\n'],
    ['of a repeated line stay', 'a  \nb\nc\n', 'a\nb\n', 'a\nB\n', 'a  \nB\nc\n'],
    ['after the match stay', 'a \nb  \n', 'a\nb', 'x\ny', 'x\ny  \n'],
    ['of the last line go if the request reaches its end', 'a \nb  \n', 'a\nb\n', 'x\ny\n', 'x\ny\n'],
    ['go with a request that has some at its end', 'a\nb \nc\n', 'b  ', 'x', 'a\nx\nc\n'],
    ['of blank lines are ignored', 'a\n   \nb\n', 'a\n\nb\n', 'a\nb\n', 'a\nb\n'],
  ])('%s', (_name, before, old, fresh, after) => {
    expect(edited(before, [replace(old, fresh)])).toBe(after)
    expect(resultsOf(submit({ 'a.txt': before }, [replace(old, fresh)]))[0]?.tier).toBe('trailing-space')
    expect(refused(before, [replace(old, fresh)], { maxTier: 'eol' }).code).toBe('no-match')
  })

  test('at the end of the request are no text of the next line', () => {
    expect(refused('a \nfoo\n', [replace('a\n  ', 'x')]).code).toBe('no-match')
    expect(refused('a \n', [replace('a\n  ', 'x')]).code).toBe('no-match')
    expect(edited('a \n \nfoo\n', [replace('a\n  ', 'x')])).toBe('x\nfoo\n')
  })

  test('of a whole line are ignored without a newline in the request', () => {
    expect(edited('one\ntwo \nthree\n', [replace('two', '2', { wholeLines: true })])).toBe('one\n2\nthree\n')
  })

  test('make two equal lines ambiguous', () => {
    const failure = refused('x  \na\nx \na\n', [replace('x\na', 'y')])
    expect(failure).toMatchObject({
      code: 'ambiguous-match',
      data: { lines: [1, 3], tier: 'trailing-space' },
    })
  })
})

describe('look-alike characters', () => {
  test.each([
    ['curly double quotes', 'say “hi” now\n', 'say "hi" now', 'say "ho" now', 'say "ho" now\n'],
    ['curly single quotes', 'don’t\n', "don't", "won't", "won't\n"],
    ['dashes', 'a – b — c − d\n', 'a - b - c - d', 'x', 'x\n'],
    ['a no-break space', 'a\u00a0b\n', 'a b', 'a c', 'a c\n'],
    ['an ideographic space', 'a\u3000b\n', 'a b', 'x', 'x\n'],
    ['curly quotes of the request', 'say "hi"\n', 'say “hi”', 'x', 'x\n'],
  ])(
    '%s are folded for finding, and the new text is written verbatim',
    (_name, before, old, fresh, after) => {
      expect(edited(before, [replace(old, fresh)])).toBe(after)
      expect(refused(before, [replace(old, fresh)], { maxTier: 'trailing-space' }).code).toBe('no-match')
    },
  )

  test('outside the match keep their bytes, and so do repeated lines', () => {
    const before = '“keep”\nsay “hi”\n“keep”\n'
    expect(edited(before, [replace('"keep"\nsay "hi"\n', '"keep"\nsay "ho"\n')])).toBe(
      '“keep”\nsay "ho"\n“keep”\n',
    )
  })

  test('are remarked upon', () => {
    const remarks = remarksOf(submit({ 'a.txt': 'say “hi”\n' }, [replace('say "hi"', 'say "ho"')]))
    expect(remarks.map(({ kind }) => kind)).toEqual(['tier', 'quote-class'])
  })

  test('never make composed and decomposed letters the same', () => {
    expect(refused('caf\u00e9\n', [replace('cafe\u0301', 'x')]).code).toBe('no-match')
  })
})

describe('a byte-order mark', () => {
  test.each([
    ['\ufeffa\nb\n', '\ufeffa', '\ufeffA', '\ufeffA\nb\n'],
    ['\ufeffa\nb\n', '\ufeffa\nb', 'A\nb', '\ufeffA\nb\n'],
    ['\ufeffa\r\nb\r\n', '\ufeffa\nb', 'A\nB', '\ufeffA\r\nB\r\n'],
    ['\ufeffa\n', 'a', '\ufeffA', '\ufeffA\n'],
    ['a\nb\n', '\ufeffa', 'A', 'A\nb\n'],
    ['a\nb\ufeffc\n', '\ufeffc', 'x', 'a\nbx\n'],
  ])('of %j is neither lost nor doubled by %j \u2192 %j', (before, old, fresh, after) => {
    expect(edited(before, [replace(old, fresh)])).toBe(after)
  })

  test('is not doubled by new first lines', () => {
    expect(edited('\ufeffa\n', [{ op: 'insert', after: 0, content: '\ufeffx' }])).toBe('\ufeffx\na\n')
  })

  test('alone is no text to replace', () => {
    expect(refused('\ufeffa\n', [replace('\ufeff', '')]).code).toBe('no-match')
  })
})

describe('another indentation', () => {
  const options = { maxTier: 'indent' } as const

  test.each([
    [
      'a prefix is added',
      '    if a\n      b\n',
      'if a\n  b\n',
      'if A\n  b\n  c\n',
      '    if A\n      b\n      c\n',
    ],
    ['a prefix is removed', 'if a\n  b\n', '  if a\n    b\n', '  if A\n\n    c\n', 'if A\n\n  c\n'],
    [
      'spaces become tabs',
      '\tif a\n\t\tb\n',
      '  if a\n    b\n',
      '  if A\n    b\n      c\n',
      '\tif A\n\t\tb\n\t\t\tc\n',
    ],
    [
      'tabs become spaces',
      '    if a\n        b\n',
      '\tif a\n\t\tb\n',
      '\tif A\n\t\tb\n',
      '    if A\n        b\n',
    ],
  ])('is applied to the new text when %s', (_name, before, old, fresh, after) => {
    expect(edited(before, [replace(old, fresh)], options)).toBe(after)
    expect(refused(before, [replace(old, fresh)]).code).toBe('no-match')
  })

  test.each([
    ['not uniform', '  a\n      b\n', 'a\nb\n', 'x\ny\n'],
    ['not possible for the new text', 'a\nb\n', '  a\n  b\n', '  a\nb2\n'],
    ['different in content', '  a\n  b\n', 'a\nc\n', 'x\n'],
  ])('is refused where it is %s', (_name, before, old, fresh) => {
    expect(refused(before, [replace(old, fresh)], options).code).toBe('no-match')
  })

  test('counts candidates too', () => {
    const failure = refused('  a\n  b\n    a\n    b\n', [replace('a\nb\n', 'x\n')], options)
    expect(failure).toMatchObject({ code: 'ambiguous-match', data: { lines: [1, 3], tier: 'indent' } })
  })

  test('is named in the refusal when the cap is stricter', () => {
    const failure = refused('  a\n  b\n', [replace('a\nb\n', 'x\n')])
    expect(failure.data['looser']).toEqual({ tier: 'indent', lines: [1] })
    expect(failure.hint).toContain('tier "indent"')
  })
})

describe('a refusal', () => {
  test('names the nearest place and the first line that differs', () => {
    const before = 'function a() {\n  one()\n  two()\n}\nfunction b() {\n  three()\n}\n'
    const failure = refused(before, [replace('function a() {\n  one()\n  tow()\n}', 'x')])
    expect(failure).toMatchObject({
      code: 'no-match',
      data: { nearest: { line: 1, firstDifferingLine: 3, expected: '  tow()', found: '  two()' } },
    })
    expect(failure.data['blob']).toMatch(/^[0-9a-f]{40}$/)
  })

  test('writes out what cannot be seen', () => {
    const failure = refused('a\u200bb\nnext line\n', [replace('ab\nnext line', 'x')])
    expect(failure.data['nearest']).toMatchObject({
      firstDifferingLine: 1,
      expected: 'ab',
      found: 'a\\u{200B}b',
      difference: 'characters that look alike or cannot be seen',
    })
  })

  test.each([
    ['letter case', 'const Value = 12\n', 'const value = 12'],
    ['indentation', 'if x:\n  return value\n  stop\n', 'if x:\n  return value\n stop'],
    ['blanks within the line', 'let  total = 0\n', 'let total = 0'],
  ])('names a difference in %s', (difference, before, old) => {
    const failure = refused(before, [replace(old, 'x')])
    expect(failure.hint ?? '').toContain(difference)
  })

  test('finds a line with a typing mistake', () => {
    const failure = refused('aaaaaaaa\nconst counter = makeCounter(3)\nbbbbbbb\n', [
      replace('const countre = makeCounter(3)', 'x'),
    ])
    expect(failure.data['nearest']).toMatchObject({ line: 2 })
  })

  test('says that the result stands there already', () => {
    const failure = refused('b\nnew text\n', [replace('old text', 'new text')])
    expect(failure).toMatchObject({ code: 'already-applied', data: { line: 2 } })
  })

  test('does not take part of a word for the result', () => {
    expect(refused('category\n', [replace('dog', 'cat')]).code).toBe('no-match')
  })

  test('says that added lines stand there already', () => {
    const before = 'import a\nimport b\n'
    expect(refused(before, [replace('import a\n', 'import a\nimport b\n')]).code).toBe('already-applied')
    expect(edited(before, [replace('import a\n', 'import a\nimport c\n')])).toBe(
      'import a\nimport c\nimport b\n',
    )
  })

  test.each([
    ['binary', 'a\0b'],
    ['lfs-pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'],
  ])('is %s for a file that takes no text edits', (code, before) => {
    expect(refused(before, [replace('a', 'b')]).code).toBe(code)
  })

  test('is not-utf8 for half of a surrogate pair', () => {
    expect(refused('a\n', [replace('a', '\ud83d')]).code).toBe('not-utf8')
    expect(refused('a\n', [replace('\udc00', 'b')]).code).toBe('not-utf8')
  })

  test('is no-change for old and new text that are the same', () => {
    expect(refused('a\n', [replace('a', 'a')]).code).toBe('no-change')
    expect(refused('a\r\nb\r\n', [replace('a\r\nb', 'a\nb')]).code).toBe('no-change')
  })

  test('is no-match for an empty old text', () => {
    expect(refused('a\n', [replace('', 'b')]).code).toBe('no-match')
  })

  test('is too-large for a file above the limit, and for a result above it', () => {
    expect(refused('abcdef', [replace('a', 'b')], { fileMaxBytes: 3 }).code).toBe('too-large')
    expect(refused('abc', [replace('a', 'bbbb')], { fileMaxBytes: 3 }).code).toBe('too-large')
  })

  test('never takes anchors for a match', () => {
    const before = 'begin\n  a = 1\nend\nkeep\n'
    expect(refused(before, [replace('begin\n  zzz\nend', 'x')]).code).toBe('no-match')
  })
})

describe('whole lines', () => {
  test('do not match inside a line', () => {
    expect(refused('xtwo\ntwox\n', [replace('two', '2', { wholeLines: true })]).code).toBe('no-match')
  })

  test.each([
    ['one\ntwo\n', 'two', '2', 'one\n2\n'],
    ['one\ntwo\n', 'two\n', '2\n', 'one\n2\n'],
    ['one\ntwo', 'two\n', '2\n', 'one\n2'],
    ['\ufeffone\ntwo\n', 'one\n', '1\n', '\ufeff1\ntwo\n'],
    ['one\r\ntwo\r\n', 'two', '2', 'one\r\n2\r\n'],
  ])('in %j are found by %j', (before, old, fresh, after) => {
    expect(edited(before, [replace(old, fresh, { wholeLines: true })])).toBe(after)
  })
})

describe('a replacement of all places', () => {
  test.each([
    ['at any tier', 'a “b”\na "b"\n', replace("a 'b'".replaceAll("'", '"'), 'c', { all: true }), 1],
    ['with line endings of another kind', 'a\r\nb\r\na\r\nb\r\n', replace('a\nb\n', 'c\n', { all: true }), 2],
    ['of text that overlaps itself', 'aaaa', replace('aa', 'b', { all: true }), 2],
    ['so many that they are claimed as one', 'ab'.repeat(100_001), replace('a', 'c', { all: true }), 100_001],
  ])('says how many there were, %s', (_, before, edit, places) => {
    expect(submit({ 'a.txt': before }, [edit])).toMatchObject({ results: [{ places }] })
  })

  test('of one place says nothing of a number', () => {
    const resolution = submit({ 'a.txt': 'a' }, [replace('a', 'b')])
    expect(resolution.kind === 'resolved' && resolution.results[0]).not.toHaveProperty('places')
  })
})

describe('a number of places that is given', () => {
  const before = 'x 1\ny\nx 2\nx 3\n'
  const counted = (old: string, count: number, text = before) =>
    refused(text, [replace(old, 'z', { all: true, count })])

  test('must be that of the places found', () => {
    expect(edited(before, [replace('x', 'z', { all: true, count: 3 })])).toBe('z 1\ny\nz 2\nz 3\n')
    expect(edited('aaaa', [replace('aa', 'b', { all: true, count: 2 })])).toBe('bb')
  })

  test('refuses more places, naming their lines and the number', () => {
    const failure = counted('x', 2)
    expect(failure).toMatchObject({
      code: 'ambiguous-match',
      data: { lines: [1, 3, 4], more: false, count: 3, expectedCount: 2, blob: blobOf(before) },
    })
    expect(failure.message).toContain('3 places, lines 1, 3, 4; 2 are expected')
    const many = counted('x', 2, 'x\n'.repeat(30))
    expect(many.data).toMatchObject({ more: true, count: 30 })
    expect(many.data['lines']).toHaveLength(20)
  })

  test('refuses fewer places', () => {
    expect(counted('y', 2)).toMatchObject({
      code: 'no-match',
      data: { lines: [2], count: 1, expectedCount: 2 },
    })
    const none = counted('q', 2)
    expect(none).toMatchObject({ code: 'no-match', data: { count: 0, expectedCount: 2 } })
    expect(none.message).toContain('2 places are expected')
  })

  test('counts at the strictest tier at which the text stands', () => {
    const mixed = 'a\nb\na\r\nb\r\n'
    expect(refused(mixed, [replace('a\nb', 'c', { all: true, count: 2 })])).toMatchObject({
      code: 'no-match',
      data: { count: 1, tier: 'exact' },
    })
  })
})

describe('what would make more than a file can hold', () => {
  test('is refused before it is made', () => {
    const big = 'b\n'.repeat(500_000)
    const edits = [replace('a\n', big, { all: true })]
    expect(refused('a\n'.repeat(1000), edits, { fileMaxBytes: 1e9 }).code).toBe('too-large')
    const several = Array.from({ length: 3 }, (_, i) => replace(`<${i}>`, 'x'.repeat(400_000)))
    expect(refused('<0><1><2>', several)).toMatchObject({ code: 'too-large', data: { bytes: 1_200_000 } })
  })

  test('by indentation that the file multiplies is no place', () => {
    const deep = `${' '.repeat(1_000_000)}a\n`
    const edits = [replace('\ta\n', '\t'.repeat(100_000), { maxTier: 'indent' })]
    expect(refused(deep, edits, { maxTier: 'indent', fileMaxBytes: 1e9 }).code).toBe('no-match')
  })
})
