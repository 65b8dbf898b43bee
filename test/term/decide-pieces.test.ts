import { describe, expect, test } from 'vitest'
import { piecesOf } from '../../src/review/pieces.ts'
import { decidePieces } from '../../src/term/decide-pieces.ts'

const side = (text: string) => ({
  mode: '100644' as const,
  blob: `blob of ${text}`,
  bytes: Buffer.from(text),
})
const text = (...changed: readonly number[]) =>
  Array.from({ length: 30 }, (_, i) => `${i + 1}${changed.includes(i + 1) ? ' new' : ''}\n`).join('')
const files = [
  { path: 'a.txt', before: side(text()), after: side(text(2, 15, 28)) },
  { path: 'b\u202e.txt', before: null, after: side('\u001b[2Jx\n') },
  { path: 'bin', before: side('\0a'), after: side('\0b') },
]

async function review(answers: readonly string[]) {
  const left = [...answers]
  const shown: string[] = []
  const ask = async (question: string) => {
    shown.push(question)
    return left.shift() ?? null
  }
  const decided = await decidePieces({ ask }, (said) => shown.push(said), piecesOf(files, 3), false)
  return { decided, shown: shown.join('') }
}

const rejects = true
describe('decisions at a terminal', () => {
  test.each([
    ['y accepts', ['y', 'y', 'y', 'y', 'y'], []],
    [
      'n rejects with a reason',
      ['y', 'n', 'why not', 'y', 'y', 'y'],
      [{ hunk: 2, text: 'why not', rejects }],
    ],
    ['a takes the rest of a file', ['a', 'n', '', 'y'], [{ hunk: 4, text: '', rejects }]],
    [
      'd leaves out the rest of a file',
      ['y', 'd', 'x', 'y', 'y'],
      [
        { hunk: 2, text: 'x', rejects },
        { hunk: 3, text: 'x', rejects },
      ],
    ],
    ['c comments and decides nothing', ['c', 'hm', 'a', 'y', 'y'], [{ hunk: 1, text: 'hm' }]],
    [
      'a file without lines is decided on whole',
      ['a', 'y', 'n', 'no'],
      [{ path: 'bin', text: 'no', rejects }],
    ],
    ['u takes back', ['n', 'x', 'u', 'a', 'y', 'y'], []],
    ['u takes a whole step back', ['a', 'u', 'n', 'x', 'a', 'y', 'y'], [{ hunk: 1, text: 'x', rejects }]],
    ['anything else explains', ['', 'yes', '?', 'a', 'y', 'y'], []],
  ])('%s', async (_, answers, notes) => {
    const { decided } = await review(answers)
    expect(decided?.notes).toEqual(notes)
  })

  test.each([[['q']], [[]], [['y', 'n']], [['y', 'y', 'y', 'y']], [['c']]])(
    '%j leaves, and nothing is decided',
    async (answers) => {
      expect((await review(answers)).decided).toBeNull()
    },
  )

  test('names what was accepted and never shown, and writes out what cannot be seen', async () => {
    const { decided, shown } = await review(['a', 'y', 'y'])
    expect(decided?.unseen.map((piece) => piece.hunks[0]?.number)).toEqual([2, 3])
    expect(shown).not.toContain('\u001b')
    expect(shown).not.toContain('\u202e')
    expect(shown).toContain('\\u{1B}[2Jx')
  })

  test('shows the header of a file once, and each hunk with its number', async () => {
    const { shown } = await review(['y', 'y', 'y', 'y', 'y'])
    expect(shown.match(/^diff --git a\/a\.txt/gm)).toHaveLength(1)
    for (const n of [1, 2, 3, 4]) expect(shown).toContain(`hunk ${n}\n`)
  })
})
