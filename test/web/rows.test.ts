import { describe, expect, test } from 'vitest'
import type { PageChange, PageLine } from '../../src/page/page-values.ts'
import { heightOf, offsetsOf, rowAt, rowsOf } from '../../src/page/rows.ts'
import { partners, wordMarks } from '../../src/page/word-marks.ts'
import { emptyDraft } from '../../src/review/draft.ts'

const line = (kind: PageLine['kind'], text: string, old: number | null, fresh: number | null): PageLine => ({
  kind,
  text,
  old,
  new: fresh,
})
const lines = [
  line('context', 'a', 1, 1),
  line('remove', 'b', 2, null),
  line('remove', 'c', 3, null),
  line('add', 'B', null, 2),
  line('context', 'd', 4, 3),
]

const change = (more: Partial<PageChange> = {}): PageChange => ({
  id: 'g1',
  revision: 1,
  state: 'staged',
  digest: 'd',
  title: 't',
  body: '',
  agent: 'x',
  target: 'main',
  base: 'abc',
  checks: [],
  approvals: [],
  comments: [],
  files: [
    {
      key: 'f',
      path: 'a.txt',
      name: 'a.txt',
      words: ['now executable'],
      added: 1,
      removed: 2,
      image: false,
      sides: [true, true],
    },
  ],
  pieces: [
    { key: 'k', wholeKey: 'k', fileKey: 'f', number: 1, part: null, canSplit: false, newText: null, lines },
  ],
  reviewer: 'r',
  draft: emptyDraft,
  ...more,
})

describe('the rows of a change', () => {
  test('hold every line once, in its order, below its file and hunk', () => {
    const rows = rowsOf(change(), false)
    expect(rows.map(({ kind }) => kind)).toEqual([
      'file',
      'words',
      'hunk',
      'line',
      'line',
      'line',
      'line',
      'line',
      'space',
    ])
    expect(rows.flatMap((row) => (row.kind === 'line' ? [row.left] : []))).toEqual(lines)
  })

  test('side by side hold them too: what goes beside what comes', () => {
    const pairs = rowsOf(change(), true).flatMap((row) =>
      row.kind === 'line' ? [[row.left?.text, row.right?.text]] : [],
    )
    expect(pairs).toEqual([
      ['a', 'a'],
      ['b', 'B'],
      ['c', undefined],
      ['d', 'd'],
    ])
  })

  test('have comments where their lines stand, each line of them a row, and what is gone at the file', () => {
    const said = { by: 'Ada', path: 'a.txt', rejects: false, revision: 1 }
    const rows = rowsOf(
      change({
        comments: [
          { ...said, text: 'why\nso', line: 2, note: '' },
          { ...said, text: 'old', line: null, note: 'these lines are not there any more' },
        ],
      }),
      false,
    )
    expect(rows.flatMap((row) => (row.kind === 'comment' ? [row.text] : []))).toEqual([
      'Ada: old [of revision 1: these lines are not there any more]',
      'Ada: why',
      'so',
    ])
    expect(
      rows[rows.findIndex((row) => row.kind === 'comment' && row.text === 'Ada: why') - 1],
    ).toMatchObject({ left: { new: 2 } })
  })

  test('are found by their place, however many', () => {
    const many = change({
      pieces: Array.from(
        { length: 500 },
        (_, n) => ({ ...change().pieces[0], key: `k${n}`, number: n }) as PageChange['pieces'][number],
      ),
    })
    const rows = rowsOf(many, false)
    const offsets = offsetsOf(rows)
    expect(offsets.at(-1)).toBe(rows.reduce((sum, row) => sum + heightOf(row), 0))
    for (const at of [0, 1, 777, rows.length - 1]) {
      expect(rowAt(offsets, offsets[at] ?? 0)).toBe(at)
      expect(rowAt(offsets, (offsets[at + 1] ?? 0) - 1)).toBe(at)
    }
    expect([rowAt(offsets, -5), rowAt(offsets, 1e9)]).toEqual([0, rows.length - 1])
  })
})

describe('marks within a line', () => {
  test('name what differs, and join to the whole line', () => {
    const [before, after] = [
      line('remove', 'return Date.now()', 1, null),
      line('add', 'return clock.now()', null, 1),
    ]
    const found = wordMarks(before, after)
    expect(found?.left.filter(([, isChanged]) => isChanged)).toEqual([['Date', true]])
    expect([found?.left, found?.right].map((side) => side?.map(([part]) => part).join(''))).toEqual([
      before.text,
      after.text,
    ])
  })

  test.each([
    ['nothing alike', 'abc def', 'xyz uvw'],
    ['an endless line', `${'x '.repeat(600)}a`, `${'x '.repeat(600)}b`],
  ])('are left out where they say nothing: %s', (_name, old, fresh) => {
    expect(wordMarks(line('remove', old, 1, null), line('add', fresh, null, 1))).toBeNull()
  })

  test('go by runs of the same length', () => {
    expect(partners(lines).size).toBe(0)
    const even = [lines[1], lines[3]] as PageLine[]
    expect(partners(even).get(even[0] as PageLine)).toBe(even[1])
  })
})
