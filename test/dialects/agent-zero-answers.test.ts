import { describe, expect, test } from 'vitest'
import { agentZero } from '../../src/dialects/agent-zero.ts'
import {
  errorText,
  failureText,
  freshnessCode,
  patchedText,
  readFile,
  readText,
  totalLines,
  writtenText,
} from '../../src/dialects/answers/agent-zero.ts'
import type { ErrorCode } from '../../src/model/error-codes.ts'
import { fixture, root } from './in-memory.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')

interface ReadRow {
  readonly name: string
  readonly initial: string | { readonly hex: string } | null
  readonly request: Readonly<Record<string, unknown>>
  readonly content?: string
  readonly totalLines?: number
  readonly lineFrom?: number
  readonly lineTo?: number
  readonly error?: string
}

/** Reads that are answered otherwise than in the table, which is of an earlier version: the reason for each. */
const others: Readonly<Record<string, string>> = {
  'line_to < line_from': 'an error in the later version',
  'line_from negative': 'an error in the later version',
  'line_to negative': 'was a slice from the end',
  'string numbers': 'the tool makes numbers of them before it asks the host',
  crlf: 'the later version keeps CRLF',
  'lone cr': 'the later version ends lines at LF only',
  'invalid utf8': 'a quarter of its bytes: the later version takes it for binary',
  nul: 'the later version takes it for binary',
  missing: 'found by reading the work tree',
  directory: 'found by reading the work tree',
  'empty path': 'found before the host is asked',
  'upper-case op': 'an operation of the host, not of the tool',
  'unknown op': 'an operation of the host, not of the tool',
  'missing op': 'an operation of the host, not of the tool',
  'dotdot escape allowed': 'nothing outside the root is read',
}

describe('reads, row by row', () => {
  const rows = (JSON.parse(fixture('agent-zero.json')) as { readonly read: readonly ReadRow[] }).read
  const followed = rows.filter(({ name }) => !(name in others))

  test('every row is followed or has a reason why not', () => {
    expect(followed).toHaveLength(rows.length - Object.keys(others).length)
  })

  test.each(followed)('$name', (row) => {
    const { op: _, ...input } = row.request
    const call = { tool: 'text_editor_remote', input: { action: 'read', ...input } }
    const asked = agentZero.readCall?.(call, { item: 0, step: 0, root }) ?? null
    if (asked === null || !('kind' in asked)) throw new Error(`refused: ${asked?.message}`)
    const content = typeof row.initial === 'string' ? bytes(row.initial) : bytes('')
    const answer = readFile(content, asked.from, asked.to)
    expect(answer).toMatchObject({
      ok: true,
      result: {
        content: row.content,
        total_lines: row.totalLines,
        line_from: row.lineFrom,
        line_to: row.lineTo,
      },
    })
  })
})

describe('the later rules of a read', () => {
  test('CRLF stays in the content', () => {
    expect(readFile(bytes('a\r\nb\r\n'), null, null)).toMatchObject({
      result: { content: '   1 | a\r\n   2 | b\r\n' },
    })
  })

  test.each([
    ['a NUL', Buffer.from([0x61, 0, 0x62])],
    [
      'more than one byte in a hundred that does not decode',
      Buffer.from([...Buffer.from('a'.repeat(50)), 0xff]),
    ],
  ])('%s makes a file binary', (_, content) => {
    expect(readFile(content, null, null)).toMatchObject({
      ok: false,
      code: 'BINARY_FILE',
      error:
        'Remote text read rejected a binary-looking file. Use the authenticated HTTP bulk transfer path instead.',
      details: { type: 'binary_file', alternative: 'http_bulk_transfer', sample_bytes: content.length },
    })
  })

  test("a few bytes that do not decode, and a character across the sample's end, do not", () => {
    const few = Buffer.from([...Buffer.from('a'.repeat(200)), 0xff])
    expect(readFile(few, null, null).ok).toBe(true)
    expect(readFile(bytes(`${'a'.repeat(8191)}é${'a'.repeat(10)}`), null, null)).toMatchObject({ ok: true })
  })

  test('at most 2000 lines are given', () => {
    const answer = readFile(bytes('x\n'.repeat(2005)), 3, null)
    expect(answer).toMatchObject({
      result: {
        line_from: 3,
        line_to: 2002,
        total_lines: 2005,
        truncated: true,
        limits: { max_lines: 2000, max_bytes: 262_144 },
        truncation: { reason: 'max_lines', next_line: 2003, alternative: 'http_bulk_transfer' },
      },
    })
  })

  test('exactly 2000 lines to the end are not cut', () => {
    expect(readFile(bytes('x\n'.repeat(2000)), null, null)).toMatchObject({
      result: { truncated: false, line_to: 2000 },
    })
  })

  test("at most 262,144 bytes are given, cut at a character's end", () => {
    const answer = readFile(bytes(`${'é'.repeat(200_000)}\nnext\n`), null, null)
    if (!answer.ok) throw new Error(answer.error)
    expect(Buffer.byteLength(answer.result.content)).toBe(262_143)
    expect(answer.result.content).not.toContain('\ufffd')
    expect(answer.result).toMatchObject({ line_to: 1, truncation: { reason: 'max_bytes', next_line: 2 } })
  })

  test('lines that fill the bytes exactly end there', () => {
    const line = 'a'.repeat(262_144 - '   1 | \n'.length)
    const answer = readFile(bytes(`${line}\nnext\n`), null, null)
    expect(answer).toMatchObject({
      result: { line_to: 1, truncation: { reason: 'max_bytes', next_line: 2 } },
    })
  })

  test.each([
    [0, null, 'line_from must be >= 1'],
    [3, 2, 'line_to must be >= line_from'],
  ])('from %j to %j is an error', (from, to, error) => {
    expect(readFile(bytes('a\nb\nc\n'), from, to)).toEqual({ ok: false, error })
  })
})

describe('texts that the model sees', () => {
  test('a read has its content between marks', () => {
    expect(readText('a.txt', readFile(bytes('x\ny\n'), null, 1))).toBe('a.txt 2 lines\n>>>\n   1 | x\n\n<<<')
  })

  test('a truncated read says where to go on', () => {
    const text = readText('a.txt', readFile(bytes('x\n'.repeat(2001)), null, null))
    expect(text.split('\n').at(-1)).toBe(
      '[Remote text read truncated by max_lines. Continue with line_from=2001. Use HTTP bulk transfer for the complete or binary file.]',
    )
  })

  test('success and failure', () => {
    expect(writtenText('a b')).toBe('a b written successfully')
    expect(patchedText('a')).toBe('a patched successfully')
    expect(failureText('patch', 'a', 'context not found:')).toBe("Error (patch 'a'): context not found:")
    expect(readText('a', { ok: false, error: 'File not found: a' })).toBe(
      "Error (read 'a'): File not found: a",
    )
  })

  const say = (code: ErrorCode, data = {}) =>
    errorText({ code, message: 'what galley saw', data, hint: 'do this' }, 'a.txt')

  test.each<[ErrorCode, string]>([
    ['not-read', 'error patching a.txt: read file before patching - line numbers unknown'],
    [
      'stale-read',
      'error patching a.txt: file changed since last read - re-read to get current line numbers\nwhat galley saw\ndo this',
    ],
    ['not-found', 'File not found: a.txt'],
    ['is-directory', 'File not found: a.txt'],
    ['outside-repository', 'Path is outside the allowed local workspace: a.txt'],
    ['read-only', 'Frontend file writes are disabled in this CLI session. Press F3 to switch to Read&Write.'],
    ['no-match', 'context not found:\nwhat galley saw\ndo this'],
    [
      'ambiguous-match',
      'context matched multiple locations; add an @@ anchor or more context:\nwhat galley saw\ndo this',
    ],
    ['binary', 'what galley saw\ndo this'],
  ])('%s', (code, text) => {
    expect(say(code)).toBe(text)
  })

  test("an adapter's own native sentence goes first", () => {
    expect(say('invalid-batch', { native: 'patch_text is required' })).toBe('patch_text is required')
  })

  test.each<[ErrorCode, string | null]>([
    ['not-read', 'patch_need_read'],
    ['stale-read', 'patch_stale_read'],
    ['no-match', null],
  ])('%s is %j to the freshness rules', (code, name) => {
    expect(freshnessCode({ code, message: '', data: {} })).toBe(name)
  })
})

test.each([
  ['', 0],
  ['a', 1],
  ['a\n', 1],
  ['a\nb', 2],
  ['\n\n', 2],
])('%j has %i lines', (text, count) => {
  expect(totalLines(bytes(text))).toBe(count)
})
