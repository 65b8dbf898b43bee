import { expect, test } from 'vitest'
import { commentPlace, placeWords } from '../../src/review/comment-place.ts'
import type { DiffFile } from '../../src/review/diff-file.ts'

const side = (text: string | null) =>
  text === null ? null : { mode: '100644' as const, blob: text, bytes: Buffer.from(text) }
const file = (path: string, before: string | null, after: string | null): DiffFile => ({
  path,
  before: side(before),
  after: side(after),
})
const about = (side: 'new' | 'old' | 'diff', ...lines: string[]) => ({ side, lines })

test.each([
  ['the whole change', {}, 'a\n', '', ''],
  ['a file as a whole', { path: 'f' }, 'a\n', 'whole', ''],
  ['a file that is not touched any more', { path: 'g' }, 'a\n', 'gone', 'these lines are not there any more'],
  ['lines where they were', { path: 'f', line: 2, about: about('new', 'b') }, 'a\nb\nc\n', 'here 2-2', ''],
  [
    'lines pushed down',
    { path: 'f', line: 2, about: about('new', 'b', 'c') },
    'x\ny\na\nb\nc\n',
    'moved 4-5',
    'now at line 4-5',
  ],
  [
    'the nearest of several',
    { path: 'f', line: 5, about: about('new', 'b') },
    'b\n\n\nb\n\n\n\n\nb\n',
    'moved 4-4',
    'now at line 4',
  ],
  [
    'lines that changed',
    { path: 'f', line: 2, about: about('new', 'b') },
    'a\nB\nc\n',
    'gone',
    'these lines are not there any more',
  ],
  [
    'a hunk',
    { path: 'f', line: 1, about: about('diff', ' a', '-old', '+b') },
    'x\na\nb\n',
    'moved 2-3',
    'now at line 2-3',
  ],
  [
    'a hunk that was taken out',
    { path: 'f', line: 1, about: about('diff', ' a', '-old', '+b') },
    'a\nold\n',
    'gone',
    'these lines are not there any more',
  ],
  [
    'a hunk that only takes away',
    { path: 'f', line: 1, about: about('diff', '-old') },
    'a\n',
    'moved 2-2',
    'now at line 2',
  ],
  ['old lines', { path: 'f', line: 2, about: about('old', 'old') }, 'a\n', 'here 2-2', ''],
  [
    'lines that were cut',
    { path: 'f', line: 1, about: { ...about('new', 'abc'), isCut: true as const } },
    'x\nabcdef\n',
    'moved 2-2',
    'now at line 2',
  ],
])('a comment on %s', (_, words, after, expected, said) => {
  const place = commentPlace(words, [file('f', 'a\nold\n', after)])
  const text = 'line' in place ? `${place.kind} ${place.line}-${place.toLine}` : place.kind
  expect(text).toBe(expected === '' ? 'whole' : expected)
  expect(placeWords(place)).toBe(said)
})

test('a comment goes with its file to another name', () => {
  const moved = { ...file('g', 'a\n', 'a\nb\n'), renamedFrom: 'f' }
  expect(commentPlace({ path: 'f', line: 1, about: about('new', 'b') }, [moved])).toMatchObject({
    kind: 'moved',
    line: 2,
  })
})
