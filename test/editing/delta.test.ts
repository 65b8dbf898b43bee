import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyDelta } from '../../src/editing/delta.ts'
import { pureRuns } from '../helpers/runs.ts'
import { type Draft, edited, filesAfter, refused, submit } from './submit.ts'

const size = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...size(Math.floor(value / 128))]

const insert = (text: string): number[] => [text.length, ...Buffer.from(text)]
const copy = (offset: number, length: number): number[] => [
  0x80 | 0x0f | 0x70,
  ...le(offset, 4),
  ...le(length, 3),
]
const le = (value: number, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256)
const delta = (from: number, to: number, ...steps: number[][]): Buffer =>
  Buffer.from([...size(from), ...size(to), ...steps.flat()])

describe('a delta', () => {
  const source = Buffer.from('0123456789')

  test('copies and inserts', () => {
    const result = applyDelta(source, delta(10, 8, copy(2, 3), insert('ab'), copy(7, 3)), 100)
    expect(result).toEqual({ kind: 'applied', bytes: Buffer.from('234ab789') })
  })

  test('reads a copy of 64 KiB, which is written as size 0', () => {
    const big = Buffer.alloc(0x10000, 'x')
    const result = applyDelta(big, Buffer.from([...size(0x10000), ...size(0x10000), 0x80]), 0x10000)
    expect(result).toEqual({ kind: 'applied', bytes: big })
  })

  test.each([
    ['another source', delta(9, 1, insert('a'))],
    ['another result', delta(10, 2, insert('a'))],
    ['a result that is longer than stated', delta(10, 1, insert('ab'))],
    ['a result above the limit', delta(10, 101, copy(0, 10))],
    ['a copy beyond the source', delta(10, 4, copy(8, 4))],
    ['a cut insertion', Buffer.from([10, 3, 3, 65])],
    ['a cut copy', Buffer.from([10, 3, 0x91, 0])],
    ['the reserved instruction', Buffer.from([10, 1, 0, 1, 65])],
    ['a size without end', Buffer.alloc(20, 0xff)],
    ['nothing', Buffer.alloc(0)],
  ])('is faulty with %s', (_name, bytes) => {
    expect(applyDelta(source, bytes, 100).kind).toBe('faulty')
  })

  test('never throws and never exceeds the limit', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (from, bytes) => {
        const result = applyDelta(Buffer.from(from), Buffer.from([from.length, ...bytes]), 50)
        expect(result.kind === 'faulty' || result.bytes.length <= 50).toBe(true)
      }),
      { numRuns: pureRuns(2000) },
    )
  })

  test('edits a binary file, moves with it and takes a mode along', () => {
    const edit: Draft = { op: 'delta', delta: delta(3, 4, copy(0, 2), insert('xy')) }
    expect(edited('a\0b', [edit])).toBe('a\0xy')
    const moved = submit({ 'a.txt': 'a\0b' }, [
      edit,
      { op: 'move', to: 'b.txt' },
      { op: 'chmod', executable: true },
    ])
    expect(filesAfter(moved)).toEqual({ 'a.txt': null, 'b.txt': 'a\0xy' })
  })

  test('that is faulty is a parse-error, and clashes with other contents', () => {
    const edit: Draft = { op: 'delta', delta: delta(99, 1, insert('x')) }
    expect(refused('abc', [edit]).code).toBe('parse-error')
    expect(refused('abc', [edit, { op: 'append', content: 'x' }]).code).toBe('overlap')
    expect(refused('abc', [edit, { op: 'write', content: Buffer.from('x') }]).code).toBe('overlap')
  })
})
