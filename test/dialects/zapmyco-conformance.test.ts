import { describe, expect, test } from 'vitest'
import { callsOf, conformanceCases, type Files, filesOf, isAllowed, outcomeOf, submit } from './in-memory.ts'

/** Cases that are not played here, each with its reason. */
const notPlayed: Readonly<Record<string, string>> = {
  'zg-stale': 'a sequence with a foreign write between two calls: needs a session',
}

describe('zapmyco conformance cases', () => {
  const cases = conformanceCases('zapmyco-line-range')

  test('every case is played or has a reason why not', () => {
    const missing = cases.filter((row) => row.batch === undefined).map(({ id }) => id)
    expect(missing).toEqual(Object.keys(notPlayed))
  })

  test.each(cases.filter((row) => row.batch !== undefined))('$id', (row) => {
    const ending = submit(row.batch, filesOf(row))
    expect(isAllowed(row, ending), JSON.stringify(outcomeOf(ending))).toBe(true)
  })
})

const path = 't.txt'

function edit(file: string, input: Readonly<Record<string, unknown>>): unknown {
  const files: Files = { [path]: file }
  const ending = submit(
    callsOf('zapmyco', files, [{ tool: 'file_edit', input: { file_path: path, ...input } }]),
    files,
  )
  return ending.kind === 'files' ? ending.files[path] : ending.failures[0]?.code
}

/** Lines of a file, each with an LF. */
const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')

describe("zapmyco's own line-range tests", () => {
  const range = (from: number, to: number, expected: string, content: string) => ({
    start_line: from,
    end_line: to,
    expected,
    new_content: content,
  })

  test.each([
    [
      'three lines become one',
      lines('line_a', 'line_b', 'line_c', 'line_d', 'line_e'),
      range(2, 4, 'line_b\nline_c\nline_d', 'line_X'),
      lines('line_a', 'line_X', 'line_e'),
    ],
    [
      'the first lines',
      lines('row1_cnt', 'row2_cnt', 'row3_cnt', 'row4_cnt'),
      range(1, 3, 'row1_cnt\nrow2_cnt\nrow3_cnt', 'new_row1'),
      lines('new_row1', 'row4_cnt'),
    ],
    [
      'the last lines',
      lines('rowA_cnt', 'rowB_cnt', 'rowC_cnt', 'rowD_cnt'),
      range(2, 4, 'rowB_cnt\nrowC_cnt\nrowD_cnt', 'last_row'),
      lines('rowA_cnt', 'last_row'),
    ],
    [
      'CRLF stays',
      'aaa\r\nbbb\r\nccc\r\nddd\r\n',
      range(2, 4, 'bbb\nccc\nddd', 'XXX\nYYY'),
      'aaa\r\nXXX\r\nYYY\r\n',
    ],
    [
      'CRLF in the new content is one ending',
      'aaa\r\nbbb\r\nccc\r\nddd\r\n',
      range(2, 4, 'bbb\nccc\nddd', 'XXX\r\nYYY\r\n'),
      'aaa\r\nXXX\r\nYYY\r\n',
    ],
    [
      'the byte-order mark stays',
      `\ufeff${lines('aaa', 'bbb', 'ccc', 'ddd')}`,
      range(2, 4, 'bbb\nccc\nddd', 'BBB\nCCC'),
      `\ufeff${lines('aaa', 'BBB', 'CCC')}`,
    ],
    ['no content deletes', lines('aaa', 'bbb', 'ccc', 'ddd'), range(1, 3, 'aaa\nbbb\nccc', ''), lines('ddd')],
    [
      'one newline is one blank line',
      lines('aaa', 'bbb', 'ccc', 'ddd'),
      range(1, 3, 'aaa\nbbb\nccc', '\n'),
      lines('', 'ddd'),
    ],
    ['end before start', lines('aaa', 'bbb', 'ccc'), range(3, 2, 'aaa\nbbb\nccc', 'x'), 'out-of-range'],
    ['end past the file', lines('aaa', 'bbb'), range(1, 10, 'aaa\nbbb\nccc', 'x'), 'out-of-range'],
    ['an empty file has no line', '', range(1, 1, 'aaa\nbbb\nccc', 'x'), 'out-of-range'],
  ])('%s', (_, file, input, expected) => {
    expect(edit(file, input)).toBe(expected)
  })

  test('a missing final newline is not added to', () => {
    expect(edit('aaa\nbbb\nccc', range(1, 3, 'aaa\nbbb\nccc', 'X'))).toBe('X')
  })

  test('mixed line endings outside the range stay', () => {
    expect(edit('p\r\nq\naaa\nbbb\nccc\n', range(3, 5, 'aaa\nbbb\nccc', 'X'))).toBe('p\r\nq\nX\n')
  })
})

describe('the content rules', () => {
  const covers = (expected: string, actual: string): boolean => {
    const total = actual.split('\n').length
    const input = { start_line: 1, end_line: total, expected, new_content: 'replaced' }
    return edit(`${actual}\n`, input) === 'replaced\n'
  }

  test.each([
    ['the same lines', 'let x = 1;\nlet y = 2;\nlet z = 3;', 'let x = 1;\nlet y = 2;\nlet z = 3;', true],
    ['another indentation', '  let x;\n  let y;\n  let z;', '    let x;\n    let y;\n    let z;', true],
    ['one line differs', 'let x\ny = 2\nlet z', 'let x\ny = 999\nlet z', false],
    ['other lines altogether', 'let x\nlet y\nlet z', 'fn foo() {\n  bar()\n}', false],
    ['two lines', 'let x = 1;\nlet y = 2;', 'let x = 1;\nlet y = 2;', false],
    ['two lines and a blank one', 'let x = 1;\n\nlet y = 2;', 'let x = 1;\n\nlet y = 2;', false],
    ['three lines with a short one', 'let x\n}\nlet y', 'let x\n}\nlet y', false],
    ['four lines with a short one', 'let x\n}\nlet y\nlet z', 'let x\n}\nlet y\nlet z', true],
    ['a line of the range left out', 'let x\nlet y\nreturn', 'let x\nlet y\n// debug\nreturn', true],
    ['another order', 'let y\nlet z\nlet x', 'let x\nlet y\nlet z', true],
    ['four equal lines that stand there four times', '}\n}\n}\n}', '}\n}\n}\n}', true],
    ['four equal lines that stand there once', '}\n}\n}\n}', 'if (a) {\n  b();\n}\nfoo();', false],
    ['one line quoted three times', 'let b;\nlet b;\nlet b;', 'let b;', false],
    ['nothing', '', 'let x\nlet y\nlet z', false],
    ['blanks at the ends of lines', 'let x  \nlet y\t\nlet z', 'let x\nlet y  \nlet z', true],
    [
      'typographic quotes in the file',
      "say('a')\nsay('b')\nsay(\"c\")",
      'say(‘a’)\nsay(’b’)\nsay(“c”)',
      true,
    ],
    ['letters of two bytes are short', 'é\nlet x\nlet y', 'é\nlet x\nlet y', false],
    ['letters of three bytes are not', '中\nlet x\nlet y', '中\nlet x\nlet y', true],
  ])('%s', (_, expected, actual, accepted) => {
    expect(covers(expected, actual)).toBe(accepted)
  })

  const seven = lines(
    'let a = 1;',
    'let b = 2;',
    'let c = 3;',
    'let d = 4;',
    'let e = 5;',
    'let f = 6;',
    'let g = 7;',
  )

  const refusedEdit = (input: Readonly<Record<string, unknown>>) => {
    const files: Files = { [path]: seven }
    const call = { tool: 'file_edit', input: { file_path: path, ...input } }
    return submit(callsOf('zapmyco', files, [call]), files)
  }

  test.each([
    ['insert', 4, 4, 'let b = 2;\nlet c = 3;\nlet d = 4;', 'let c = 3;\nlet ins = 9;\nlet d = 4;'],
    ['deletion', 5, 6, 'let e = 5;\nlet f = 6;\nlet g = 7;', 'let g = 7;'],
  ])(
    'an %s that quotes lines beside its range is refused, and told the rule: it would leave them twice',
    (_, ...row) => {
      const [from, to, expected, content] = row
      const input = { start_line: from, end_line: to, expected, new_content: content }
      expect(refusedEdit(input)).toMatchObject({
        kind: 'refused',
        failures: [
          {
            code: 'no-match',
            data: { missing: expect.any(Array) },
            hint: expect.stringContaining(`compared with lines ${from} to ${to} only`),
          },
        ],
      })
    },
  )

  test('a replacement of three lines, one of them short, is refused, and told the rule', () => {
    const input = { start_line: 1, end_line: 3, expected: 'let a = 1;\nlet b = 2;\n}', new_content: 'x' }
    expect(refusedEdit(input)).toMatchObject({
      failures: [{ code: 'weak-evidence', message: expect.stringContaining('short-line rule') }],
    })
  })

  test('the same edits with the range widened to what is quoted are taken', () => {
    const insert = { start_line: 2, end_line: 4, expected: 'let b = 2;\nlet c = 3;\nlet d = 4;' }
    const inserted = edit(seven, {
      ...insert,
      new_content: 'let b = 2;\nlet c = 3;\nlet ins = 9;\nlet d = 4;',
    })
    expect(inserted).toBe(seven.split('let d').join('let ins = 9;\nlet d'))
    const remove = {
      start_line: 5,
      end_line: 7,
      expected: 'let e = 5;\nlet f = 6;\nlet g = 7;',
      new_content: 'let g = 7;',
    }
    expect(edit(seven, remove)).toBe(
      lines('let a = 1;', 'let b = 2;', 'let c = 3;', 'let d = 4;', 'let g = 7;'),
    )
  })
})

describe('the edges of what zapmyco edits', () => {
  const three = 'aaa\nbbb\nccc'
  const range = { start_line: 1, end_line: 3, expected: three, new_content: 'x' }
  const append = { mode: 'append', content: 'x\n' }
  const codeOf = (files: Files, input: Readonly<Record<string, unknown>>) => {
    const ending = submit(callsOf('zapmyco', files, [{ tool: 'file_edit', input }]), files)
    return ending.kind === 'refused' ? ending.failures[0]?.code : 'taken'
  }

  test.each([
    ['lines of a missing file', {}, { ...range, file_path: path }, 'not-found'],
    ['an append to a missing file', {}, { ...append, file_path: path }, 'not-found'],
    ['lines of a directory', { 'd/a': 'a\n' }, { ...range, file_path: 'd' }, 'is-directory'],
    ['an append to a directory', { 'd/a': 'a\n' }, { ...append, file_path: 'd' }, 'is-directory'],
    ['lines of a byte-order mark', { [path]: '\ufeff' }, { ...range, file_path: path }, 'out-of-range'],
    ['lines from 0', { [path]: three }, { ...range, start_line: 0, file_path: path }, 'out-of-range'],
    [
      'lines of a file with a NUL beyond 8 KiB',
      { [path]: `${three}\n${'x'.repeat(9000)}\0\n` },
      { ...range, file_path: path },
      'binary',
    ],
    ['lines of a notebook', { 'n.ipynb': three }, { ...range, file_path: 'n.ipynb' }, 'invalid-batch'],
    ['an append to a notebook', { 'n.ipynb': three }, { ...append, file_path: 'n.ipynb' }, 'invalid-batch'],
  ])('%s: %s', (_, files, input, code) => {
    expect(codeOf(files, input)).toBe(code)
  })
})

describe("zapmyco's own append tests", () => {
  test.each([
    ['to terminated lines', 'line1\nline2\n', 'line3\nline4\n', 'line1\nline2\nline3\nline4\n'],
    ['to an empty file', '', 'new content\n', 'new content\n'],
    ['to an unterminated line', 'line1', 'line2\n', 'line1\nline2\n'],
    ['without a final newline', 'a\n', 'b', 'a\nb'],
    ['to a lone byte-order mark', '\ufeff', 'z\n', '\ufeffz\n'],
    ['to CRLF lines', 'a\r\nb\r\n', 'c\nd\n', 'a\r\nb\r\nc\r\nd\r\n'],
    ['CRLF to CRLF lines, with no CR doubled', 'a\r\nb\r\n', 'c\r\nd\r\n', 'a\r\nb\r\nc\r\nd\r\n'],
    ['nothing', 'a\n', '', 'no-change'],
    ['to a binary file', '\0\u0001\u0002', 'new', 'binary'],
  ])('%s', (_, file, content, expected) => {
    expect(edit(file, { mode: 'append', content })).toBe(expected)
  })
})

describe("zapmyco's own tests of the edits list", () => {
  const item = (from: number, to: number, expected: string, content: string) => ({
    start_line: from,
    end_line: to,
    expected,
    new_content: content,
  })

  test.each([
    [
      'one of two does not fit: nothing is written',
      lines('line_aaa', 'line_bbb', 'line_ccc', 'line_ddd', 'line_eee', 'line_fff'),
      [item(2, 4, 'line_bbb\nline_ccc\nline_ddd', 'X'), item(5, 6, 'line_eee\nline_fff\nline_aaa', 'Y')],
      /^[a-z-]+$/,
    ],
    [
      'given bottom first',
      lines('row_aaa', 'row_bbb', 'row_ccc', 'row_ddd', 'row_eee', 'row_fff', 'row_ggg'),
      [item(5, 7, 'row_eee\nrow_fff\nrow_ggg', 'EE\nFF'), item(2, 4, 'row_bbb\nrow_ccc\nrow_ddd', 'BB\nCC')],
      /^row_aaa\nBB\nCC\nEE\nFF\n$/,
    ],
    [
      'overlapping',
      lines('line_a', 'line_b', 'line_c', 'line_d'),
      [item(1, 3, 'line_a\nline_b\nline_c', 'X'), item(2, 4, 'line_b\nline_c\nline_d', 'Y')],
      /^overlap$/,
    ],
    [
      'touching',
      lines('line_1', 'line_2', 'line_3', 'line_4', 'line_5', 'line_6'),
      [item(4, 6, 'line_4\nline_5\nline_6', 'd\ne\nf'), item(1, 3, 'line_1\nline_2\nline_3', 'a\nb\nc')],
      /^a\nb\nc\nd\ne\nf\n$/,
    ],
  ])('%s', (_, file, edits, expected) => {
    expect(edit(file, { edits })).toMatch(expected)
  })

  test('several calls for one file refer to it as it was', () => {
    const block = 'alpha();\nbeta();\ngamma();\n'
    const files: Files = { [path]: block.repeat(4) }
    const quoted = 'alpha();\nbeta();\ngamma();'
    const calls = [
      { tool: 'file_edit', input: { file_path: path, ...item(1, 3, quoted, '1\n2\n3\n4\n5\n6') } },
      { tool: 'file_edit', input: { file_path: path, ...item(10, 12, quoted, 'last') } },
    ]
    const ending = submit(callsOf('zapmyco', files, calls), files)
    expect(outcomeOf(ending)).toEqual({ [path]: `1\n2\n3\n4\n5\n6\n${block.repeat(2)}last\n` })
  })
})

describe("zapmyco's own text-edit tests", () => {
  test.each([
    ['a part of a line', 'Hello, world!', { old_string: 'world', new_string: 'Rust' }, 'Hello, Rust!'],
    [
      'a line',
      'line1\nline2\nline3\n',
      { old_string: 'line2', new_string: 'modified' },
      'line1\nmodified\nline3\n',
    ],
    [
      'every place',
      'foo foo foo',
      { old_string: 'foo', new_string: 'bar', replace_all: true },
      'bar bar bar',
    ],
    ['Chinese text', '你好，世界！', { old_string: '世界', new_string: 'Rust' }, '你好，Rust！'],
    [
      'CRLF lines',
      'line1\r\nline2\r\nline3\r\n',
      { old_string: 'line2', new_string: 'modified' },
      'line1\r\nmodified\r\nline3\r\n',
    ],
    [
      'a byte-order mark',
      '\ufeffhello\nworld\n',
      { old_string: 'hello', new_string: 'hi' },
      '\ufeffhi\nworld\n',
    ],
    [
      'text that holds the old one',
      'aaa bbb ccc',
      { old_string: 'bbb', new_string: 'bbb bbb' },
      'aaa bbb bbb ccc',
    ],
    ['not found', 'hello', { old_string: 'nope', new_string: 'x' }, 'no-match'],
    ['found three times', 'foo foo foo', { old_string: 'foo', new_string: 'x' }, 'ambiguous-match'],
    ['the same text', 'foo', { old_string: 'foo', new_string: 'foo' }, 'no-change'],
  ])('%s', (_, file, input, expected) => {
    expect(edit(file, input)).toBe(expected)
  })

  test('typographic quotes are found by straight ones, and the new text is written as it came', () => {
    const input = { old_string: "println!('hello')", new_string: "println!('hi')" }
    expect(edit('println!(‘hello’);\n', input)).toBe("println!('hi');\n")
  })

  test.each([
    ['not UTF-8', Buffer.from([0xc3, 0x28]), 'not-utf8'],
    ['not UTF-8 elsewhere', Buffer.from('foo\n\xe9\n', 'latin1'), 'not-utf8'],
    ['binary', Buffer.from([0x66, 0x6f, 0x6f, 0, 1]), 'binary'],
  ])('a file that is %s is refused', (_, bytes, code) => {
    const files: Files = { [path]: bytes }
    const input = { file_path: path, old_string: 'foo', new_string: 'x' }
    const ending = submit(callsOf('zapmyco', files, [{ tool: 'file_edit', input }]), files)
    expect(ending).toMatchObject({ kind: 'refused', failures: [{ code }] })
  })

  test('an existing file that was not read is refused, a new one is not', () => {
    const batch = callsOf('zapmyco', {}, [{ tool: 'file_write', input: { file_path: path, content: 'x\n' } }])
    expect(submit(batch, { [path]: 'old\n' })).toMatchObject({
      kind: 'refused',
      failures: [{ code: 'not-read' }],
    })
    expect(submit(batch, {})).toEqual({ kind: 'files', files: { [path]: 'x\n' } })
  })
})
