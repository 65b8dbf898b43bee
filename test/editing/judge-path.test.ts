import { describe, expect, test } from 'vitest'
import { Draft } from '../../src/editing/draft.ts'
import { judgePath } from '../../src/editing/judge-path.ts'
import { Reads } from '../../src/editing/reads.ts'
import { Work } from '../../src/editing/work.ts'
import { complete, type Draft as Edit, fileOf, replace } from './submit.ts'

/** Judges edits of `a.txt` that may cost no more than so many bytes of searching. */
function judged(content: string, edits: readonly Edit[], workBytes: number) {
  const draft = new Draft(new Map([['a.txt', fileOf(content)]]), new Work(workBytes))
  const context = {
    draft,
    reads: new Reads([]),
    maxTier: 'unicode',
    carry: false,
    fileMaxBytes: 1e6,
  } as const
  return judgePath(context, 'a.txt', complete(edits))
}

describe('a batch that asks for too much searching', () => {
  test('is refused edit by edit, and leaves the file as it was', () => {
    const edits = [replace('nowhere', 'x'), replace('nor here', 'y')]
    const { failures, next } = judged('text\n'.repeat(200), edits, 500)
    expect(failures.map(({ item, code }) => `${item} ${code}`)).toEqual(['0 too-large', '1 too-large'])
    expect(next.kind === 'file' && next.text.bytes.toString()).toBe('text\n'.repeat(200))
  })

  test('is refused as well where only writing the result is too much', () => {
    const write: Edit = { op: 'write', content: Buffer.alloc(600, 'x') }
    expect(judged('a\n', [write], 500).failures.map(({ code }) => code)).toEqual(['too-large'])
  })

  test('is not what an ordinary one is', () => {
    expect(judged('a\n', [replace('a', 'b')], 500).failures).toEqual([])
  })
})
