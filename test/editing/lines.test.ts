import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LineTable } from '../../src/editing/lines.ts'
import { joinPieces, splitPieces } from '../../src/editing/pieces.ts'
import { pureRuns } from '../helpers/runs.ts'

const tableOf = (text: string): LineTable => new LineTable(Buffer.from(text))

function linesOf(table: LineTable): readonly string[] {
  return Array.from({ length: table.count }, (_, i) => `${table.text(i).toString()}${table.ending(i)}`)
}

const text = fc
  .array(fc.constantFrom('a', 'bc', '\n', '\r\n', '\r', '\ufeff', 'é', ''), { maxLength: 30 })
  .map((parts) => parts.join(''))

describe('the lines of a file', () => {
  test.each([
    ['', []],
    ['\ufeff', []],
    ['a', ['a']],
    ['a\n', ['a\n']],
    ['\n', ['\n']],
    ['a\n\nb', ['a\n', '\n', 'b']],
    ['a\r\nb\nc', ['a\r\n', 'b\n', 'c']],
    ['a\rb\n', ['a\rb\n']],
    ['a\rb\r', ['a\r', 'b\r']],
    ['a\r\r\n', ['a\r\r\n']],
    ['\ufeffa\n', ['a\n']],
  ])('of %j own their terminators', (content, expected) => {
    expect(linesOf(tableOf(content))).toEqual(expected)
  })

  test('joined are the file', () => {
    fc.assert(
      fc.property(text, (content) => {
        const table = tableOf(content)
        const mark = content.startsWith('\ufeff') ? '\ufeff' : ''
        expect(mark + linesOf(table).join('')).toBe(content)
        expect(
          splitPieces(content, table.usesCr)
            .map((p) => p.text + p.ending)
            .join(''),
        ).toBe(content)
      }),
      { numRuns: pureRuns(200) },
    )
  })

  test('are found by any offset in them', () => {
    fc.assert(
      fc.property(text, (content) => {
        const table = tableOf(content)
        for (let offset = table.contentStart; offset < table.bytes.length; offset++) {
          const line = table.lineAt(offset)
          expect(table.start(line) <= offset && offset < table.end(line)).toBe(true)
          expect(table.isLineStart(offset)).toBe(table.start(line) === offset)
        }
      }),
      { numRuns: pureRuns(200) },
    )
  })

  test('after a splice are the same whether counted anew or taken from those before', () => {
    fc.assert(
      fc.property(text, text, fc.nat(), fc.nat(), (before, fresh, a, b) => {
        const bytes = Buffer.from(before)
        const [start, oldEnd] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y) as [
          number,
          number,
        ]
        const after = Buffer.concat([bytes.subarray(0, start), Buffer.from(fresh), bytes.subarray(oldEnd)])
        const stretch = { start, oldEnd, newEnd: start + Buffer.byteLength(fresh) }
        const derived = new LineTable(after, { known: { table: new LineTable(bytes), stretch } })
        expect(linesOf(derived)).toEqual(linesOf(new LineTable(after)))
      }),
      { numRuns: pureRuns(3000) },
    )
  })
})

describe('the lines of a request', () => {
  test('take an ending for each LF and keep CRLF unless it is habit', () => {
    const pieces = splitPieces('a\nb\r\nc', false)
    expect(joinPieces(pieces, (i) => (i === 0 ? '\r\n' : '\n'), false)).toBe('a\r\nb\r\nc')
    expect(joinPieces(pieces, () => '\n', true)).toBe('a\nb\nc')
  })
})
