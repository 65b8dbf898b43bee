import { describe, expect, test } from 'vitest'
import { envelope, unified } from './hunks.ts'
import {
  blobOf,
  codes,
  type Draft,
  edited,
  failuresOf,
  fileOf,
  filesAfter,
  refused,
  remarksOf,
  replace,
  submit,
} from './submit.ts'

/** Public reports about edit tools, each as what must not happen here. The names are those of their trackers. */
describe('lessons of other tools', () => {
  test('every kind of edit takes LF text against a CRLF file (Roo-Code #10288, DeepSeek-Reasonix #141)', () => {
    const before = 'a\r\nb\r\nc\r\n'
    const after = 'a\r\nB\r\nc\r\n'
    const edits: Draft[] = [
      replace('a\nb\n', 'a\nB\n'),
      { op: 'lines', from: 2, to: 2, content: 'B\n', blob: blobOf(before) },
      unified('@1\n a\n-b\n+B\n c'),
      envelope('@\n a\n-b\n+B'),
    ]
    for (const edit of edits) expect(edited(before, [edit])).toBe(after)
  })

  test('no CR is left over at the end of a line (nexus #84)', () => {
    expect(edited('a\r\nb\r\n', [replace('b', 'c')])).toBe('a\r\nc\r\n')
    expect(edited('a\r\nb\r\n', [replace('a\r\nb\r\n', 'x\r\n')])).toBe('x\r\n')
  })

  test('finding and replacing agree on where a line ends (patchloom #2325, #2338)', () => {
    expect(edited('a\r\nb\r\n', [replace('a', 'x', { wholeLines: true })])).toBe('x\r\nb\r\n')
  })

  test('a patch keeps CRLF byte for byte (codex #7903, #15035)', () => {
    expect(edited('a\r\nb\r\nc', [envelope('@\n a\n-b\n+b1\n+b2\n c')])).toBe('a\r\nb1\r\nb2\r\nc')
  })

  test('a file that is not UTF-8 takes a patch where that is ASCII (codex #21164, claude-code #85842)', () => {
    const before = Buffer.from('caf\xe9\ncost: 5\nno\xebl\n', 'latin1')
    expect(edited(before, [envelope('@\n-cost: 5\n+cost: 7')])).toBe('latin1:caf\xe9\ncost: 7\nno\xebl\n')
  })

  test('messages never cut a character (codex #9580)', () => {
    const line = '补丁'.repeat(300)
    const failure = refused(`${line}\nx\n`, [replace(`${line}\ny`, 'z')])
    expect(failure.message).not.toContain('\ufffd')
  })

  test('a no-break space is found and shown (claude-code #29870, #29869, #20828)', () => {
    expect(edited('a\u00a0b\n', [replace('a b', 'a c')])).toBe('a c\n')
    expect(refused('a\u00a0b and more\n', [replace('a b and no more', 'x')]).message).toContain('a\\u{A0}b')
  })

  test('curly quotes that the edit does not change stay curly (claude-code #26141, #14355)', () => {
    const before = '“one”\n“two”\n“three”\n'
    expect(edited(before, [replace('"one"\n"two"\n', '"one"\n"2"\n')])).toBe('“one”\n"2"\n“three”\n')
  })

  test('quotes that change their kind are remarked upon (claude-code #31863)', () => {
    const remarks = remarksOf(submit({ 'a.txt': "re = /'/\n" }, [replace("/'/", '/’/')]))
    expect(remarks.map(({ kind }) => kind)).toEqual(['quote-class'])
  })

  test('tab-indented files can be matched, and it is reported (claude-code #9163, #18050)', () => {
    const resolution = submit(
      { 'a.txt': 'f {\n\tx\n\t\ty\n}\n' },
      [replace('  x\n    y\n', '  z\n    y\n')],
      { maxTier: 'indent' },
    )
    expect(filesAfter(resolution)['a.txt']).toBe('f {\n\tz\n\t\ty\n}\n')
    expect(remarksOf(resolution).map(({ kind }) => kind)).toEqual(['tier'])
  })

  test('a byte-order mark is part of the file (claude-code #60174, #13363, kimi-code #3825)', () => {
    expect(edited('\ufeffa\nb\n', [replace('a', 'A')])).toBe('\ufeffA\nb\n')
    expect(edited('\ufeffa\nb\n', [envelope('@\n-a\n+A')])).toBe('\ufeffA\nb\n')
  })

  test('the executable bit survives every edit (claude-code #20356, OpenHands #4254)', () => {
    for (const edit of [replace('a', 'b'), envelope('@\n-a\n+b'), { op: 'append', content: 'b' } as Draft]) {
      const resolution = submit({ 'a.txt': fileOf('a\n', true) }, [edit])
      expect(resolution).toMatchObject({ files: [{ after: { executable: true } }] })
    }
  })

  test('a hunk that fits two places edits neither (openclaw #124470)', () => {
    expect(refused('x = 1\ny\nx = 1\n', [envelope('@\n-x = 1\n+x = 2')]).code).toBe('ambiguous-match')
  })

  test('a line number alone places nothing (bounty-challenge #5977, #51736)', () => {
    expect(refused('a\nb\nc\n', [unified('@2\n-zzz\n+y')]).code).toBe('no-match')
  })

  test('dollars in new text are text (gemini-cli #5973)', () => {
    expect(edited('cost: X\n', [replace('X', "$$ $& $` $' $1")])).toBe("cost: $$ $& $` $' $1\n")
  })

  test('an edit made twice does not go round in circles (gemini-cli #2154)', () => {
    expect(refused('a\r\nnew line\r\n', [replace('a\nold line', 'a\nnew line')]).code).toBe('already-applied')
  })

  test('a missing final newline does not break a match (aider #3737)', () => {
    expect(edited('a\nb', [replace('a\nb\n', 'a\nc\n', { wholeLines: true })])).toBe('a\nc')
  })

  test('no newline is added or lost at the end of the file (OO-Agents #308, dyad #4338)', () => {
    expect(edited('a\nb', [replace('a', 'x')])).toBe('x\nb')
    expect(edited('a\nb\n', [replace('b\n', 'c\n')])).toBe('a\nc\n')
    expect(edited('a\nb\n', [envelope('@\n b\n+c\n$')])).toBe('a\nb\nc\n')
  })

  test('one CRLF line does not make every line CRLF (octo-agent #1224)', () => {
    expect(edited('a\nb\r\nc\n', [replace('c', 'd\ne')])).toBe('a\nb\r\nd\ne\n')
  })

  test('a refusal names the first line that differs, not only those that match (holon #2741)', () => {
    const before = 'one\ntwo\nthree\nfour\n'
    expect(refused(before, [envelope('@\n one\n two\n-tree\n+x\n four')]).data['nearest']).toMatchObject({
      firstDifferingLine: 3,
      found: 'three',
    })
  })

  test('a refusal gives the places, the blob and whether the edit is done (coding-tools-mcp #50)', () => {
    expect(refused('a\na\n', [replace('a', 'b')]).data).toMatchObject({
      lines: [1, 2],
      blob: blobOf('a\na\n'),
    })
    expect(refused('x\nb is new\n', [replace('b is old', 'b is new')]).code).toBe('already-applied')
  })

  test('freshness goes by content (claude-code #12981, #33856, #21201, #8216)', () => {
    const reads = [{ path: 'a.txt', blob: blobOf('a\n') }]
    expect(edited('a\n', [replace('a', 'b')], { reads })).toBe('b\n')
    expect(refused('a \n', [replace('a', 'b')], { reads }).code).toBe('stale-read')
  })

  test('a change since the read is shown, and the edit can be carried (claude-code #51361, #968)', () => {
    const read = 'one\ntwo\nthree\nfour\n'
    const now = `// header\n${read}`
    const reads = [{ path: 'a.txt', blob: blobOf(read), bytes: Buffer.from(read) }]
    const edit: Draft = { op: 'lines', from: 2, to: 2, content: '2' }
    expect(refused(now, [edit], { reads }).data).toMatchObject({
      changes: expect.arrayContaining(['+// header']),
      suggestion: { from: 3, to: 3 },
    })
    expect(edited(now, [edit], { reads, carry: true })).toBe('// header\none\n2\nthree\nfour\n')
  })

  test('a later failure leaves nothing of the earlier edits (opencode #41871, openclaw #127496, #117742)', () => {
    const edits: Draft[] = [
      { op: 'delete', path: 'd.txt' },
      replace('a', 'b'),
      replace('zzz', 'new', { path: 'u.txt' }),
    ]
    const resolution = submit({ 'a.txt': 'a\n', 'd.txt': 'x\n', 'u.txt': 'y\n' }, edits)
    expect(codes(resolution)).toEqual(['2 no-match'])
    expect(failuresOf(resolution)[0]?.path).toBe('u.txt')
  })
})
