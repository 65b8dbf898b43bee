import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineHunks } from '../../src/editing/diff-lines.ts'
import { reverseHunks } from '../../src/editing/reverse-hunks.ts'
import { splitHunk } from '../../src/review/split-hunk.ts'
import { pureRuns } from '../helpers/runs.ts'

const bytes = (text: string) => Buffer.from(text)
const partsOf = (before: string, after: string) =>
  lineHunks(bytes(before), bytes(after), 3).flatMap((hunk) => splitHunk(hunk))
const line = fc.constantFrom('a', 'b', 'c', '', ' ', 'long')
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ends]) => `${lines.join('\n')}${ends && lines.length > 0 ? '\n' : ''}`)

describe('the parts of a hunk', () => {
  test.each([
    ['two runs', 'a\nx\nb\ny\nc\n', 'a\nX\nb\nY\nc\n', 2],
    ['a run alone', 'a\nx\nc\n', 'a\nX\nc\n', 1],
    ['added lines with a blank one between', 'a\n', 'a\n1\n2\n\n3\n', 2],
    ['a new file', '', '1\n\n2\n\n\n3\n', 4],
    ['lines that only go', 'a\nb\nc\n', 'c\n', 1],
  ])('%s', (_, before, after, count) => expect(partsOf(before, after)).toHaveLength(count))

  test('taken back all together give the old bytes, each by itself its own lines alone', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [old, fresh] = [bytes(before), bytes(after)]
        const parts = partsOf(before, after)
        expect(reverseHunks(old, fresh, parts).toString()).toBe(before)
        for (const part of parts) {
          const rest = parts.filter((one) => one !== part)
          const changed = (one: typeof part) => one.lines.filter(({ kind }) => kind !== 'context').length
          // What stays of the change is the other parts' lines, at the most.
          const left = lineHunks(old, reverseHunks(old, fresh, [part]), 0).flatMap((hunk) => hunk.lines)
          expect(left.length).toBeLessThanOrEqual(rest.reduce((sum, one) => sum + changed(one), 0))
        }
      }),
      { numRuns: pureRuns(300) },
    )
  })
})
