import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FoldedText, type FoldLevel, fold } from '../../src/editing/fold.ts'
import { Work } from '../../src/editing/work.ts'
import { pureRuns } from '../helpers/runs.ts'

const folded = (text: string, level: FoldLevel, stripsEnd = true): FoldedText =>
  fold(Buffer.from(text), { level, usesCr: false, from: 0, stripsEnd }, new Work(1e12))

const likeness: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '\u00a0': ' ',
  '\u2003': ' ',
  '\u202f': ' ',
  '\u3000': ' ',
}

/** The same by way of strings. */
function model(text: string, level: FoldLevel): string {
  const plain =
    level === 'unicode' ? text.replace(/[‘’‚“”–—−\u00a0\u2003\u202f\u3000]/g, (c) => likeness[c] ?? c) : text
  const lines = plain.split(/\r\n|\n/)
  return lines.map((line) => (level === 'eol' ? line : line.replace(/[ \t]+$/, ''))).join('\n')
}

const text = fc
  .array(
    fc.constantFrom(
      'a',
      'é',
      '日',
      ' ',
      '  ',
      '\t',
      '\n',
      '\r\n',
      '\r',
      '’',
      '“',
      '—',
      '\u00a0',
      '\u3000',
      '…',
      '\u2026',
    ),
    { maxLength: 25 },
  )
  .map((parts) => parts.join(''))
const level = fc.constantFrom<FoldLevel>('eol', 'trailing-space', 'unicode')

describe('folding', () => {
  test('is what replacing in strings would give', () => {
    fc.assert(
      fc.property(text, level, (content, at) => {
        expect(folded(content, at).bytes.toString()).toBe(model(content, at))
      }),
      { numRuns: pureRuns(2000) },
    )
  })

  test('maps every stretch back to bytes that fold to it, blanks before terminators aside', () => {
    fc.assert(
      fc.property(text, level, fc.nat(), fc.nat(), (content, at, a, b) => {
        const result = folded(content, at)
        const original = Buffer.from(content)
        const boundaries = [0]
        for (const c of result.bytes.toString())
          boundaries.push((boundaries.at(-1) ?? 0) + Buffer.byteLength(c))
        const [i, j] = [boundaries[a % boundaries.length] ?? 0, boundaries[b % boundaries.length] ?? 0].sort(
          (x, y) => x - y,
        ) as [number, number]
        if (i === j) return
        const back = original.subarray(result.startOf(i), result.endOf(j)).toString()
        expect(folded(back, at, false).bytes.toString()).toBe(result.bytes.subarray(i, j).toString())
        expect(result.indexOf(result.startOf(i))).toBe(i)
      }),
      { numRuns: pureRuns(2000) },
    )
  })
})
