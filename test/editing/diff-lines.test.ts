import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countLines, type LineHunk, lineHunks } from '../../src/editing/diff-lines.ts'
import { pureRuns } from '../helpers/runs.ts'

const show = (before: string, after: string, context: number): string =>
  lineHunks(Buffer.from(before), Buffer.from(after), context).map(shown).join('\n')

const signs = { context: ' ', add: '+', remove: '-' } as const

const shown = (hunk: LineHunk): string =>
  [
    `@@ -${hunk.oldStart},${hunk.oldCount} +${hunk.newStart},${hunk.newCount} @@`,
    ...hunk.lines.map(
      (line) => `${signs[line.kind]}${Buffer.from(line.text)}${line.unterminated ? '\\' : ''}`,
    ),
  ].join('\n')

/** Applies hunks as `patch` would. */
function patched(before: string, hunks: readonly LineHunk[]): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const result: string[] = []
  let at = 0
  for (const hunk of hunks) {
    const start = hunk.oldCount === 0 ? hunk.oldStart : hunk.oldStart - 1
    result.push(...old.slice(at, start))
    at = start + hunk.oldCount
    const kept = hunk.lines.filter((line) => line.kind !== 'remove')
    result.push(...kept.map((line) => `${Buffer.from(line.text)}${line.unterminated ? '' : '\n'}`))
    expect(
      hunk.lines.filter((line) => line.kind !== 'add').map((line) => Buffer.from(line.text).toString()),
    ).toEqual(old.slice(start, at).map((line) => line.replace(/\n$/, '')))
  }
  return [...result, ...old.slice(at)].join('')
}

/** Lines that two texts have in common, by the table of all prefixes. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0)
  for (const x of a) {
    const next = [0]
    for (const [j, y] of b.entries())
      next.push(x === y ? (row[j] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0))
    row = next
  }
  return row[b.length] ?? 0
}

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 25 }), fc.boolean())
  .map(([lines, ends]) => {
    const joined = lines.join('\n')
    return ends && lines.length > 0 ? `${joined}\n` : joined
  })

describe('a line diff', () => {
  test.each([
    ['a\nb\nc\n', 'a\nB\nc\n', 1, '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c'],
    ['', 'x\n', 3, '@@ -0,0 +1,1 @@\n+x'],
    ['x\n', '', 3, '@@ -1,1 +0,0 @@\n-x'],
    ['a\nb', 'a\nb\n', 0, '@@ -2,1 +2,1 @@\n-b\\\n+b'],
    ['a\nc\n', 'a\nb\nc\n', 0, '@@ -1,0 +2,1 @@\n+b'],
    ['a\n', 'a\r\n', 0, '@@ -1,1 +1,1 @@\n-a\n+a\r'],
    ['f {\n}\n', 'f {\n}\nf {\n}\n', 1, '@@ -2,1 +2,3 @@\n }\n+f {\n+}'],
    ['same\n', 'same\n', 3, ''],
  ])('of %j and %j', (before, after, context, expected) => {
    expect(show(before, after, context)).toBe(expected)
  })

  test('joins hunks whose context would touch', () => {
    const before = '1\n2\n3\n4\n5\n'
    expect(lineHunks(Buffer.from(before), Buffer.from('X\n2\n3\n4\nY\n'), 2)).toHaveLength(1)
    expect(lineHunks(Buffer.from(before), Buffer.from('X\n2\n3\n4\nY\n'), 1)).toHaveLength(2)
  })

  test('applied gives the new text, counts what it shows, and is no longer than need be', () => {
    fc.assert(
      fc.property(text, text, fc.nat({ max: 3 }), (before, after, context) => {
        const hunks = lineHunks(Buffer.from(before), Buffer.from(after), context)
        expect(patched(before, hunks)).toBe(after)
        const counts = countLines(Buffer.from(before), Buffer.from(after))
        const lines = hunks.flatMap((hunk) => hunk.lines)
        expect(lines.filter((line) => line.kind === 'add')).toHaveLength(counts?.added ?? -1)
        expect(lines.filter((line) => line.kind === 'remove')).toHaveLength(counts?.removed ?? -1)
        const split = (value: string): readonly string[] => value.match(/[^\n]*\n|[^\n]+$/g) ?? []
        expect(split(before).length - (counts?.removed ?? 0)).toBe(common(split(before), split(after)))
      }),
      { numRuns: pureRuns(2000) },
    )
  })

  test('of texts that differ too much is still right', () => {
    const lines = (seed: number): string =>
      Array.from({ length: 6000 }, (_, i) => `${(i * seed + (i % 7) * 31) % 97}`).join('\n')
    const [before, after] = [lines(7919), lines(104_729)]
    expect(patched(before, lineHunks(Buffer.from(before), Buffer.from(after), 3))).toBe(after)
  })

  test('finds unique lines where blocks have moved far', () => {
    const block = (name: string): string =>
      Array.from({ length: 1500 }, (_, i) => `${name} ${i}\n}\n`).join('')
    const before = block('a') + block('b')
    const after = block('b') + block('a')
    const counts = countLines(Buffer.from(before), Buffer.from(after))
    expect(counts?.added).toBeLessThanOrEqual(3000)
    expect(patched(before, lineHunks(Buffer.from(before), Buffer.from(after), 3))).toBe(after)
  })

  test('of an absent file counts all lines', () => {
    expect(countLines(null, Buffer.from('a\nb'))).toEqual({ added: 2, removed: 0 })
    expect(countLines(Buffer.from('a\n'), null)).toEqual({ added: 0, removed: 1 })
    expect(countLines(null, null)).toEqual({ added: 0, removed: 0 })
  })

  test('has no counts for binary content', () => {
    expect(countLines(Buffer.from('a\0'), Buffer.from('a'))).toBeNull()
    expect(countLines(null, Buffer.from('\0'))).toBeNull()
  })
})
