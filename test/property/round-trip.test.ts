import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineHunks } from '../../src/editing/diff-lines.ts'
import type { Hunk } from '../../src/model/edit.ts'
import { type Draft, submit } from '../editing/submit.ts'
import { pureRuns } from '../helpers/runs.ts'

const content = fc
  .tuple(
    fc.boolean(),
    fc.array(fc.constantFrom('a', 'b', 'c ', '', 'é'), { maxLength: 14 }),
    fc.constantFrom('\n', '\n', '\r\n'),
    fc.boolean(),
  )
  .map(([mark, lines, ending, ends]) => {
    const joined = lines.map((line, i) => line + (i < lines.length - 1 || ends ? ending : '')).join('')
    return Buffer.from((mark && joined !== '' ? '\ufeff' : '') + joined)
  })

/** The diff of two contents as a unified edit. */
function diff(before: Buffer, after: Buffer, context: number): Draft {
  const hunks = lineHunks(before, after, context).map(
    (hunk, index): Hunk => ({
      anchors: [],
      oldStart: hunk.oldStart,
      lines: hunk.lines,
      endOfFile: false,
      sourceLine: index + 1,
    }),
  )
  return { op: 'hunks', flavour: 'unified', hunks }
}

function bytesAfter(before: Buffer, edit: Draft): Buffer | string {
  const resolution = submit({ 'a.txt': before }, [edit], { maxTier: 'exact' })
  if (resolution.kind === 'refused') return JSON.stringify(resolution.failures)
  const after = resolution.files[0]?.after
  return after?.kind === 'file' ? Buffer.from(after.bytes) : 'gone'
}

describe('a diff of two contents', () => {
  test('applied to the first gives the second, byte for byte, with any context', () => {
    fc.assert(
      fc.property(content, content, fc.nat({ max: 3 }), (before, after, context) => {
        fc.pre(!before.equals(after))
        expect(bytesAfter(before, diff(before, after, context))).toEqual(after)
      }),
      { numRuns: pureRuns(1500) },
    )
  })

  test('is found again below lines that were added on top', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 6, maxLength: 12 })
    fc.assert(
      fc.property(lines, fc.nat(), (chosen, at) => {
        const before = chosen.map((line, i) => `${line}${i}\n`)
        const index = 3 + (at % (before.length - 5))
        const after = before.map((line, i) => (i === index ? 'changed\n' : line))
        const edit = diff(Buffer.from(before.join('')), Buffer.from(after.join('')), 2)
        expect(bytesAfter(Buffer.from(`new\n${before.join('')}`), edit).toString()).toBe(
          `new\n${after.join('')}`,
        )
      }),
      { numRuns: pureRuns(200) },
    )
  })
})
