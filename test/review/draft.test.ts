import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { DiffFile } from '../../src/review/diff-file.ts'
import {
  actOnDraft,
  type DraftAction,
  decidedOtherwise,
  emptyDraft,
  type ReviewDraft,
} from '../../src/review/draft.ts'
import { outcomeOf } from '../../src/review/draft-notes.ts'
import { draftPieces, type KeyedPiece, keyPieces, splitPieces } from '../../src/review/piece-keys.ts'
import { piecesOf } from '../../src/review/pieces.ts'
import { readDraft, writeDraft } from '../../src/review/read-draft.ts'

const hash = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

function file(path: string, before: string | null, after: string | null): DiffFile {
  const side = (text: string | null) =>
    text === null
      ? null
      : { mode: '100644' as const, blob: hash(text).slice(0, 40), bytes: Buffer.from(text) }
  return { path, before: side(before), after: side(after) }
}

const many = (...changed: readonly number[]): string =>
  Array.from({ length: 40 }, (_, i) => `${i + 1}${changed.includes(i + 1) ? ' new' : ''}\n`).join('')

const keyed = (...files: readonly DiffFile[]): readonly KeyedPiece[] => keyPieces(piecesOf(files, 3), hash)

const open = (pieces: readonly KeyedPiece[], revision = 1): DraftAction => ({
  kind: 'open',
  revision,
  digest: `${revision}`,
  pieces: draftPieces(pieces),
})
const decide = (pieces: readonly KeyedPiece[], revision = 1, reason?: string): DraftAction => ({
  kind: 'decide',
  revision,
  keys: pieces.map(({ key }) => key),
  decision: reason === undefined ? { kind: 'accepted' } : { kind: 'rejected', reason },
  via: 'terminal',
})
const run = (...actions: readonly DraftAction[]): ReviewDraft => actions.reduce(actOnDraft, emptyDraft)
const stateOf = (draft: ReviewDraft, pieces: readonly KeyedPiece[]): string =>
  splitPieces(pieces, draft.split)
    .map(({ key }) => draft.decided.find((one) => one.key === key)?.decision.kind[0] ?? '-')
    .join('')

describe('the draft of a review', () => {
  const one = keyed(file('a', many(), many(2, 20, 38)), file('b', 'b\n', 'B\n'))

  test('decides, and takes each step back', () => {
    const accepted = run(open(one), decide(one.slice(0, 2)), decide(one.slice(1, 3), 1, 'no'))
    expect(stateOf(accepted, one)).toBe('arr-')
    const back = actOnDraft(accepted, { kind: 'undo', revision: 1 })
    expect(stateOf(back, one)).toBe('aa--')
    expect(stateOf(actOnDraft(back, { kind: 'undo', revision: 1 }), one)).toBe('----')
    expect(decidedOtherwise(accepted, back)).toEqual([one[1]?.key, one[2]?.key])
  })

  test.each([
    ['one whose line did not change', many(2, 20, 38), 'aara'],
    ['one that is gone', many(2, 38), 'ara'],
    ['one with other lines', `${many(2, 20)}more\n`, 'aa-a'],
    ['one that is pushed down', `${many(2, 20, 38).replace('10\n', '10\n10b\n')}`, 'a-ara'],
  ])('carries what did not change to the next revision: %s', (_, after, expected) => {
    const next = keyed(file('a', many(), after), file('b', 'b\n', 'B\n'))
    const draft = run(open(one), decide(one), decide(one.slice(2, 3), 1, 'why'), open(next, 2))
    expect(stateOf(draft, next)).toBe(expected)
    expect(draft.before).toBe(1)
  })

  test('gives no decision to lines that only look alike when one of them goes', () => {
    const twice = keyed(file('a', `${'x\n'.repeat(20)}`, `y\n${'x\n'.repeat(9)}y\n${'x\n'.repeat(10)}`))
    expect(new Set(twice.map(({ key }) => key)).size).toBe(twice.length)
    const same = (count: number) =>
      keyed(file('a', 's\n\n\n\n\n\n\n\n\n\n'.repeat(count), 's\n\n\n\n\nn\n\n\n\n\n\n'.repeat(count)))
    const draft = run(open(same(3)), decide(same(3)), open(same(2), 2))
    expect(stateOf(draft, same(2))).not.toContain('a'.repeat(2))
  })

  test('keeps words whose hunk changed as a text begun', () => {
    const next = keyed(file('a', many(), many(3)))
    const draft = run(open(one), decide(one.slice(0, 1), 1, 'because'), open(next, 2))
    expect(draft.typing).toEqual([{ where: `reason:${one[0]?.key}`, text: 'because', about: [] }])
  })

  test('decides nothing for a view that shows an older revision, and keeps what it types', () => {
    const next = keyed(file('a', many(), many(3)))
    const typing = { where: `comment:${one[0]?.key}`, text: 'half', path: 'a', about: ['2 new'] }
    const draft = run(open(one), open(next, 2), decide(one, 1), open(one, 1), { kind: 'type', typing })
    expect(draft).toMatchObject({ revision: 2, decided: [], typing: [typing] })
  })

  test('is the same draft, to the stamp, where nothing changes', () => {
    const draft = run(open(one), decide(one), { kind: 'shown', keys: [one[0]?.key ?? ''] })
    for (const action of [open(one), decide(one), { kind: 'shown', keys: [one[0]?.key ?? ''] }] as const)
      expect(actOnDraft(draft, action)).toBe(draft)
  })

  test('keeps a viewed mark while the file is the same', () => {
    const marks = one.map(({ fileKey }) => ({ kind: 'viewed', fileKey, isViewed: true }) as const)
    const next = keyed(file('a', many(), many(3)), file('b', 'b\n', 'B\n'))
    expect(run(open(one), ...marks, open(next, 2)).viewed).toEqual([one[3]?.fileKey])
  })

  test('splits a hunk in parts that are decided on alone', () => {
    const near = keyed(file('a', many(), many(2, 5, 8)))
    const key = near[0]?.key ?? ''
    const draft = run(open(near), { kind: 'split', revision: 1, hunkKey: key, isSplit: true })
    const parts = splitPieces(near, draft.split)
    const decided = [decide(parts.slice(0, 1)), decide(parts.slice(1), 1, 'no')].reduce(actOnDraft, draft)
    expect(stateOf(decided, near)).toBe('arr')
    expect(outcomeOf(decided, near).notes).toEqual([
      { hunk: 1, part: 2, text: 'no', rejects: true },
      { hunk: 1, part: 3, text: 'no', rejects: true },
    ])
  })

  test('names what was accepted unseen, and what is undecided', () => {
    const draft = run(open(one), { kind: 'shown', keys: [one[0]?.key ?? ''] }, decide(one.slice(0, 2)))
    const { unseen, undecided } = outcomeOf(draft, one)
    expect([unseen, undecided].map((list) => list.map(({ key }) => key))).toEqual([
      [one[1]?.key],
      [one[2]?.key, one[3]?.key],
    ])
  })

  test('says the lines of a comment whose lines went', () => {
    const comment = { id: '1', key: 'gone', path: 'b', text: 'why?', about: ['old line'] }
    const { notes } = outcomeOf(run(open(one), { kind: 'comment', comment }), one)
    expect(notes).toEqual([{ path: 'b', text: 'why?\n\nIt was about these lines:\n| old line' }])
  })

  test('reads back what was written, and nothing of another form', () => {
    const draft = run(open(one), decide(one, 1, 'x'), { kind: 'undo', revision: 1 })
    expect(readDraft(writeDraft(draft))).toEqual(draft)
    for (const text of ['', '{', '[]', '{"version":1}', writeDraft({ ...draft, shown: [1] as never })])
      expect(readDraft(text)).toBeNull()
  })
})
