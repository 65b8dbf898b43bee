import { type Content, fileOf } from '../editing/submit.ts'

/** A batch that is made to cost much, of a size to choose, and how it ends: resolved, or refused with a code. */
export interface HostileShape {
  readonly name: string
  /** A size at which it ends within a second or so on any machine. */
  readonly size: number
  readonly make: (size: number) => {
    readonly batch: object
    readonly files: Readonly<Record<string, Content>>
  }
  readonly ends: string
  /**
   * Why the searching may grow with the square of the size; where nothing stands here it grows as the input does. `cut`:
   * a limit ends it early.
   */
  readonly squared?: string
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const lines = (count: number, line: (index: number) => string): string =>
  times(count, (i) => `${line(i)}\n`).join('')
const replace = (old: string, fresh: string, more: object = {}) => ({
  op: 'replace',
  path: 'a',
  old,
  new: fresh,
  ...more,
})
const original = (edits: readonly object[]) => ({ edits })
const sequential = (edits: readonly object[]) => ({ order: 'sequential', edits })
const patch = (body: string) => ({
  edits: [{ op: 'patch', text: `*** Begin Patch\n*** Update File: a\n${body}*** End Patch\n` }],
})
const diff = (body: string) => ({ edits: [{ op: 'diff', text: `--- a/a\n+++ b/a\n${body}` }] })
const blobOf = (content: Content): string => {
  const state = fileOf(content)
  return state.kind === 'file' ? state.blob : ''
}
const notebook = (count: number): string =>
  JSON.stringify({
    cells: times(count, (i) => ({
      cell_type: 'code',
      id: `c${i}`,
      metadata: {},
      outputs: [],
      source: ['a\n', 'b'],
    })),
  })

const few = 'each of n edits is a pass over n lines: bounded by the number of edits, and by Work'

const replaces: readonly HostileShape[] = [
  {
    name: 'many replaces of one file',
    size: 20_000,
    make: (n) => ({
      batch: original(times(n, (i) => replace(`line ${i} x`, `LINE ${i}`))),
      files: { a: lines(n, (i) => `line ${i} x`) },
    }),
    ends: 'resolved',
    squared: 'the texts are made of parts that every line has',
  },
  {
    name: 'many replaces that each see the last',
    size: 2000,
    make: (n) => ({
      batch: sequential(times(n, (i) => replace(`line ${i} x`, `LINE ${i}`))),
      files: { a: lines(n, (i) => `line ${i} x`) },
    }),
    ends: 'resolved',
    squared: few,
  },
  {
    name: 'steps that change a small file to and fro',
    size: 20_000,
    make: (n) => ({
      batch: sequential(times(n, (i) => replace(i % 2 ? 'b' : 'a', i % 2 ? 'a' : 'b'))),
      files: { a: 'a' },
    }),
    ends: 'no-change',
  },
  {
    name: 'many replaces that stand nowhere',
    size: 5000,
    make: (n) => ({
      batch: original(times(n, (i) => replace(`nope ${i}\nline 5\n`, `${i}`))),
      files: { a: lines(n, (i) => `line ${i}`) },
    }),
    ends: 'no-match',
  },
  {
    name: 'texts made of what the file is full of',
    size: 1000,
    make: (n) => ({
      batch: original(times(n, (i) => replace(`${'a'.repeat(100 + i)}b`, 'x'))),
      files: { a: 'a'.repeat(50 * n) },
    }),
    ends: 'no-match',
    squared: few,
  },
  {
    name: 'a hundred thousand candidates',
    size: 100_000,
    make: (n) => ({ batch: original([replace('x', 'y')]), files: { a: lines(n, () => 'x') } }),
    ends: 'ambiguous-match',
  },
  {
    name: 'a hundred thousand places replaced',
    size: 100_000,
    make: (n) => ({
      batch: original([replace('x\n', 'y\n', { all: true })]),
      files: { a: lines(n, () => 'x') },
    }),
    ends: 'resolved',
  },
  {
    name: 'replaces of everything that overlap everywhere',
    size: 100,
    make: (n) => ({
      batch: original(times(n, (i) => replace('ab', `${i}`, { all: true }))),
      files: { a: 'ab'.repeat(10 * n) },
    }),
    ends: 'overlap',
    squared: few,
  },
  {
    name: 'a text that doubles with every step',
    size: 60,
    make: (n) => ({
      batch: sequential(times(n, () => replace('a', 'aa', { all: true }))),
      files: { a: 'a\n' },
    }),
    ends: 'too-large',
    squared: 'cut',
  },
  {
    name: 'a small batch that makes a big file',
    size: 1000,
    make: (n) => ({
      batch: original([replace('a\n', 'b\n'.repeat(500 * n), { all: true })]),
      files: { a: 'a\n'.repeat(n) },
    }),
    ends: 'too-large',
    squared: 'cut',
  },
  {
    name: 'a line of a megabyte',
    size: 1_000_000,
    make: (n) => ({ batch: original([replace(`${'b'.repeat(n / 2)}c`, 'x')]), files: { a: 'b'.repeat(n) } }),
    ends: 'no-match',
  },
  {
    name: 'blanks before the end of a line',
    size: 300_000,
    make: (n) => ({
      batch: original([replace(`x${' '.repeat(n)}\ny`, 'z')]),
      files: { a: `q${' '.repeat(n)}r\n` },
    }),
    ends: 'no-match',
  },
  {
    name: 'marks that a normal form would sort',
    size: 20_000,
    make: (n) => ({
      batch: original([replace(`a${'\u0327\u0301'.repeat(n)}zzzzzzzz`, 'x')]),
      files: { a: `a${'\u0301\u0327'.repeat(n)}zzzzzzzzy\n` },
    }),
    ends: 'no-match',
  },
  {
    name: 'lines that nearly stand for text left out',
    size: 5000,
    make: (n) => ({
      batch: original([
        replace(
          'x',
          lines(n, () => `...  ${' '.repeat(90)}${'unchanged'.repeat(10)}`),
        ),
      ]),
      files: { a: 'x\n' },
    }),
    ends: 'resolved',
  },
  {
    name: 'files written again and again',
    size: 20_000,
    make: (n) => ({
      batch: sequential(times(n, (i) => ({ op: 'write', path: 'a', content: `${i}` }))),
      files: { a: 'q'.repeat(n) },
    }),
    ends: 'resolved',
  },
  {
    name: 'modes of a file set again and again',
    size: 20_000,
    make: (n) => ({
      batch: original(times(n, () => ({ op: 'chmod', path: 'a', executable: true }))),
      files: { a: 'q' },
    }),
    ends: 'resolved',
  },
]

const numbered: readonly HostileShape[] = [
  {
    name: 'quoted lines that do not stand there',
    size: 50_000,
    make: (n) => ({
      batch: original([
        { op: 'lines', path: 'a', from: 1, to: n, content: 'x', expected: lines(n, (i) => `no ${i}`) },
      ]),
      files: { a: lines(n, (i) => `line ${i}`) },
    }),
    ends: 'no-match',
  },
  {
    name: 'quoted lines of one range, over and over',
    size: 500,
    make: (n) => ({
      batch: original(
        times(n, () => ({ op: 'lines', path: 'a', from: 1, to: n, content: 'x', expected: 'q\nw\nr' })),
      ),
      files: { a: lines(n, (i) => `line ${i}`) },
    }),
    ends: 'no-match',
  },
  {
    name: 'many reads, all of other bytes',
    size: 5000,
    make: (n) => ({
      batch: {
        reads: times(n, (i) => ({ path: 'a', blob: (i + 1).toString(16).padStart(40, '0') })),
        edits: times(n, () => ({
          op: 'lines',
          path: 'a',
          from: 1,
          to: 1,
          content: 'x',
          blob: 'f'.repeat(40),
        })),
      },
      files: { a: 'x\n' },
    }),
    ends: 'stale-read',
  },
  {
    name: 'insertions that each move the next',
    size: 3000,
    make: (n) => {
      const a = lines(n, (i) => `l${i}`)
      return {
        batch: {
          order: 'sequential',
          reads: [{ path: 'a', blob: blobOf(a) }],
          edits: times(n, () => ({ op: 'insert', path: 'a', after: n, content: 'x' })),
        },
        files: { a },
      }
    },
    ends: 'resolved',
    squared: few,
  },
  {
    name: 'cells of a notebook',
    size: 1000,
    make: (n) => ({
      batch: {
        order: 'original',
        edits: times(n, (i) => ({
          tool: 'NotebookEdit',
          input: { notebook_path: 'a.ipynb', cell_id: `c${i}`, new_source: `x${i}` },
        })),
      },
      files: { 'a.ipynb': notebook(n) },
    }),
    ends: 'resolved',
  },
]

const texts: readonly HostileShape[] = [
  {
    name: 'a hundred thousand hunks',
    size: 100_000,
    make: (n) => ({
      batch: diff(times(n, (i) => `@@ -${2 * i + 1} +${2 * i + 1} @@\n-line ${2 * i}\n+L${i}\n`).join('')),
      files: { a: lines(2 * n, (i) => `line ${i}`) },
    }),
    ends: 'resolved',
  },
  {
    name: 'hunks of a diff whose numbers are all wrong',
    size: 5000,
    make: (n) => ({
      batch: diff(times(n, (i) => `@@ -1 +1 @@\n-line ${3 * i + 1}\n+L${i}\n`).join('')),
      files: { a: lines(3 * n, (i) => `line ${i}`) },
    }),
    ends: 'resolved',
  },
  {
    name: 'sections of a diff for one file',
    size: 2000,
    make: (n) => ({
      batch: {
        edits: [
          {
            op: 'diff',
            text: times(n, (i) => `--- a/a\n+++ b/a\n@@ -${i + 1} +${i + 1} @@\n-line ${i}\n+L${i}\n`).join(
              '',
            ),
          },
        ],
      },
      files: { a: lines(n, (i) => `line ${i}`) },
    }),
    ends: 'resolved',
    squared: few,
  },
  {
    name: 'a million headers of hunks',
    size: 999_000,
    make: (n) => ({ batch: diff('@@ -1 +1 @@\n'.repeat(n)), files: { a: 'x\n' } }),
    ends: 'parse-error',
  },
  {
    name: 'a million @@',
    size: 999_000,
    make: (n) => ({ batch: patch('@@\n'.repeat(n)), files: { a: 'x\n' } }),
    ends: 'parse-error',
  },
  {
    name: 'anchors below anchors',
    size: 20_000,
    make: (n) => ({
      batch: patch(`${'@@ f\n'.repeat(n)}-x\n+y\n`),
      files: { a: `${lines(n, () => ' f')}x\n` },
    }),
    ends: 'resolved',
  },
  {
    name: 'hunks below anchors that are all alike',
    size: 5000,
    make: (n) => ({
      batch: patch(times(n, (i) => `@@ f\n-x${i}\n+L${i}\n`).join('')),
      files: { a: lines(n, (i) => ` f\nx${i}`) },
    }),
    ends: 'resolved',
  },
  {
    name: 'blank lines that the file has not',
    size: 2000,
    make: (n) => ({
      batch: {
        edits: times(n, (i) => ({
          op: 'patch',
          text: `*** Begin Patch\n*** Update File: a\n@@\n-\n+${i}\n*** End Patch\n`,
        })),
      },
      files: { a: lines(n, () => 'x') },
    }),
    ends: 'no-match',
  },
  {
    name: 'blocks of one file',
    size: 3000,
    make: (n) => ({
      batch: {
        edits: [
          {
            op: 'blocks',
            path: 'a',
            text: times(n, (i) => `<<<<<<< SEARCH\nline ${i}\n=======\nL${i}\n>>>>>>> REPLACE\n`).join(''),
          },
        ],
      },
      files: { a: lines(n, (i) => `line ${i}`) },
    }),
    ends: 'resolved',
    squared: few,
  },
  {
    name: 'calls of tools that nobody knows',
    size: 10_000,
    make: (n) => ({ batch: original(times(n, (i) => ({ tool: `Edjt${i}`, input: {} }))), files: { a: 'x' } }),
    ends: 'unknown-tool',
  },
  {
    name: 'a name of a diff with a space for every letter',
    size: 500_000,
    make: (n) => ({
      batch: {
        edits: [
          { op: 'diff', text: `diff --git ${'a/ '.repeat(n)}\nold mode 100644\nnew mode 100755\n`, strip: 3 },
        ],
      },
      files: { a: 'x\n' },
    }),
    ends: 'parse-error',
  },
]

const longer: readonly HostileShape[] = [
  {
    name: 'a file of one letter, searched for a run that does not stand there',
    size: 10_000_000,
    make: (n) => ({ batch: original([replace(`${'a'.repeat(n / 4)}b`, 'x')]), files: { a: 'a'.repeat(n) } }),
    ends: 'no-match',
  },
  {
    name: 'a file of one letter, searched for a run that stands everywhere',
    size: 10_000_000,
    make: (n) => ({ batch: original([replace('a'.repeat(n / 4), 'x')]), files: { a: 'a'.repeat(n) } }),
    ends: 'ambiguous-match',
  },
  {
    name: 'edits that each quote most of the file',
    size: 120,
    make: (n) => ({
      batch: original(times(n, (i) => replace(`${lines(20 * n, (k) => `line ${k}`)}no ${i}`, 'x'))),
      files: { a: lines(20 * n, (k) => `line ${k}`) },
    }),
    ends: 'no-match',
  },
  {
    name: 'replaces that fail at every tier',
    size: 5000,
    make: (n) => ({
      batch: original(times(n, (i) => replace(`  no ${i} \r\n"x" `, 'y'))),
      files: { a: lines(n, (i) => `  “line ${i}”  ${i % 2 === 0 ? '' : '\r'}`) },
    }),
    ends: 'no-match',
  },
  {
    name: 'a cell of a notebook, as long as a book',
    size: 100_000,
    make: (n) => ({
      batch: original([
        {
          tool: 'NotebookEdit',
          input: { notebook_path: 'a.ipynb', cell_id: 'c', new_source: lines(n, (i) => `y${i}`) },
        },
      ]),
      files: {
        'a.ipynb': JSON.stringify({
          cells: [
            { cell_type: 'code', id: 'c', metadata: {}, outputs: [], source: times(n, (i) => `x${i}\n`) },
          ],
        }),
      },
    }),
    ends: 'resolved',
  },
  {
    name: 'hunks with one context, each at its place',
    size: 10_000,
    make: (n) => ({
      batch: diff(times(n, (i) => `@@ -${3 * i + 1},3 +${3 * i + 1},3 @@\n s\n-s\n+x\n s\n`).join('')),
      files: { a: lines(3 * n, () => 's') },
    }),
    ends: 'resolved',
  },
  {
    name: 'hunks with one context, none at its place',
    size: 10_000,
    make: (n) => ({
      batch: diff(times(n, (i) => `@@ -${3 * i + 9_000_000},3 +1,3 @@\n s\n-s\n+x\n s\n`).join('')),
      files: { a: lines(3 * n, () => 's') },
    }),
    ends: 'ambiguous-match',
  },
  {
    name: 'a file of lone CRs and texts without any',
    size: 500_000,
    make: (n) => ({
      batch: original([{ op: 'append', path: 'a', content: 'x\n'.repeat(n) }]),
      files: { a: 'a\r'.repeat(n) },
    }),
    ends: 'resolved',
  },
  {
    name: 'a file of lone CRs and texts of them',
    size: 500_000,
    make: (n) => ({
      batch: original([replace('a\r'.repeat(n), 'b\r'.repeat(n))]),
      files: { a: 'a\r'.repeat(n) },
    }),
    ends: 'resolved',
  },
  {
    name: 'characters with long compatibility forms',
    size: 100_000,
    make: (n) => ({
      batch: original([replace(`${'\ufdfa'.repeat(n)}x`, 'y')]),
      files: { a: `${'\ufdfa'.repeat(n)}z\n` },
    }),
    ends: 'no-match',
  },
  {
    name: 'lines that end in LF and CRLF by turns',
    size: 100_000,
    make: (n) => ({
      batch: original([
        replace(
          lines(n, (i) => `line ${i}`),
          'x\n',
        ),
      ]),
      files: { a: lines(n, (i) => `line ${i}${i % 2 === 0 ? '' : '\r'}`) },
    }),
    ends: 'resolved',
  },
]

/** Batches that once took, or by their nature could take, more than time in proportion to their size. */
export const hostileShapes: readonly HostileShape[] = [...replaces, ...numbered, ...texts, ...longer]
