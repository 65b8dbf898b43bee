import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { resolve } from '../../src/editing/resolve.ts'
import type { Edit, HunkLine } from '../../src/model/edit.ts'
import { tiers } from '../../src/model/edit.ts'
import type { FileState, ReadRecord } from '../../src/model/file-state.ts'
import { blobOf, complete, type Draft, edited, fileOf, filesAfter, replace, submit } from './submit.ts'

/** Lines of a file with endings of all kinds, bytes that are not UTF-8, blanks and look-alikes. */
const pieces = [
  'a',
  'b c',
  '  d',
  'e ',
  '\t',
  'é',
  '“q”',
  '\u00a0',
  '// ...',
  '}',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '',
]
const content = fc
  .tuple(
    fc.boolean(),
    fc.array(fc.constantFrom(...pieces.map((p) => Buffer.from(p)), Buffer.from([0xe9])), { maxLength: 20 }),
  )
  .map(([mark, parts]) => Buffer.concat([Buffer.from(mark ? '\ufeff' : ''), ...parts]))
const text = fc
  .array(fc.constantFrom(...pieces, '\ud800', 'x'), { maxLength: 8 })
  .map((parts) => parts.join(''))
const path = fc.constantFrom('a', 'b', 'c', 'd/e', '__proto__')
const number = fc.oneof(
  fc.integer({ min: -1, max: 12 }),
  fc.constantFrom(Number.NaN, 1.5, Number.POSITIVE_INFINITY, 2 ** 40),
)
const bytes = fc.oneof(content, fc.uint8Array({ maxLength: 12 }))

const hunkLine: fc.Arbitrary<HunkLine> = fc.record({
  kind: fc.constantFrom('context' as const, 'remove' as const, 'add' as const),
  text: bytes,
  unterminated: fc.boolean(),
})
const hunk = fc.record({
  anchors: fc.array(text, { maxLength: 2 }),
  oldStart: fc.option(number),
  lines: fc.array(hunkLine, { maxLength: 5 }),
  endOfFile: fc.boolean(),
  sourceLine: fc.nat(),
})

const operation = fc.oneof(
  fc.record({
    op: fc.constant('replace'),
    old: text,
    new: text,
    all: fc.boolean(),
    wholeLines: fc.boolean(),
  }),
  fc.record({
    op: fc.constant('replace'),
    old: text,
    new: text,
    all: fc.boolean(),
    startLine: number,
    maxTier: fc.constantFrom(...tiers),
  }),
  fc.record({
    op: fc.constant('lines'),
    from: number,
    to: fc.option(number),
    content: fc.option(text),
    expectedOrder: fc.constantFrom('in-order', 'any-order'),
  }),
  fc.record({
    op: fc.constant('lines'),
    from: number,
    to: number,
    content: text,
    expected: text,
    expectedOrder: fc.constant('in-order'),
  }),
  fc.record({ op: fc.constant('insert'), after: number, content: text, needsNoRead: fc.boolean() }),
  fc.record({ op: fc.constant('append'), content: text }),
  fc.record({
    op: fc.constant('write'),
    content: bytes,
    mode: fc.constantFrom('create', 'overwrite', 'either'),
    isText: fc.boolean(),
  }),
  fc.record({ op: fc.constant('delete') }),
  fc.record({ op: fc.constantFrom('move', 'copy'), to: path }),
  fc.record({ op: fc.constant('chmod'), executable: fc.boolean() }),
  fc.record({
    op: fc.constant('hunks'),
    flavour: fc.constantFrom('unified', 'envelope'),
    hunks: fc.array(hunk, { maxLength: 3 }),
  }),
  fc.record({ op: fc.constant('delta'), delta: fc.uint8Array({ maxLength: 10 }) }),
  fc.record({
    op: fc.constant('cell'),
    cell: fc.oneof(fc.constant(null), fc.record({ index: number }), fc.record({ id: text })),
    action: fc.constantFrom('replace', 'insert-after', 'delete'),
    source: text,
  }),
)

const edits = fc
  .array(fc.tuple(operation, path, fc.nat({ max: 2 })), { minLength: 1, maxLength: 4 })
  .map((all) => all.map(([edit, at, step], item) => ({ ...edit, item, path: at, step }) as Edit))

const files = fc
  .array(fc.tuple(path, content, fc.boolean()), { maxLength: 4 })
  .map((all) => new Map(all.map(([at, each, bit]): [string, FileState] => [at, fileOf(each, bit)])))

const options = fc.record({
  maxTier: fc.constantFrom(...tiers),
  carry: fc.boolean(),
  fileMaxBytes: fc.constantFrom(5, 1000),
})

/** Reads that hold, do not hold, or showed a part. */
const readsOf = (states: ReadonlyMap<string, FileState>, which: number): readonly ReadRecord[] =>
  [...states].flatMap(([at, state], index): ReadRecord[] => {
    if (state.kind === 'absent' || (which >> (2 * index)) % 4 === 0) return []
    const old = Buffer.concat([Buffer.from('new\n'), state.bytes])
    const kinds: readonly ReadRecord[] = [
      { path: at, blob: state.blob },
      { path: at, blob: state.blob, lines: [{ from: 1, to: 2 }] },
      { path: at, blob: blobOf(old), bytes: old },
    ]
    return [kinds[((which >> (2 * index)) % 4) - 1] ?? { path: at, blob: null }]
  })

describe('resolving', () => {
  test('never throws, gives the same again, and leaves its input alone', () => {
    let resolved = 0
    fc.assert(
      fc.property(edits, files, fc.nat({ max: 4095 }), options, (batch, states, which, chosen) => {
        const request = { edits: batch, files: states, reads: readsOf(states, which), options: chosen }
        const before = JSON.stringify([...states])
        const resolution = resolve(request)
        if (resolution.kind === 'resolved') resolved++
        else expect(resolution.failures.length).toBeGreaterThan(0)
        expect(JSON.stringify(resolve(request))).toBe(JSON.stringify(resolution))
        expect(JSON.stringify([...states])).toBe(before)
      }),
      { numRuns: 2000 },
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
      { numRuns: 4000 },
    )
    expect(resolved).toBeGreaterThan(300)
  })
})

/** Splits bytes into lines at LF, as a model of the engine's own. */
function linesOf(whole: Buffer): readonly Buffer[] {
  const start = whole.subarray(0, 3).toString('latin1') === '\xef\xbb\xbf' ? 3 : 0
  const lines: Buffer[] = []
  let at = start
  while (at < whole.length) {
    const newline = whole.indexOf(10, at)
    const end = newline === -1 ? whole.length : newline + 1
    lines.push(whole.subarray(at, end))
    at = end
  }
  return lines
}

const ordinary = content.filter((each) => each.includes(10))

describe('bytes outside an edit', () => {
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
      { numRuns: 1000 },
    )
  })

  test('by exact text never change', () => {
    fc.assert(
      fc.property(content, content, text, (head, tail, fresh) => {
        const clean = fresh.split('\ud800').join('').split('\n').join('').split('\r').join('')
        const before = Buffer.concat([head, Buffer.from('<needle>'), tail])
        const resolution = submit({ 'a.txt': before }, [replace('<needle>', `[${clean}]`)])
        if (resolution.kind === 'refused') return expect(resolution.failures[0]?.code).toBe('omission')
        const after = resolution.files[0]?.after
        expect(after?.kind === 'file' && Buffer.from(after.bytes)).toEqual(
          Buffer.concat([head, Buffer.from(`[${clean}]`), tail]),
        )
      }),
      { numRuns: 1000 },
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
