import { describe, expect, test } from 'vitest'
import { envelope, unified } from './hunks.ts'
import { blobOf, edited, refused, resultsOf, submit } from './submit.ts'

const numbers = '1\n2\n3\n4\n5\n6\n7\n8\n9\n'

describe('a unified hunk', () => {
  test.each([
    ['stands at its line', numbers, '@4\n 4\n-5\n+five\n 6', numbers.replace('5', 'five')],
    ['is looked for elsewhere', numbers, '@1\n 4\n-5\n+five\n 6', numbers.replace('5', 'five')],
    ['may name a line beyond the file', numbers, '@90\n 4\n-5\n 6', numbers.replace('5\n', '')],
    ['without context stands where its lines do', numbers, '@5\n-5\n+five', numbers.replace('5', 'five')],
    ['may lack leading context', 'a\nb\nc\n', '@2\n-b\n+B\n c', 'a\nB\nc\n'],
    ['may lack trailing context if it removes', numbers, '@4\n 4\n-5\n+five', numbers.replace('5', 'five')],
    ['without a number is looked for', numbers, '@\n 4\n-5\n 6', numbers.replace('5\n', '')],
    ['with a marker-like text is text', 'x\n@@ -1 +1 @@\ny\n', '@1\n x\n-@@ -1 +1 @@\n+z\n y', 'x\nz\ny\n'],
    ['keeps CRLF bytes', 'a\r\nb\r\nc\r\n', '@1\n a\r\n-b\r\n+B\r\n c\r', 'a\r\nB\r\nc\r\n'],
    ['may change the line endings', 'a\r\nb\r\n', '@1\n-a\r\n-b\r\n+a\n+b', 'a\nb\n'],
    ['in LF finds CRLF and takes its ending', 'a\r\nb\r\nc\r\n', '@1\n a\n-b\n+B\n c', 'a\r\nB\r\nc\r\n'],
    ['keeps trailing blanks that it adds', 'a\nz\n', '@1\n a\n+b  \n z', 'a\nb  \nz\n'],
  ])('%s', (_name, before, hunks, after) => {
    expect(edited(before, [unified(hunks)])).toBe(after)
  })

  test('decides by its number among equal places', () => {
    const before = 'x\nv\nx\nv\nx\nv\nx\n'
    expect(edited(before, [unified('@3\n x\n-v\n+W\n x')])).toBe('x\nv\nx\nW\nx\nv\nx\n')
    expect(refused(before, [unified('@2\n x\n-v\n+W\n x')])).toMatchObject({
      code: 'ambiguous-match',
      data: { lines: [1, 3, 5] },
    })
  })

  test('is moved by as much as the hunk before was off', () => {
    const verse = 'man\nhad\nwind\nagain\n'
    const before = `intro\ndrop\nstart\n${verse.repeat(4)}`
    const hunks = unified('@4\n intro\n-drop\n start\n@14\n again\n-man\n+Bob\n had')
    expect(edited(before, [hunks])).toBe(`intro\nstart\n${verse.repeat(2)}Bob\nhad\nwind\nagain\n${verse}`)
  })

  test('stands below the hunk before', () => {
    expect(edited('a\nb\na\nb\n', [unified('@3\n-a\n+A\n@4\n-b\n+B')])).toBe('a\nb\nA\nB\n')
    const failure = refused('a\nb\nc\n', [unified('@3\n-c\n+C\n@1\n-a\n+A')])
    expect(failure.message).toContain('they stand at line 1')
  })

  test.each([
    ['after the line named', 'a\nb\nc\n', '@2\n+x', 'a\nb\nx\nc\n'],
    ['at the top', 'a\n', '@0\n+x', 'x\na\n'],
    ['into an empty file', '', '@0\n+x\n+y', 'x\ny\n'],
    ['at the end', 'a\n', '@1\n+x', 'a\nx\n'],
    ['moved like the hunk before', 'new\na\nb\nc\n', '@1\n-a\n+A\n@2\n+x', 'new\nA\nb\nx\nc\n'],
  ])('with additions alone goes %s', (_name, before, hunks, after) => {
    expect(edited(before, [unified(hunks)])).toBe(after)
  })

  test('with additions alone must name a line of the file', () => {
    expect(refused('a\n', [unified('@4\n+x')]).code).toBe('out-of-range')
    expect(refused('a\n', [unified('@\n+x')]).code).toBe('parse-error')
  })

  test.each([
    ['a\nb\n', '@1\n a\n-b\n+b\n\\', 'a\nb'],
    ['a\nb', '@1\n a\n-b\n\\\n+b', 'a\nb\n'],
    ['a\nb', '@1\n a\n-b\n\\\n+B\n\\', 'a\nB'],
    ['a\nb', '@1\n-a\n+A\n b\n\\', 'A\nb'],
    ['a\nb', '@1\n a\n-b\n\\', 'a\n'],
    ['a\nb', '@1\n a\n-b\n\\\n+b\n+c\n\\', 'a\nb\nc'],
    ['l1\n', '@1\n l1\n+l2\r\n\\', 'l1\nl2\r'],
  ])('takes the end of the file for data: %j with %j', (before, hunks, after) => {
    expect(edited(before, [unified(hunks)])).toBe(after)
  })

  test.each([
    ['a\nb', '@1\n a\n-b\n+B'],
    ['a\nb\n', '@1\n a\n-b\n\\\n+B'],
    ['a\nb\nc\n', '@1\n a\n-b\n\\\n+B'],
  ])('is refused where the end of %j is another than it says', (before, hunks) => {
    expect(refused(before, [unified(hunks)]).code).toBe('no-match')
  })

  test('without context below what it adds belongs at the end of the file', () => {
    expect(edited('a\nb\n', [unified('@1\n a\n b\n+c')])).toBe('a\nb\nc\n')
    const failure = refused('a\nb\nx\n', [unified('@1\n a\n b\n+c')])
    expect(failure.code).toBe('no-match')
    expect(failure.hint).toContain('below')
    expect(refused('a\nb\nc\n', [unified('@1\n a\n b\n+c')]).code).toBe('already-applied')
  })

  test('at line 1 without context above what it adds belongs at the beginning', () => {
    expect(edited('b\nc\n', [unified('@1\n+a\n b\n c')])).toBe('a\nb\nc\n')
    expect(refused('x\nb\nc\n', [unified('@1\n+a\n b\n c')]).code).toBe('no-match')
    expect(refused('a\nb\nc\n', [unified('@1\n+a\n b\n c')]).code).toBe('already-applied')
    expect(edited('x\nb\nc\n', [unified('@2\n+a\n b\n c')])).toBe('x\na\nb\nc\n')
  })

  test('names the first line that differs', () => {
    const failure = refused('lA\nlB\nlC\nlD\nlE\n', [unified('@1\n lA\n lB\n lC\n+lN\n lX\n lE')])
    expect(failure).toMatchObject({
      code: 'no-match',
      data: { nearest: { firstDifferingLine: 4, expected: 'lX', found: 'lD' } },
    })
    expect(failure.message).toContain('hunk 1 (line 1 of the patch)')
  })

  test('that was applied before says so', () => {
    expect(refused('a\nx\nb\n', [unified('@1\n a\n+x\n b')]).code).toBe('already-applied')
  })

  test('of context alone is no-change, of nothing a parse-error', () => {
    expect(refused('a\n', [unified('@1\n a')]).code).toBe('no-change')
    expect(refused('a\n', [unified('@1')]).code).toBe('parse-error')
    expect(refused('a\n', [unified('')]).code).toBe('parse-error')
  })

  test('keeps the file\u2019s byte-order mark, with or without one of its own', () => {
    expect(edited('\ufeffa\nb\n', [unified('@1\n-a\n+A\n b')])).toBe('\ufeffA\nb\n')
    expect(edited('\ufeffa\nb\n', [unified('@1\n-\ufeffa\n+\ufeffA\n b')])).toBe('\ufeffA\nb\n')
    expect(edited('\ufeffa\nb\n', [unified('@1\n \ufeffa\n-b\n+B')])).toBe('\ufeffa\nB\n')
    expect(edited('\ufeffa\nb\n', [unified('@1\n-\ufeffa\n+a\n b')])).toBe('a\nb\n')
  })

  test('matches bytes that are not UTF-8', () => {
    const before = Buffer.from('caf\xe9\nx\n', 'latin1')
    const hunk = { anchors: [], oldStart: 1, endOfFile: false, sourceLine: 1 }
    const lines = [
      { kind: 'context', text: Buffer.from('caf\xe9', 'latin1') },
      { kind: 'remove', text: Buffer.from('x') },
      { kind: 'add', text: Buffer.from('th\xe9', 'latin1') },
    ] as const
    expect(edited(before, [{ op: 'hunks', flavour: 'unified', hunks: [{ ...hunk, lines }] }])).toBe(
      'latin1:caf\xe9\nth\xe9\n',
    )
  })

  test('claims its context too', () => {
    const resolution = submit({ 'a.txt': numbers }, [
      unified('@4\n 4\n-5\n+five\n 6'),
      unified('@6\n 6\n-7\n+seven\n 8'),
    ])
    expect(resolution).toMatchObject({ kind: 'refused', failures: [{ code: 'overlap' }] })
  })

  test('reports its lines', () => {
    const results = resultsOf(
      submit({ 'a.txt': numbers }, [unified('@2\n 2\n-3\n+three\n+more\n 4\n@8\n 8\n-9\n+nine')]),
    )
    expect(results).toMatchObject([{ oldLines: { from: 3, to: 9 }, newLines: { from: 3, to: 10 } }])
  })
})

describe('an envelope hunk', () => {
  test.each([
    ['replaces', 'a\nb\nc\n', '@\n-b\n+B', 'a\nB\nc\n'],
    ['keeps context', 'a\nb\nc\n', '@\n a\n-b\n+B\n c', 'a\nB\nc\n'],
    [
      'goes below its anchor',
      'class K:\n  x = 1\nclass M:\n  x = 1\n',
      '@class M:\n-  x = 1\n+  x = 2',
      'class K:\n  x = 1\nclass M:\n  x = 2\n',
    ],
    [
      'goes below all its anchors',
      'class A\n def f\n  x\nclass B\n def f\n  x\n',
      '@class B|def f\n-  x\n+  y',
      'class A\n def f\n  x\nclass B\n def f\n  y\n',
    ],
    ['may replace its anchor', 'a\nb\nc\n', '@b\n-b\n+B', 'a\nB\nc\n'],
    ['goes below the hunk before', 'x\na\nx\n', '@\n a\n+b\n@\n-x\n+y', 'x\na\nb\ny\n'],
    ['that only adds goes below its anchor', 'a\nb\n', '@a\n+n', 'a\nn\nb\n'],
    ['that only adds goes to the end without one', 'a\nb\n', '@\n+n', 'a\nb\nn\n'],
    ['that only adds goes to an unterminated end', 'a\nb', '@\n+n', 'a\nb\nn'],
    ['takes the file\u2019s ending', 'a\r\nb\r\n', '@\n a\n-b\n+B\n+C', 'a\r\nB\r\nC\r\n'],
    ['leaves the end of the file as it is', 'a\nb', '@\n-b\n+B', 'a\nB'],
    ['adds below an unterminated line', 'a\nb', '@\n b\n+c', 'a\nb\nc'],
    ['finds the end of the file', 'x\na\nx\n', '@\n-x\n+y\n$', 'x\na\ny\n'],
    ['takes a blank line at its end for the end of the file', 'a\nb\n', '@\n-b\n+B\n ', 'a\nB\n'],
    ['takes a blank line removed there for it too', 'a\nb\n', '@\n-b\n-\n+B', 'a\nB\n'],
    ['finds a blank line', 'a\n\nb\n', '@\n \n+n', 'a\n\nn\nb\n'],
    ['prefers an exact line to one with blanks', 'key \nkey\n', '@\n-key\n+KEY', 'key \nKEY\n'],
    ['ignores trailing blanks and keeps those of context', 'a  \nb \nc\n', '@\n a\n-b\n+B', 'a  \nB\nc\n'],
    ['folds look-alikes and keeps those of context', '“a”\nb\n', '@\n "a"\n-b\n+B', '“a”\nB\n'],
    ['keeps a byte-order mark', '\ufeffa\nb\n', '@\n-a\n+A', '\ufeffA\nb\n'],
    [
      'finds its anchor but for blanks around it',
      '  def f():\n    x\n',
      '@def f():\n-    x\n+    y',
      '  def f():\n    y\n',
    ],
  ])('%s', (_name, before, hunks, after) => {
    expect(edited(before, [envelope(hunks)])).toBe(after)
  })

  test.each([
    ['ambiguous-match', 'go\nx\ngo\n', '@\n-go\n+run'],
    ['ambiguous-match', 'h\ngo\nx\ngo\n', '@h\n-go\n+run'],
    ['ambiguous-match', 'a\nx\na\n', '@a\n+n'],
    ['no-match', 'a\nb\n', '@nope\n+n'],
    ['no-match', 'a\nb\n', '@b|a\n+n'],
    ['no-match', 'a\nb\nc\n', '@\n-b\n+B\n$'],
    ['no-match', 'a\nb\nc\nd\n', '@\n-b\n+B\n \n-d\n+D'],
    ['no-match', 'b\na\n', '@\n a\n+x\n@\n-b\n+B'],
    ['no-match', 'a\nb\nc\n', '@\n-b\n+B\n '],
    ['no-match', 'a\r\nb\r\nc\r\n', '@\n a\n-b\n+B\n '],
    ['already-applied', 'a\nB\nc\n', '@\n a\n-b\n+B\n c'],
  ])('is %s in %j: %j', (code, before, hunks) => {
    expect(refused(before, [envelope(hunks)]).code).toBe(code)
  })

  test('that keeps and removes one line is refused by name, unless it stands there twice', () => {
    const failure = refused('a\nb\n', [envelope('@\n a\n-a\n+A')])
    expect(failure.code).toBe('no-match')
    expect(failure.hint).toContain('both keeps and removes "a"')
    expect(edited('a\na\n', [envelope('@\n a\n-a\n+A')])).toBe('a\nA\n')
  })

  test('takes the file\u2019s indentation only if allowed', () => {
    const hunk = envelope('@\n if a\n-  b\n+  c')
    expect(edited('\tif a\n\t  b\n', [hunk], { maxTier: 'indent' })).toBe('\tif a\n\t  c\n')
    expect(refused('\tif a\n\t  b\n', [hunk]).code).toBe('no-match')
    expect(
      refused('\tif a\n\t  b\n', [{ ...hunk, maxTier: 'exact' } as typeof hunk], { maxTier: 'indent' }).code,
    ).toBe('no-match')
  })

  test('refuses placeholders in what it adds', () => {
    expect(refused('a\n', [envelope('@\n-a\n+# ... existing code ...')]).code).toBe('omission')
    expect(edited('a\n', [unified('@1\n-a\n+# ... existing code ...')])).toBe('# ... existing code ...\n')
  })
})

describe('the blob from which a unified diff was made', () => {
  const from = (preimage: string, hunks: string) =>
    ({ ...unified(hunks), preimage }) as ReturnType<typeof unified>
  const before = 'a\nb\nc\n'

  test.each([7, 12, 40])('proves the number of a hunk without old lines, given by %s digits', (digits) => {
    expect(edited(before, [from(blobOf(before).slice(0, digits), '@2\n+x')])).toBe('a\nb\nx\nc\n')
  })

  test('that is another one makes such a hunk stale', () => {
    const other = blobOf('other').slice(0, 7)
    const failure = refused(before, [from(other, '@1\n-a\n+A\n@2\n+x')])
    expect(failure).toMatchObject({
      code: 'stale-read',
      data: { expected: other, actual: blobOf(before) },
    })
    expect(failure.message).toContain(other)
    expect(failure.message).toContain(blobOf(before))
  })

  test('that is another one leaves hunks with old lines to these', () => {
    expect(edited(before, [from(blobOf('other'), '@1\n a\n-b\n+B')])).toBe('a\nB\nc\n')
  })

  test('proves the place of lines that lack context on one side', () => {
    const hunk = '@1\n a\n+x'
    expect(edited(before, [from(blobOf(before), hunk)])).toBe('a\nx\nb\nc\n')
    expect(refused(before, [from(blobOf('other'), hunk)]).code).toBe('no-match')
    expect(refused(before, [unified(hunk)]).code).toBe('no-match')
  })

  test('is the one that an earlier step left', () => {
    const first = from(blobOf(before), '@1\n-a\n+A\n+AA')
    const second = (made: string) =>
      ({ ...from(blobOf(made).slice(0, 9), '@3\n+x'), step: 1 }) as typeof first
    expect(edited(before, [first, second('A\nAA\nb\nc\n')])).toBe('A\nAA\nb\nx\nc\n')
    expect(refused(before, [first, second(before)])).toMatchObject({ code: 'stale-read', item: 1 })
  })
})

describe('a lone CR', () => {
  const mac = 'a\rb\rc'

  test('is text to a unified diff, also where the file has no LF', () => {
    const whole = `@1\n-${mac}\n\\\n+a\rB\rc\n\\`
    expect(edited(mac, [unified(whole)])).toBe('a\rB\rc')
    expect(refused(mac, [unified('@2\n-b\n+B')]).code).toBe('no-match')
    expect(edited(mac, [unified(`@1\n-${mac}\n\\\n+${mac}\n+x`)])).toBe(`${mac}\nx\n`)
  })
})

describe('an envelope hunk whose last old line is blank', () => {
  test.each([
    ['is not there where a line stands', 'a\nb\nc\n', '@\n-a\n-\n+X'],
    ['is not there behind the final newline', 'a\n', '@\n a\n-\n+X\n c'],
    ['is not there in the middle of a longer line', 'a\n b\n', '@\n-a\n-\n+X'],
  ])('%s', (_, before, hunks) => {
    expect(refused(before, [envelope(hunks)]).code).toBe('no-match')
  })

  test('removes a blank line that stands there, and no more', () => {
    expect(edited('a\n\nb\n', [envelope('@\n-a\n-\n+X')])).toBe('X\nb\n')
    expect(edited('a\n \nb\n', [envelope('@\n-a\n-\n+X')])).toBe('X\nb\n')
  })

  test('means the end of the file where nothing else does', () => {
    expect(edited('z\na\n', [envelope('@\n-a\n-\n+X')])).toBe('z\nX\n')
  })
})
