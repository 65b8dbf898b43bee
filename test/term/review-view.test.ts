import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ChangeView } from '../../src/flow/change-view.ts'
import type { DiffFile, DiffSide } from '../../src/review/diff-file.ts'
import { actOnDraft, emptyDraft } from '../../src/review/draft.ts'
import { draftPieces, keyPieces } from '../../src/review/piece-keys.ts'
import { piecesOf } from '../../src/review/pieces.ts'
import { press } from '../../src/term/review-keys.ts'
import { viewOf } from '../../src/term/review-rows.ts'
import { type Effect, outcomeFor, type ReviewState } from '../../src/term/review-state.ts'
import { encodeRow, fitRow, rowWidth, span } from '../../src/term/spans.ts'
import { clustersOf, textWidth } from '../../src/term/width.ts'

const hash = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
const side = (bytes: string | Uint8Array | null, mode: DiffSide['mode'] = '100644'): DiffSide | null =>
  bytes === null ? null : { mode, blob: hash(bytes).slice(0, 40), bytes: Buffer.from(bytes) }
const file = (path: string, before: string | null, after: string | null): DiffFile => ({
  path,
  before: side(before),
  after: side(after),
})

function stateOf(files: readonly DiffFile[], columns = 100, rows = 24): ReviewState {
  const whole = keyPieces(piecesOf(files, 3), hash)
  const open = { kind: 'open', revision: 1, digest: 'd', pieces: draftPieces(whole) } as const
  const change = {
    id: 'g123456789',
    revision: 1,
    title: 'A title',
    state: 'staged',
    digest: 'd'.repeat(64),
    onto: 'refs/heads/main',
    base: 'b'.repeat(40),
    agent: { name: 'an agent' },
    files: [],
    checks: [],
    approvals: [],
    comments: [],
  }
  return {
    change: change as unknown as ChangeView,
    needs: { count: 2, requires: 'signature', isSigned: true },
    files,
    whole,
    draft: actOnDraft(emptyDraft, open),
    since: null,
    cursor: { piece: 0, line: 0 },
    top: 0,
    left: 0,
    wraps: false,
    showsBlanks: false,
    context: new Map(),
    search: '',
    mode: 'hunks',
    scrolled: 0,
    prompt: null,
    note: '',
    queue: { at: 1, count: 1 },
    size: { columns, rows },
  }
}

/** Presses keys: `<name>` is one without a text. */
function keys(state: ReviewState, text: string): { state: ReviewState; effects: readonly Effect[] } {
  const effects: Effect[] = []
  let at = state
  for (const { 0: one, 1: name } of text.matchAll(/<([a-z-]+)>|./gsu)) {
    const isControl = name?.startsWith('ctrl-') === true
    const key = name === undefined ? { name: one, text: one } : { name: name.replace('ctrl-', ''), text: '' }
    const step = press(at, { ...key, isControl })
    at = step.state
    effects.push(...step.effects)
  }
  return { state: at, effects }
}

const screen = (state: ReviewState): string =>
  viewOf(state, () => [])
    .rows.map((row) => row.map(({ text }) => text).join(''))
    .join('\n')

const many = (...changed: readonly number[]): string =>
  Array.from({ length: 60 }, (_, i) => `${i + 1}${changed.includes(i + 1) ? ' new' : ''}\n`).join('')
const files = [
  file('a.txt', many(), many(2, 30, 33, 58)),
  file('b.txt', 'b\n', 'B\n'),
  file('c.txt', null, 'c\n'),
]

describe('keys of the full screen', () => {
  test.each([
    ['y', 'a----', 1],
    ['yyu', 'a----', 1],
    ['Y', 'aaa--', 3],
    ['nno<return>', 'r----', 1],
    ['Nno<return>', 'rrr--', 3],
    ['n<escape>y', 'a----', 1],
    [']y', '---a-', 4],
    ['<tab>y', '-a---', 2],
    ['<tab>sy', '-a----', 2],
    ['Gy', '----a', 0],
    ['yyyyy', 'aaaaa', 4],
    ['/B<return>y', '---a-', 4],
  ])('%s: %s', (typed, expected, at) => {
    const { state } = keys(stateOf(files), typed)
    const pieces = new Map(state.draft.decided.map(({ key, decision }) => [key, decision.kind[0]]))
    const outcome = outcomeFor(state)
    const order = [...outcome.accepted, ...outcome.rejected, ...outcome.edited, ...outcome.undecided]
    const shown = order.sort((a, b) => numberOf(a) - numberOf(b)).map(({ key }) => pieces.get(key) ?? '-')
    expect(shown.join('')).toBe(expected)
    expect(state.cursor.piece).toBe(at)
  })

  const numberOf = ({ piece }: ReviewState['whole'][number]): number =>
    (piece.hunks[0]?.number ?? 0) * 10 + (piece.part ?? 0)

  test('keep what is typed with every letter, and take it up again', () => {
    const { state } = keys(stateOf(files), 'nhalf<escape>')
    expect(state.draft.typing).toMatchObject([{ text: 'half' }])
    expect(keys(state, 'n').state.prompt?.text).toBe('half')
    const done = keys(state, 'n<return>').state
    expect(done.draft.typing).toEqual([])
    expect(outcomeFor(done).notes).toMatchObject([{ hunk: 1, text: 'half', rejects: true }])
  })

  test('comment on the line under the cursor, or on the hunk', () => {
    const { state } = keys(stateOf(files), 'jjcon a line<return>Kcon a hunk<return>')
    expect(state.draft.comments.map(({ line, text }) => [line, text])).toEqual([
      [1, 'on a line'],
      [undefined, 'on a hunk'],
    ])
    expect(screen(keys(state, 'g').state)).toContain('┌ you: on a line (draft)')
  })

  test.each([
    ['yyyyyfl', 'land'],
    ['yyyyyfa', 'approve'],
    ['yyyynx<return>fl', 'land'],
    ['yyyyyf<return>', undefined],
    ['yyyyfl', undefined],
    ['nx<return>fs', 'send-back'],
    ['csay<return>fc', 'comment'],
  ])('%s finishes by: %s', (typed, does) => {
    const { effects } = keys(stateOf(files), typed)
    expect(effects.flatMap((one) => (one.kind === 'finish' ? [one.does] : []))[0]).toBe(does)
  })

  test.each(['q', '<ctrl-c>', 'n<ctrl-c>', 'f<ctrl-c>', '?<ctrl-d>'])('%s leaves', (typed) => {
    expect(keys(stateOf(files), typed).effects.at(-1)).toEqual({ kind: 'quit' })
  })
})

describe('the full screen', () => {
  test.each([
    [100, 24],
    [60, 24],
    [79, 10],
    [200, 60],
    [20, 8],
  ])('has exactly %i columns and %i rows in every state', (columns, rows) => {
    for (const typed of ['', 'f', '?', 'cwords', 'w', 'x', 't', 'yyn', 'G', '<right>', '/new<return>']) {
      const { state } = keys(stateOf(files, columns, rows), typed)
      const shown = viewOf(state, () => []).rows
      expect(shown.map(rowWidth)).toEqual(Array.from({ length: rows }, () => columns))
    }
  })

  test('says of a line of megabytes that it goes on', () => {
    const state = stateOf([file('a', 'x\n', `${'日本 '.repeat(1_000_000)}\n`)])
    expect(screen(state)).toMatch(/\+ (?:日本 )+日?本?›/)
  })

  test('says before the last question what approving takes', () => {
    const shown = screen(keys(stateOf(files), 'f').state)
    expect(shown).toContain('2 people must approve; 0 did')
    expect(shown).toContain('your approval is signed')
  })

  test('says at 60 columns what it says at 100', () => {
    const narrow = screen(stateOf(files, 60))
    for (const words of ['g123456789', '0 of 5 decided', 'a.txt', '+ 2 new', '- 2', 'undecided', 'y accept'])
      expect(narrow).toContain(words)
  })
})

describe('widths', () => {
  test.each([
    ['abc', 3],
    ['日本語', 6],
    ['한국어', 6],
    ['\u1112\u1161\u11ab', 2],
    ['e\u0301', 1],
    ['ก็', 1],
    ['🎉', 2],
    ['ｱ', 1],
    ['Ａ', 2],
    ['─│›', 3],
    ['𝒳', 1],
    ['🇩', 1],
  ])('%j takes %i columns', (text, width) => expect(textWidth(text)).toBe(width))

  test('no cluster is cut apart, and a row is as wide as it should be', () => {
    const text = 'a日e\u0301本🎉z'
    expect([...clustersOf(text)].map(({ width }) => width)).toEqual([1, 2, 1, 2, 2, 1])
    for (let left = 0; left < 10; left++)
      for (let width = 1; width < 12; width++) expect(rowWidth(fitRow([span(text)], width, left))).toBe(width)
  })
})

const hostile: readonly (readonly [string, DiffFile, readonly string[]])[] = [
  ['an escape code', file('a', 'x\n', '\u001b[2J\u001b[31mred\n'), ['\\u{1B}[2J\\u{1B}[31mred']],
  ['a terminal title', file('a', 'x\n', '\u001b]0;owned\u0007\n'), ['\\u{1B}]0;owned\\u{7}']],
  ['a clipboard write', file('a', 'x\n', '\u001b]52;c;AAAA\u001b\\\n'), ['\\u{1B}]52;c;AAAA\\u{1B}\\']],
  ['C1 controls', file('a', 'x\n', '\u009b31m\u0090q\n'), ['\\u{9B}31m\\u{90}q']],
  ['a carriage return that hides', file('a', 'x\n', 'evil()\rgood()\n'), ['evil()\\u{D}good()']],
  ['a backspace', file('a', 'x\n', 'no\b\byes\n'), ['no\\u{8}\\u{8}yes']],
  ['bidirectional overrides', file('a', 'x\n', 'if (\u202eadmin\u2066) {\n'), ['\\u{202E}admin\\u{2066}']],
  [
    'zero-width characters',
    file('a', 'x\n', 'pass\u200bword\u200d\ufeff\n'),
    ['pass\\u{200B}word\\u{200D}\\u{FEFF}'],
  ],
  ['tag characters', file('a', 'x\n', 'a\u{e0041}\u{e0042}\n'), ['a\\u{E0041}\\u{E0042}']],
  ['variation selectors', file('a', 'x\n', 'a\ufe0f\u{e0100}\n'), ['a\\u{FE0F}\\u{E0100}']],
  ['a Cyrillic letter in a Latin word', file('a', 'x\n', 'p\u0430ypal\n'), ['p\\u{430}ypal']],
  ['a Greek question mark', file('a', 'x\n', 'f()\u037e\n'), ['f()\\u{37E}']],
  ['a letter that is an exclamation mark', file('a', 'x\n', 'a \u01c3= b\n'), ['a \\u{1C3}= b']],
  ['a pile of marks', file('a', 'x\n', `a${'\u0301'.repeat(9)}\n`), ['\\u{301}\\u{301}\\u{301}']],
  ['a mark without a letter', file('a', 'x\n', '\u0301a\n'), ['\\u{301}a']],
  ['an odd space', file('a', 'x\n', 'a\u00a0b\u3000c\n'), ['a\\u{A0}b\\u{3000}c']],
  ['a Hangul filler', file('a', 'x\n', 'a\u3164b\n'), ['a\\u{3164}b']],
  [
    'bytes that are no UTF-8',
    { path: 'a', before: side('x\n'), after: side(Buffer.from([97, 255, 98, 10])) },
    ['a\\x{FF}b'],
  ],
  [
    'a lone surrogate in UTF-8',
    { path: 'a', before: side('x\n'), after: side(Buffer.from([0xed, 0xa0, 0x80, 10])) },
    ['\\x{ED}\\x{A0}\\x{80}'],
  ],
  ['a line separator', file('a', 'x\n', 'a\u2028b\n'), ['a\\u{2028}b']],
  ['blanks at the end', file('a', 'x\n', 'a  \n'), ['+ a']],
  ['a line end that changes alone', file('a', 'x\ny\n', 'x\r\ny\n'), ['x\\u{D}']],
  ['no line feed at the end', file('a', 'x\n', 'x'), ['no line feed at the end of the file']],
  ['a path with an escape code', file('\u001b[2Ja\nb', 'x\n', 'y\n'), ['\\u{1B}[2Ja\\u{A}b']],
  ['a path that is HTML', file('<img onerror=x>', 'x\n', 'y\n'), ['<img onerror=x>']],
  ['a line like a head of the view', file('a', 'x\n', 'hunk 9 · accepted\n'), ['+ hunk 9 · accepted']],
  [
    'a file that is executable now',
    { path: 'a', before: side('x\n'), after: side('x\n', '100755') },
    ['now executable'],
  ],
  [
    'a link',
    { path: 'a', before: null, after: side('../../etc/passwd', '120000') },
    ['new: a symbolic link', 'points to ../../etc/passwd'],
  ],
  [
    'a link with an escape code',
    { path: 'a', before: null, after: side('\u001b[2J', '120000') },
    ['points to \\u{1B}[2J'],
  ],
  [
    'a file that becomes a link',
    { path: 'a', before: side('x\n'), after: side('b', '120000') },
    ['a file becomes a symbolic link'],
  ],
  [
    'a submodule',
    {
      path: 'a',
      before: side('Subproject commit 1\n', '160000'),
      after: side('Subproject commit 2\n', '160000'),
    },
    ['submodule now'],
  ],
  ['a binary file', file('a', 'x\n', 'a\0b'), ['binary: 2 bytes', '3 bytes']],
  ['a rename alone', { ...file('b', 'x\n', 'x\n'), renamedFrom: 'a' }, ['renamed: a → b']],
  ['an empty file', file('a', null, ''), ['an empty file']],
]

describe('what hostile content shows', () => {
  test.each(hostile)('%s', (_, one, expected) => {
    for (const columns of [60, 100]) {
      const state = stateOf([one], columns, 30)
      const shown = screen(state)
      for (const words of expected) expect(shown).toContain(words)
      const written = viewOf(state, () => [])
        .rows.map((row) => encodeRow(row, true))
        .join('')
      // Nothing of it is a command but styles and columns of galley's own.
      expect(written.replaceAll(/\u001b\[[0-9;]*[mG]/g, '')).not.toMatch(
        /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/,
      )
    }
  })

  test('every line of both sides stands in the scroll, so that what is shown is what the digest covers', () => {
    const before = many()
    const state = keys(stateOf([file('a', before, many(1, 9, 33, 60))], 100, 200), 't').state
    const shown = screen(state).split('\n')
    for (const side of [many(1, 9, 33, 60).split('\n'), ['1', '9', '33', '60']])
      for (const line of side.filter((text) => text !== ''))
        expect(shown.some((row) => row.trimEnd().endsWith(` ${line}`))).toBe(true)
  })
})
