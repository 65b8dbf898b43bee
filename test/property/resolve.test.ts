import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { resolve } from '../../src/editing/resolve.ts'
import type { Edit } from '../../src/model/edit.ts'
import {
  blobOf,
  complete,
  type Draft,
  edited,
  fileOf,
  filesAfter,
  replace,
  submit,
} from '../editing/submit.ts'
import { pureRuns } from '../helpers/runs.ts'
import {
  content,
  contentWithEdits,
  edits,
  files,
  linesOf,
  options,
  readsOf,
  text,
  withBlobs,
} from './arbitraries.ts'

describe('resolving', () => {
  test('never throws, gives the same again, and leaves its input alone', () => {
    let resolved = 0
    fc.assert(
      fc.property(edits, files, fc.nat({ max: 4095 }), options, (drawn, states, which, chosen) => {
        const batch = which % 3 === 0 ? withBlobs(drawn, states, which) : drawn
        const request = { edits: batch, files: states, reads: readsOf(states, which), options: chosen }
        const before = JSON.stringify([...states])
        const resolution = resolve(request)
        if (resolution.kind === 'resolved') resolved++
        else expect(resolution.failures.length).toBeGreaterThan(0)
        expect(JSON.stringify(resolve(request))).toBe(JSON.stringify(resolution))
        expect(JSON.stringify([...states])).toBe(before)
      }),
      { numRuns: pureRuns(2000) },
    )
    expect(resolved).toBeGreaterThan(20)
  })

  test('of single edits is total as well, and then often succeeds', () => {
    let resolved = 0
    fc.assert(
      fc.property(edits, content, options, (batch, before, chosen) => {
        const state = fileOf(before)
        const reads = [{ path: 'a', blob: blobOf(before) }]
        const edit = { ...batch[0], path: 'a', step: 0 } as Edit
        const resolution = resolve({ edits: [edit], files: new Map([['a', state]]), reads, options: chosen })
        if (resolution.kind === 'resolved') resolved++
      }),
      { numRuns: pureRuns(4000) },
    )
    expect(resolved).toBeGreaterThan(300)
  })
})

const ordinary = content.filter((each) => each.includes(10))

/** What an edit says of itself: the lines it changed, as they were and as they are. */
interface Changed {
  readonly oldLines?: { readonly from: number; readonly to: number }
  readonly newLines?: { readonly from: number; readonly to: number }
}

const outside = (lines: readonly Buffer[], all: readonly Changed[], side: keyof Changed): string =>
  lines
    .filter((_, index) => !all.some((c) => isWithin(c[side], index + 1)))
    .map((line) => line.toString('latin1'))
    .join('|')

const usesCr = (whole: Buffer): boolean => whole.includes(13) && !whole.includes(10)

const isWithin = (span: Changed['oldLines'], line: number): boolean =>
  span !== undefined && line >= span.from && line <= span.to

/** The last line gets a terminator where something is put behind it. */
const lastLineEnded = (before: Buffer, kept: string): readonly string[] => {
  const isOpen = before.length > 0 && before.at(-1) !== (before.includes(10) ? 10 : 13)
  return isOpen ? [kept, `${kept}\n`, `${kept}\r\n`, `${kept}\r`] : [kept]
}

describe('bytes outside an edit', () => {
  test('never change: the lines that the answer does not name are those that were there', () => {
    let resolved = 0
    fc.assert(
      fc.property(contentWithEdits(3), ([before, drafts]) => {
        const resolution = submit({ 'a.txt': before }, drafts, { maxTier: 'indent' })
        if (resolution.kind === 'refused') return
        resolved++
        const after = resolution.files[0]?.after
        const result = after?.kind === 'file' ? Buffer.from(after.bytes) : before
        // Where other bytes end the lines now, numbers before and after have nothing to do with one another.
        if (usesCr(before) !== usesCr(result)) return
        const mark = Buffer.from('\ufeff')
        if (before.subarray(0, 3).equals(mark) !== result.subarray(0, 3).equals(mark)) return
        const was = outside(linesOf(before), resolution.results, 'oldLines')
        const is = outside(linesOf(result), resolution.results, 'newLines')
        expect(lastLineEnded(before, was)).toContain(is)
      }),
      { numRuns: pureRuns(2000) },
    )
    expect(resolved).toBeGreaterThan(100)
  })

  test('by lines never change', () => {
    fc.assert(
      fc.property(
        ordinary,
        fc.nat(),
        fc.nat(),
        fc.constantFrom('X', 'X\nY', 'X\n', 'X\nY\nZ\n'),
        (before, a, b, fresh) => {
          const lines = linesOf(before)
          const [from, to] = [a % lines.length, b % lines.length].sort((x, y) => x - y) as [number, number]
          const reads = [{ path: 'a.txt', blob: blobOf(before) }]
          const resolution = submit(
            { 'a.txt': before },
            [{ op: 'lines', from: from + 1, to: to + 1, content: fresh }],
            { reads },
          )
          if (resolution.kind === 'refused') throw new Error(JSON.stringify(resolution.failures))
          const after = resolution.files[0]?.after
          const result = after?.kind === 'file' ? Buffer.from(after.bytes) : Buffer.alloc(0)
          const mark = before.length - Buffer.concat(lines).length
          const head = before.subarray(0, mark + Buffer.concat(lines.slice(0, from)).length)
          const tail = Buffer.concat(lines.slice(to + 1))
          expect(result.subarray(0, head.length)).toEqual(head)
          expect(result.subarray(result.length - tail.length)).toEqual(tail)
          const middle = result.subarray(head.length, result.length - tail.length).toString()
          const isOpen = to === lines.length - 1 && lines[to]?.at(-1) !== 10
          const wanted = isOpen || fresh.endsWith('\n') ? fresh : `${fresh}\n`
          expect(middle.split('\r\n').join('\n')).toBe(wanted)
        },
      ),
      { numRuns: pureRuns(1000) },
    )
  })

  test('by exact text never change', () => {
    fc.assert(
      fc.property(content, content, text, (head, tail, fresh) => {
        const clean = fresh.split('\ud800').join('').split('\n').join('').split('\r').join('')
        const before = Buffer.concat([head, Buffer.from('<needle>'), tail])
        const resolution = submit({ 'a.txt': before }, [replace('<needle>', `[${clean}]`)])
        // Beyond ASCII, a file of another encoding takes no text that does not stand there already.
        const isMixture = !isUtf8(before) && /[^\x00-\x7f]/.test(clean)
        if (isMixture || resolution.kind === 'refused') {
          const code = resolution.kind === 'refused' && resolution.failures[0]?.code
          expect(code).toBe(isMixture ? 'not-utf8' : 'omission')
          return
        }
        const after = resolution.files[0]?.after
        expect(after?.kind === 'file' && Buffer.from(after.bytes)).toEqual(
          Buffer.concat([head, Buffer.from(`[${clean}]`), tail]),
        )
      }),
      { numRuns: pureRuns(1000) },
    )
  })
})

describe('the order of edits of one step', () => {
  const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta']
  const before = names.map((name) => `${name}\n`).join('')
  const byName = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 })
  const change = (name: string): Draft => {
    const line = names.indexOf(name) + 1
    if (line % 3 === 0) return { op: 'lines', from: line, to: line, content: `${name}1\n${name}2` }
    return line % 3 === 1 ? replace(name, name.toUpperCase()) : replace(`${name}\n`, '')
  }

  test('is irrelevant where they are independent', () => {
    fc.assert(
      fc.property(byName, (chosen) => {
        const reads = [{ path: 'a.txt', blob: blobOf(before) }]
        const sorted = [...chosen].sort((a, b) => names.indexOf(a) - names.indexOf(b))
        const inOrder = edited(before, sorted.map(change), { reads })
        expect(edited(before, chosen.map(change), { reads })).toBe(inOrder)
      }),
      { numRuns: pureRuns(200) },
    )
  })

  test('is that of the batch for insertions at one point', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('x', 'y', 'z\n', 'w\nv'), { minLength: 1 }),
        fc.nat({ max: 6 }),
        (texts, after) => {
          const inserts = texts.map(
            (each): Draft => ({ op: 'insert', after, content: each, needsNoRead: true }),
          )
          const lines = before.split('\n').slice(0, -1)
          const added = texts.flatMap((each) => each.replace(/\n$/, '').split('\n'))
          const expected = [...lines.slice(0, after), ...added, ...lines.slice(after)]
          expect(edited(before, inserts)).toBe(`${expected.join('\n')}\n`)
        },
      ),
      { numRuns: pureRuns(200) },
    )
  })
})

describe('many edits', () => {
  test('of one file apply together as they do one by one', () => {
    const lines = Array.from({ length: 4000 }, (_, i) => `line ${i} of the file`)
    const before = `${lines.join('\n')}\n`
    const drafts = Array.from({ length: 1000 }, (_, i) => replace(`line ${4 * i} of`, `LINE ${4 * i}\nof`))
    const after = lines.map((line, i) => (i % 4 === 0 ? `LINE ${i}\nof the file` : line))
    expect(edited(before, drafts)).toBe(`${after.join('\n')}\n`)
    const steps = complete(drafts.slice(0, 200)).map((edit, step) => ({ ...edit, step }) as Draft)
    const partly = lines.map((line, i) => (i % 4 === 0 && i < 800 ? `LINE ${i}\nof the file` : line))
    expect(filesAfter(submit({ 'a.txt': before }, steps))['a.txt']).toBe(`${partly.join('\n')}\n`)
  })
})
