import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LineHunk, lineHunks } from '../../src/editing/diff-lines.ts'
import { reverseHunks } from '../../src/editing/reverse-hunks.ts'
import { pureRuns } from '../helpers/runs.ts'

/** Texts of few different lines, so that they have much in common; with and without a final newline, with CRLF. */
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', 'a\r', '', 'dd'), { maxLength: 24 }), fc.boolean())
  .map(([lines, isTerminated]) => Buffer.from(lines.join('\n') + (isTerminated ? '\n' : '')))

const turned = (hunk: LineHunk): LineHunk => ({
  ...hunk,
  oldStart: hunk.newStart,
  oldCount: hunk.newCount,
  newStart: hunk.oldStart,
  newCount: hunk.oldCount,
})

describe('taking hunks back', () => {
  test('all of them gives the bytes before, none the bytes after', () => {
    fc.assert(
      fc.property(text, text, fc.nat(3), (before, after, context) => {
        const hunks = lineHunks(before, after, context)
        expect(reverseHunks(before, after, hunks)).toEqual(before)
        expect(reverseHunks(before, after, [])).toEqual(after)
      }),
      { numRuns: pureRuns(2000) },
    )
  })

  test('some of them is the same as making the others', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.nat(3),
        fc.array(fc.boolean(), { maxLength: 12 }),
        (before, after, context, picks) => {
          const hunks = lineHunks(before, after, context)
          const chosen = hunks.filter((_, i) => picks[i] === true)
          const others = hunks.filter((_, i) => picks[i] !== true)
          expect(reverseHunks(before, after, chosen)).toEqual(reverseHunks(after, before, others.map(turned)))
        },
      ),
      { numRuns: pureRuns(2000) },
    )
  })

  test.each([
    ['a line that was added at the top', 'b\n', 'a\nb\n', 'b\n'],
    ['lines that were removed at the end', 'a\nb\nc\n', 'a\n', 'a\nb\nc\n'],
    ['a final newline that came', 'a', 'a\n', 'a'],
    ['a file that became empty', 'a\nb', '', 'a\nb'],
    ['a file that was empty', '', 'a\n', ''],
  ])('gives back %s', (_, before, after, expected) => {
    const sides = [Buffer.from(before), Buffer.from(after)] as const
    expect(reverseHunks(...sides, lineHunks(...sides, 3)).toString()).toBe(expected)
  })

  test('keeps every other byte, whatever its encoding and line ending', () => {
    const before = Buffer.concat([
      Buffer.from('one\r\n'),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from('x\n'.repeat(9)),
      Buffer.from('end'),
    ])
    const after = Buffer.from(before.toString('latin1').replace('one', 'un').replace('end', 'fin'), 'latin1')
    const hunks = lineHunks(before, after, 3)
    expect(hunks).toHaveLength(2)
    const expected = Buffer.from(before.toString('latin1').replace('end', 'fin'), 'latin1')
    expect(reverseHunks(before, after, hunks.slice(0, 1))).toEqual(expected)
  })
})

test.each([
  ['a\nB\nc\n', 'x\n', 'x\n'],
  ['a\nB\nc\n', 'x', 'x'],
  [`a\nB\nc\n${'d\n'.repeat(9)}`, 'x', `x\n${'d\n'.repeat(7)}`],
  [`a\nB\nc\n${'d\n'.repeat(9)}`, '', 'd\n'.repeat(7)],
])('a hunk of %j may have other lines, %j, which run into no other', (after, instead, expected) => {
  const before = after.replace('B', 'b')
  const [old, fresh] = [Buffer.from(before), Buffer.from(after)]
  const hunks = lineHunks(old, fresh, 3).map((hunk) => ({ ...hunk, instead: Buffer.from(instead) }))
  expect(reverseHunks(old, fresh, hunks).toString()).toBe(expected)
})
