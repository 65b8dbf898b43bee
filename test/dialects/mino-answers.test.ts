import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  approvalPrompt,
  completedText,
  isApproval,
  previewOf,
  quoteAscii,
  refusedResult,
  screenText,
} from '../../src/dialects/answers/mino.ts'
import { errorCodes } from '../../src/model/error-codes.ts'
import { pureRuns } from '../helpers/runs.ts'

describe('the screen before an edit', () => {
  const screen = {
    tool: 'edit_file',
    path: 'greet.go',
    projectDirectory: '/home/u/p',
    startingLine: 3,
    remove: '"hi"',
    insert: '"hello"',
    resultingBytes: 39,
    resultingLines: 3,
  } as const

  test('has its fields in order, every value quoted', () => {
    expect(screenText(screen)).toBe(
      [
        '[Tool: edit_file]',
        'Path: "greet.go"',
        'Project directory: "/home/u/p"',
        'Starting line: "3"',
        'Remove: "\\"hi\\"" (4 bytes, 1 line)',
        'Insert: "\\"hello\\"" (7 bytes, 1 line)',
        'Resulting file: "39 bytes, 3 lines"',
        'Writes with your account permissions; approval applies only to this change to the current file.',
        '',
      ].join('\n'),
    )
    expect(approvalPrompt).toBe('Approve this operation? [y/N] ')
  })

  test('shows nothing that a terminal obeys or a reader cannot tell apart', () => {
    const text = screenText({ ...screen, path: 'a\u202egp.exe', insert: '\u001b[2Jй\n' })
    expect(text).toContain('"a\\u202egp.exe"')
    expect(text).toContain('Insert: "\\x1b[2J\\u0439\\n"')
    expect(/^[\n\x20-\x7e]*$/.test(text)).toBe(true)
  })
})

describe('the screen before a write', () => {
  const screen = {
    tool: 'write_file',
    path: 'new.go',
    projectDirectory: '/p',
    existingBytes: null,
    content: 'l1\nl2\n',
  } as const

  test('of a new file says so', () => {
    expect(screenText(screen).split('\n').slice(3, 8)).toEqual([
      'Create a new file',
      'Content (6 bytes, 2 lines):',
      '  "l1\\n"',
      '  "l2\\n"',
      'Resulting file: "6 bytes, 2 lines"',
    ])
  })

  test('over an existing file names its size', () => {
    expect(screenText({ ...screen, existingBytes: 1 })).toContain('\nOverwrite the existing file (1 byte)\n')
  })

  test('names what it does not show in bytes', () => {
    const content = Array.from({ length: 30 }, (_, i) => `l${i + 1}\n`).join('')
    expect(screenText({ ...screen, content })).toContain('Content (111 bytes, 30 lines; 40 bytes not shown):')
  })
})

describe('the preview', () => {
  test('shows at most 20 lines', () => {
    const preview = previewOf('x\n'.repeat(30))
    expect(preview).toMatchObject({ restBytes: 20, totalBytes: 60, totalLines: 30 })
    expect(preview.lines).toHaveLength(20)
  })

  test('shows at most 2 KiB', () => {
    expect(previewOf(`${'z'.repeat(5000)}\n`)).toMatchObject({
      restBytes: 2953,
      totalBytes: 5001,
      totalLines: 1,
    })
  })

  test('ends at a whole character, within its bounds, and counts the rest', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(100), (part, times) => {
        const text = part.repeat(times)
        const preview = previewOf(text)
        const shown = preview.lines.join('')
        expect(text.startsWith(shown)).toBe(true)
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(2048)
        expect(preview.lines.length).toBeLessThanOrEqual(20)
        expect(Buffer.byteLength(shown) + preview.restBytes).toBe(Buffer.byteLength(text))
      }),
      { numRuns: pureRuns(300) },
    )
  })

  test('of an empty text has no line', () => {
    expect(previewOf('')).toEqual({ lines: [], restBytes: 0, totalBytes: 0, totalLines: 0 })
  })
})

describe('the answer to the prompt', () => {
  test.each(['y', 'Y', 'yes', ' YES \n'])('%j approves', (answer) => {
    expect(isApproval(answer)).toBe(true)
  })

  test.each(['', '\n', 'n', 'no', 'ye', 'yes please', 'y y', '/exit'])('%j denies', (answer) => {
    expect(isApproval(answer)).toBe(false)
  })
})

describe('results', () => {
  test.each([
    [
      { kind: 'edited', path: 'greet.go', line: 3, bytes: 39, lines: 3 } as const,
      'Edited greet.go at line 3 (39 bytes, 3 lines).',
    ],
    [{ kind: 'created', path: 'new.go', bytes: 1, lines: 1 } as const, 'Created new.go (1 byte, 1 line).'],
    [
      { kind: 'overwrote', path: 'new.go', bytes: 0, lines: 0 } as const,
      'Overwrote new.go (0 bytes, 0 lines).',
    ],
  ])('%j', (done, text) => {
    expect(completedText(done)).toBe(text)
  })

  test('a file that changed after its approval has the fixed sentence', () => {
    const refusal = { code: 'changed-after-approval', message: 'greet.go is another blob', data: {} } as const
    expect(refusedResult(refusal)).toEqual({
      kind: 'failed',
      text: 'File changed after approval; nothing was written.',
    })
  })

  test('a failed check says what was seen and what to do', () => {
    const refusal = {
      code: 'no-match',
      message: 'the text does not stand in greet.go',
      data: {},
      hint: 'Copy it exactly.',
    } as const
    expect(refusedResult(refusal)).toEqual({
      kind: 'invalid_arguments',
      text: 'The text does not stand in greet.go. Copy it exactly.',
    })
  })

  test.each([
    ['denied', 'denied'],
    ['would-overwrite', 'failed'],
    ['io-error', 'failed'],
    ['internal', 'unknown'],
    ['exists', 'invalid_arguments'],
    ['not-found', 'invalid_arguments'],
    ['hard-linked', 'invalid_arguments'],
    ['symlink', 'invalid_arguments'],
    ['parent-missing', 'invalid_arguments'],
    ['denied-path', 'invalid_arguments'],
  ] as const)('%s is %s', (code, kind) => {
    expect(refusedResult({ code, message: 'm', data: {} }).kind).toBe(kind)
  })

  test('every code of galley has a result with a text', () => {
    for (const code of errorCodes) expect(refusedResult({ code, message: 'm', data: {} }).text).not.toBe('')
  })
})

test.each([
  ['plain', '"plain"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['\t\r\n\b\f\v\u0007\u0000\u007f', '"\\t\\r\\n\\b\\f\\v\\a\\x00\\x7f"'],
  ['é\u0085', '"\\u00e9\\u0085"'],
  ['😀', '"\\U0001f600"'],
])('quotes %j in ASCII', (text, quoted) => {
  expect(quoteAscii(text)).toBe(quoted)
})
