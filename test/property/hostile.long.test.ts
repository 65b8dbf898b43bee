import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { translateBatch } from '../../src/dialects/registry.ts'
import { resolve } from '../../src/editing/resolve.ts'
import { Work } from '../../src/editing/work.ts'
import { parseBatch } from '../../src/intake/batch.ts'
import { limits } from '../../src/model/limits.ts'
import { encodeBase85 } from '../dialects/base85.ts'
import { submit } from '../dialects/in-memory.ts'
import { bytesOf, fileOf } from '../editing/submit.ts'
import { hostileShapes } from './hostile-shapes.ts'

const batch = (more: object) => ({ version: 1, title: 't', ...more })

type Made = ReturnType<(typeof hostileShapes)[number]['make']>

/** What the engine's searching costs, the bytes of the batch and its files together, and the codes of what fails. */
function played({ batch: more, files }: Made, mostWork: number = Number.MAX_SAFE_INTEGER) {
  const bytes = Buffer.from(JSON.stringify(batch(more)))
  const states = new Map(Object.entries(files).map(([path, content]) => [path, fileOf(content)]))
  const work = new Work(mostWork)
  const size = Object.values(files).reduce((sum, content) => sum + bytesOf(content).length, bytes.length)
  const parsed = parseBatch(bytes)
  const translated = parsed.kind === 'batch' ? translateBatch(parsed.batch, { root: '/r' }) : parsed
  if (parsed.kind !== 'batch' || translated.kind !== 'edits') return { spent: 0, bytes: size, codes: [] }
  const options = { maxTier: 'unicode', carry: false, fileMaxBytes: limits.fileMaxBytes } as const
  const { reads } = parsed.batch
  const resolution = resolve({ edits: translated.edits, files: states, reads, options }, work)
  const codes = resolution.kind === 'refused' ? resolution.failures.map(({ code }) => code) : []
  return { spent: work.spent, bytes: size, codes }
}

/**
 * Inputs made to cost much. How long each takes, and how that grows, is printed by `npm run bench -- editing`; here they
 * must end, and as said: in a result, or in a refusal by a stated limit.
 */
describe('a hostile batch', () => {
  test.each(hostileShapes)('of $name ends: $ends', ({ make, size, ends }) => {
    const made = make(size)
    const ending = submit(batch(made.batch), made.files)
    expect(ending.kind === 'refused' ? ending.failures[0]?.code : 'resolved').toBe(ends)
  })

  test.each(hostileShapes.filter(({ squared }) => squared !== 'cut'))(
    'of $name costs searching in proportion to its size',
    ({ make, size, squared }) => {
      const [small, large] = [played(make(size / 4)), played(make(size / 2))]
      const inputs = large.bytes / small.bytes
      // A few passes over the file go before its indexes are made.
      const beginning = 32 * large.bytes
      const grown = small.spent * inputs * (squared === undefined ? 1 : inputs)
      expect(large.spent).toBeLessThanOrEqual(1.1 * grown + beginning)
    },
  )

  test.each([
    [
      'replaces of texts that the file is full of',
      (i: number) => ({ op: 'replace', path: 'a', old: `${'a'.repeat(60 + (i % 900))}b`, new: 'x' }),
    ],
    ['places of every letter', () => ({ op: 'replace', path: 'a', old: 'a', new: 'b', all: true })],
  ] as const)('of very many %s uses up its work and is refused', (_, edit) => {
    const edits = Array.from({ length: 2000 }, (__, i) => edit(i))
    const made = { batch: { edits }, files: { a: 'a'.repeat(200_000) } }
    expect(played(made, limits.searchMaxBytes / 16).codes).toContain('too-large')
  })

  test('names every failing edit once, though each overlaps all others a thousand times', () => {
    const edits = Array.from({ length: 50 }, (_, i) => ({
      op: 'replace',
      path: 'a',
      old: 'ab',
      new: `${i}`,
      all: true,
    }))
    const ending = submit(batch({ edits }), { a: 'ab'.repeat(1000) })
    expect(ending.kind === 'refused' && ending.failures.map(({ item }) => item)).toEqual(
      edits.map((_, i) => i).slice(1),
    )
  })

  test.each([
    ['lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['lists that do not end', '['.repeat(1_000_000)],
  ])('of nested %s is refused by the limit on depth', (_, nested) => {
    const parsed = parseBatch(Buffer.from(`{"version":1,"title":"t","edits":${nested}}`))
    expect(parsed).toMatchObject({ kind: 'refused', refusal: { code: 'too-large' } })
  })

  test('of more edits than the limit is refused', () => {
    const edits = Array.from({ length: limits.batchMaxEdits + 1 }, (_, i) => ({
      op: 'append',
      path: 'a',
      content: `${i}`,
    }))
    expect(submit(batch({ edits }), { a: '' })).toMatchObject({
      kind: 'refused',
      failures: [{ code: 'too-large' }],
    })
  })
})

describe('a binary patch that inflates to much', () => {
  const section = (n: number, bytes: number): string => {
    const data = encodeBase85(deflateSync(Buffer.alloc(bytes))).join('\n')
    return `diff --git a/f${n} b/f${n}\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'1'.repeat(40)}\nGIT binary patch\nliteral ${bytes}\n${data}\n\n`
  }
  const files = (count: number, bytes: number) => Array.from({ length: count }, (_, n) => section(n, bytes))

  test('is refused where all of one diff come to more than the limit', () => {
    const text = files(6, 48 * 1024 * 1024).join('')
    expect(text.length).toBeLessThan(limits.batchMaxBytes / 20)
    expect(submit(batch({ edits: [{ op: 'diff', text }] }), {})).toMatchObject({
      kind: 'refused',
      failures: [{ code: 'too-large' }],
    })
  })

  test('is refused where all of one batch do', () => {
    const edits = files(7, 48 * 1024 * 1024).map((text) => ({ op: 'diff', text }))
    expect(submit(batch({ edits }), {})).toMatchObject({
      kind: 'refused',
      failures: [{ item: 6, code: 'too-large' }],
    })
  })
})
