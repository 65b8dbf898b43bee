import fc from 'fast-check'
import type { Edit, Hunk, HunkLine } from '../../src/model/edit.ts'
import { tiers } from '../../src/model/edit.ts'
import type { FileState, ReadRecord } from '../../src/model/file-state.ts'
import { blobOf, type Draft, fileOf } from '../editing/submit.ts'

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
export const content = fc
  .tuple(
    fc.boolean(),
    fc.array(fc.constantFrom(...pieces.map((p) => Buffer.from(p)), Buffer.from([0xe9])), { maxLength: 20 }),
  )
  .map(([mark, parts]) => Buffer.concat([Buffer.from(mark ? '\ufeff' : ''), ...parts]))
export const text = fc
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

export const operation = fc.oneof(
  fc.record({
    op: fc.constant('replace'),
    old: text,
    new: text,
    all: fc.boolean(),
    wholeLines: fc.boolean(),
    count: fc.constantFrom(1, 2),
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
    pastEnd: fc.constantFrom('refuse', 'clamp'),
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
  fc.record({
    op: fc.constant('hunks'),
    flavour: fc.constant('unified'),
    hunks: fc.array(hunk, { maxLength: 2 }),
    preimage: fc.constantFrom('e69de29', 'abcdef0'),
  }),
  fc.record({ op: fc.constant('delta'), delta: fc.uint8Array({ maxLength: 10 }) }),
  fc.record({
    op: fc.constant('cell'),
    cell: fc.oneof(fc.constant(null), fc.record({ index: number }), fc.record({ id: text })),
    action: fc.constantFrom('replace', 'insert-after', 'delete'),
    source: text,
  }),
)

export const edits = fc
  .array(fc.tuple(operation, path, fc.nat({ max: 2 })), { minLength: 1, maxLength: 4 })
  .map((all) => all.map(([edit, at, step], item) => ({ ...edit, item, path: at, step }) as Edit))

export const files = fc
  .array(fc.tuple(path, content, fc.boolean()), { maxLength: 4 })
  .map((all) => new Map(all.map(([at, each, bit]): [string, FileState] => [at, fileOf(each, bit)])))

export const options = fc.record({
  maxTier: fc.constantFrom(...tiers),
  carry: fc.boolean(),
  fileMaxBytes: fc.constantFrom(5, 1000),
})

/** Edits that name a blob: none, the file's own, that of another content, or absence. */
export const withBlobs = (
  batch: readonly Edit[],
  states: ReadonlyMap<string, FileState>,
  which: number,
): readonly Edit[] =>
  batch.map((edit, index) => {
    const state = states.get(edit.path)
    const choice = (which >> (2 * index)) % 4
    if (choice === 0) return edit
    if (choice === 1 && state?.kind === 'file') return { ...edit, blob: state.blob }
    return { ...edit, blob: choice === 2 ? blobOf('a\n') : null }
  })

/** Reads that hold, do not hold, or showed a part. */
export const readsOf = (states: ReadonlyMap<string, FileState>, which: number): readonly ReadRecord[] =>
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

/** The lines of a content as the engine takes them, each with its terminator; a byte-order mark belongs to none. */
export function linesOf(whole: Buffer): readonly Buffer[] {
  const start = whole.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0
  const terminator = whole.includes(13) && !whole.includes(10) ? 13 : 10
  const lines: Buffer[] = []
  for (let at = start; at < whole.length; ) {
    const found = whole.indexOf(terminator, at)
    const end = found === -1 ? whole.length : found + 1
    lines.push(whole.subarray(at, end))
    at = end
  }
  return lines
}

/** What to make of a content: numbers that pick lines or bytes of it, and a text to put there. */
const picks = fc.record({
  a: fc.nat(),
  b: fc.nat(),
  fresh: text,
  flag: fc.boolean(),
  tier: fc.constantFrom(...tiers),
})
type Picks = typeof picks extends fc.Arbitrary<infer T> ? T : never

/** Edits of `a.txt` that name text, lines or places which it really has. */
const makers: readonly ((whole: Buffer, lines: readonly Buffer[], picks: Picks) => Draft)[] = [
  (whole, _, { a, b, fresh, tier }) => {
    const [from, to] = [a % (whole.length + 1), b % (whole.length + 1)].sort((x, y) => x - y) as [
      number,
      number,
    ]
    return { op: 'replace', old: whole.toString('utf8', from, to), new: fresh, maxTier: tier }
  },
  (_, lines, { a, b, fresh, flag, tier }) => {
    const old = Buffer.concat(picked(lines, a, b)).toString('utf8')
    return {
      op: 'replace',
      old: flag ? old : old.split('\r\n').join('\n'),
      new: fresh,
      wholeLines: true,
      maxTier: tier,
    }
  },
  (whole, lines, { a, b, fresh, flag }) => {
    const from = 1 + (a % (lines.length + 1))
    return {
      op: 'lines',
      from,
      to: flag ? from + (b % 3) : null,
      content: fresh,
      blob: blobOf(whole),
      pastEnd: 'clamp',
    }
  },
  (whole, lines, { a, fresh }) => ({
    op: 'insert',
    after: a % (lines.length + 1),
    content: fresh,
    blob: blobOf(whole),
  }),
  (_, __, { fresh }) => ({ op: 'append', content: fresh }),
  (whole, lines, { a, b, fresh, flag }) => ({
    op: 'hunks',
    flavour: flag ? 'unified' : 'envelope',
    hunks: [hunkOf(lines, { a, b, fresh })],
    ...(flag ? { preimage: blobOf(whole) } : {}),
  }),
]

function picked(lines: readonly Buffer[], a: number, b: number): readonly Buffer[] {
  const from = a % (lines.length + 1)
  return lines.slice(from, from + 1 + (b % 3))
}

const withoutEnding = (line: Buffer): Buffer => (line.at(-1) === 10 ? line.subarray(0, -1) : line)

function hunkOf(lines: readonly Buffer[], { a, b, fresh }: Pick<Picks, 'a' | 'b' | 'fresh'>): Hunk {
  const old = picked(lines, a, b)
  const kept = b % 5
  const body = old.map(
    (line, index): HunkLine => ({
      kind: index < kept % 3 ? 'context' : 'remove',
      text: withoutEnding(line),
      ...(line.at(-1) === 10 ? {} : { unterminated: true }),
    }),
  )
  const added = fresh.split('\n').map((each): HunkLine => ({ kind: 'add', text: Buffer.from(each) }))
  const oldStart =
    old.length === 0 ? Math.min(a % (lines.length + 1), lines.length) : 1 + (a % (lines.length + 1))
  return { anchors: [], oldStart, lines: [...body, ...added], endOfFile: false, sourceLine: 1 }
}

/** A content and edits made for it. */
export const contentWithEdits = (most: number): fc.Arbitrary<readonly [Buffer, readonly Draft[]]> =>
  fc
    .tuple(content, fc.array(fc.tuple(fc.nat(makers.length - 1), picks), { minLength: 1, maxLength: most }))
    .map(([whole, chosen]) => {
      const lines = linesOf(whole)
      return [whole, chosen.flatMap(([which, each]) => makers[which]?.(whole, lines, each) ?? [])] as const
    })
