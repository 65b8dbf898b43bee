import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteFinder } from '../../src/editing/find-bytes.ts'
import { findLinear, findOccurrences } from '../../src/editing/find-linear.ts'
import { Work, WorkExhausted } from '../../src/editing/work.ts'
import { pureRuns } from '../helpers/runs.ts'

const work = (): Work => new Work(1e12)

/** Every place, by Node's own search. */
function naive(bytes: Buffer, needle: Buffer): readonly number[] {
  const found: number[] = []
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) found.push(at)
  return found
}

/** A finder that has passed over its bytes so often that it uses its indexes. */
function indexed(bytes: Buffer): ByteFinder {
  const finder = new ByteFinder(bytes, work())
  for (let i = 0; i < 8; i++) finder.find(Buffer.from('\x01\x02\x03'), { limit: 1 })
  return finder
}

const few = fc.integer({ min: 97, max: 99 })
/** Letters drawn from a number: an array of thousands of arbitraries would take longer than the search. */
const haystack = fc.tuple(fc.nat(), fc.integer({ min: 1400, max: 2000 })).map(([seed, length]) => {
  let state = seed
  return Buffer.from(
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
      return 97 + ((state >> 16) % 3)
    }),
  )
})

describe('finding bytes', () => {
  test('gives what looking at every place gives, by pass and by index, for needles of all lengths', () => {
    const cases = fc.tuple(
      haystack,
      fc.nat(),
      fc.integer({ min: 1, max: 60 }),
      fc.array(few, { maxLength: 3 }),
    )
    fc.assert(
      fc.property(cases, ([bytes, at, length, tail]) => {
        const from = at % (bytes.length - length)
        const needle = Buffer.concat([bytes.subarray(from, from + length), Buffer.from(tail)])
        const expected = naive(bytes, needle)
        const all = { limit: Number.POSITIVE_INFINITY }
        expect([...findLinear(bytes, needle, 0)]).toEqual(expected)
        expect([...findOccurrences(bytes, needle, 0, new Work(1e12))]).toEqual(expected)
        expect(new ByteFinder(bytes, work()).find(needle, all)).toEqual(expected)
        expect(indexed(bytes).find(needle, all)).toEqual(expected)
      }),
      { numRuns: pureRuns(150) },
    )
  })

  test('keeps to its range, its limit and what is accepted', () => {
    const bytes = Buffer.from('ab'.repeat(2000))
    for (const finder of [new ByteFinder(bytes, work()), indexed(bytes)]) {
      const options = { limit: 3, from: 5, to: 15, accept: (at: number) => at !== 6 }
      expect(finder.find(Buffer.from('aba'), options)).toEqual([8, 10, 12])
      expect(finder.find(Buffer.from('aba'), { ...options, limit: 2 })).toEqual([8, 10])
      expect(finder.find(Buffer.alloc(0), options)).toEqual([])
      expect(finder.find(Buffer.from('aba'), { ...options, to: 3 })).toEqual([])
    }
  })

  test('does not take the product of both lengths on text made for it', () => {
    const bytes = Buffer.alloc(200_000, 'a')
    const half = 'a'.repeat(50_000)
    expect([...findOccurrences(bytes, Buffer.from(`${half}b${half}`), 0, new Work(1e12))]).toEqual([])
    expect([...findOccurrences(bytes, Buffer.from(`b${half}`), 0, new Work(1e12))]).toEqual([])
  })

  test('stops when the batch has used up its work', () => {
    const finder = new ByteFinder(Buffer.alloc(1000, 'a'), new Work(2500))
    const look = () => finder.find(Buffer.from('b'), { limit: 1 })
    look()
    look()
    expect(look).toThrow(WorkExhausted)
  })
})
