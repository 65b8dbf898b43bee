import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { carrySpans, changedSpans, type LineSpan } from '../../src/editing/touched-lines.ts'
import { pureRuns } from '../helpers/runs.ts'

const lines = (...all: readonly (string | number)[]): Buffer => Buffer.from(all.map((l) => `${l}\n`).join(''))
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)
const textOf = (bytes: Buffer, { from, to }: LineSpan): string =>
  bytes.toString().split('\n').slice(from, to).join('\n')

/** Ten numbered lines, some of them replaced, taken away, or followed by new ones. */
const edited = (edits: readonly (readonly [line: number, next: readonly string[]])[]): Buffer =>
  lines(...range(10).flatMap((n): readonly string[] => edits.find(([line]) => line === n)?.[1] ?? [`${n}`]))

describe('the lines of a change', () => {
  test('are those that differ; a removal is a place between two', () => {
    expect(
      changedSpans(
        lines(...range(10)),
        edited([
          [2, ['x', 'y']],
          [7, []],
        ]),
      ),
    ).toEqual([
      { from: 2, to: 4 },
      { from: 8, to: 8 },
    ])
  })

  test.each([
    ['new', null, lines(1)],
    ['gone', lines(1), null],
    ['not text', lines(1), Buffer.from([0])],
  ])('of a file that is %s are all that it has and will have', (_, before, after) => {
    const spans = changedSpans(before, after)
    expect(carrySpans(spans, { before: lines(1), after: lines(1, 2) })).toEqual({ isTouched: true, spans })
    expect(carrySpans(spans, { before: lines(1), after: lines(1) }).isTouched).toBe(false)
  })
})

describe('following lines through a step', () => {
  const span = [{ from: 4, to: 6 }]
  const follow = (bytes: Buffer) => carrySpans(span, { before: lines(...range(10)), after: bytes })

  test.each([
    ['a change of one of them', [[4, ['x']]]],
    ['a change right above', [[3, ['x']]]],
    ['a change right below', [[6, ['x']]]],
    ['lines that come between', [[4, ['4', 'x']]]],
    [
      'their removal',
      [
        [4, []],
        [5, []],
      ],
    ],
    ['the removal of the line above', [[3, []]]],
  ] as const)('%s touches them', (_, edits) => {
    expect(follow(edited(edits)).isTouched).toBe(true)
  })

  test.each([
    ['one line away, above', [[2, ['x', 'y']]], { from: 5, to: 7 }],
    ['one line away, below', [[7, []]], { from: 4, to: 6 }],
    [
      'on both sides',
      [
        [0, []],
        [9, ['x', 'y']],
      ],
      { from: 3, to: 5 },
    ],
  ] as const)('a change %s does not, and they are found again', (_, edits, expected) => {
    expect(follow(edited(edits))).toEqual({ isTouched: false, spans: [expected] })
  })

  test('what touched them belongs to them from then on, with all else that the step did', () => {
    expect(
      follow(
        edited([
          [1, ['x']],
          [6, ['y', 'z']],
        ]),
      ),
    ).toEqual({
      isTouched: true,
      spans: [
        { from: 1, to: 2 },
        { from: 4, to: 8 },
      ],
    })
  })

  test('lines that no step touched still say what they said', () => {
    const spanOf = fc
      .tuple(fc.nat(9), fc.nat(3))
      .map(([from, count]) => ({ from, to: Math.min(10, from + count) }))
    const edits = fc.uniqueArray(
      fc.tuple(fc.nat(9), fc.constantFrom<readonly string[]>([], ['x'], ['y', 'z'])),
      { selector: ([line]) => line, maxLength: 4 },
    )
    fc.assert(
      fc.property(fc.array(spanOf, { minLength: 1, maxLength: 4 }), edits, (spans, all) => {
        const [before, next] = [lines(...range(10)), edited(all)]
        const carried = carrySpans(spans, { before, after: next })
        const isNear = all.some(([line]) => spans.some(({ from, to }) => line + 1 >= from && line <= to))
        if (!isNear) expect(carried.isTouched).toBe(false)
        if (carried.isTouched) return
        const said = carried.spans.map((s) => textOf(next, s)).join('\n')
        for (const one of spans.filter(({ from, to }) => to > from))
          expect(said).toContain(textOf(before, one))
      }),
      { numRuns: pureRuns(2000) },
    )
  })

  test('takes time with the number of lines, not with its square', () => {
    const count = 40_000
    const before = lines(...range(count))
    const next = lines(...range(count).map((n) => (n % 4 === 0 ? `x${n}` : n)))
    const spans = range(count / 4).map((n) => ({ from: n * 4 + 2, to: n * 4 + 2 }))
    const carried = carrySpans(spans, { before, after: next })
    expect(carried).toMatchObject({ isTouched: false })
    expect(carried.spans).toHaveLength(count / 4)
  })
})
