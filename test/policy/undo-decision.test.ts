import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/model/change.ts'
import { type ChangeId, type CommitId, changeId, commitId } from '../../src/model/ids.ts'
import type { Manifest } from '../../src/model/manifest.ts'
import {
  choosePaths,
  decideRedo,
  pathsOutside,
  undoRefusal,
  wishRefusal,
  withRenames,
} from '../../src/policy/undo-decision.ts'
import { oppositeTitle, overlapRefusal, type TakenCommit, undoText } from '../../src/policy/undo-text.ts'

const id = (letter: string): ChangeId => changeId(`g${letter.repeat(9)}`)
const commit = (digit: string): CommitId => commitId(digit.repeat(40))

type Standing = Parameters<typeof decideRedo>[0]
const change = (more: Partial<Standing>): Standing => ({
  id: id('a'),
  state: 'landed',
  undoes: [],
  undoesPartly: [],
  redoes: [],
  undoneBy: null,
  partlyUndoneBy: [],
  ...more,
})

const manifest = (...paths: readonly string[]): Manifest =>
  paths.map((path) => ({ path, oldMode: '100644', oldBlob: '1', newMode: '100644', newBlob: '2' }))

describe('a wish', () => {
  const wish = { target: 'g', paths: [], hunks: [] }
  test.each([
    ['nothing', { paths: [], hunks: [] }],
    ['a change and a session', { ...wish, session: 's' }],
    ['hunks of a session', { session: 's', paths: [], hunks: [1] }],
    ['a mainline of a session', { session: 's', paths: [], hunks: [], mainline: 1 }],
    ['hunk 0', { ...wish, hunks: [0] }],
    ['half a hunk', { ...wish, hunks: [1.5] }],
    ['parent 0', { ...wish, mainline: 0 }],
  ])('for %s is refused', (_, bad) => {
    expect(wishRefusal(bad)?.code).toBe('usage')
  })

  test.each([
    ['paths and hunks', { ...wish, paths: ['a'], hunks: [1, 2] }],
    ['a merge', { ...wish, mainline: 2 }],
    ['paths of a session', { session: 's', paths: ['a'], hunks: [] }],
  ])('for %s is not', (_, good) => {
    expect(wishRefusal(good)).toBeNull()
  })
})

describe('what can be undone and redone', () => {
  const landing = { ref: 'refs/heads/main', before: null, after: commit('1') } as Change['landing']

  test('only what landed and stands can be undone', () => {
    expect(undoRefusal({ id: id('a'), state: 'landed', landing, undoneBy: null })).toBeNull()
    for (const state of ['staged', 'approved', 'rejected', 'undone', 'stale'] as const) {
      expect(undoRefusal({ id: id('a'), state, landing, undoneBy: null })?.code).toBe('wrong-state')
    }
    expect(undoRefusal({ id: id('a'), state: 'undone', landing, undoneBy: id('b') })?.hint).toContain(
      'galley redo',
    )
  })

  test.each([
    [
      'undone by itself',
      change({ state: 'undone', undoneBy: id('b') }),
      { undoes: [commit('1')] },
      { kind: 'undo', id: id('b') },
    ],
    [
      'undone with others',
      change({ state: 'undone', undoneBy: id('b') }),
      { undoes: [commit('1'), commit('2')] },
      { kind: 'reapply', undo: id('b') },
    ],
    [
      'undone beside a part',
      change({ state: 'undone', undoneBy: id('b') }),
      { undoes: [commit('1')], undoesPartly: [commit('2')] },
      { kind: 'reapply', undo: id('b') },
    ],
    ['an undo', change({ undoes: [commit('1')] }), null, { kind: 'undo', id: id('a') }],
    ['undone in part', change({ partlyUndoneBy: [id('c')] }), null, { kind: 'undo', id: id('c') }],
    ['undone in parts', change({ partlyUndoneBy: [id('c'), id('d')] }), null, { kind: 'refused' }],
    ['never undone', change({}), null, { kind: 'refused' }],
    ['pending', change({ state: 'approved' }), null, { kind: 'refused' }],
    ['rejected', change({ state: 'rejected' }), null, { kind: 'refused' }],
  ] as const)('a redo of what is %s', (_, named, undo, expected) => {
    const by = undo === null ? null : change({ id: id('b'), ...undo })
    expect(decideRedo(named, by)).toMatchObject(expected)
  })

  test('a redo of what a change undid that does not stand itself is refused', () => {
    const named = change({ state: 'undone', undoneBy: id('b') })
    expect(decideRedo(named, change({ id: id('b'), state: 'undone' })).kind).toBe('refused')
    expect(decideRedo(named, null).kind).toBe('refused')
  })
})

describe('paths', () => {
  const own = manifest('a.txt', 'dir/b.txt', 'dir/deep/c.txt', 'dirt.txt')

  test('name files, or directories with all that is in them', () => {
    const none = new Map<string, string>()
    const chosen = (...paths: readonly string[]) => [...choosePaths(paths, own, none, none).chosen]
    expect(chosen('dir')).toEqual(['dir/b.txt', 'dir/deep/c.txt'])
    expect(chosen('dir/')).toEqual(['dir/b.txt', 'dir/deep/c.txt'])
    expect(chosen('a.txt', 'dir/deep')).toEqual(['a.txt', 'dir/deep/c.txt'])
    expect(choosePaths(['a.txt', 'b.txt', 'dir/'], own, none, none).unknown).toEqual(['b.txt'])
  })

  test('are understood by the name they have now, and renames go whole', () => {
    const later = new Map([['a.txt', 'moved.txt']])
    const renames = new Map([['dirt.txt', 'dir/b.txt']])
    expect([...choosePaths(['moved.txt'], own, renames, later).chosen]).toEqual(['a.txt'])
    expect([...choosePaths(['dirt.txt'], own, renames, later).chosen].sort()).toEqual([
      'dir/b.txt',
      'dirt.txt',
    ])
    expect(withRenames(new Set(['dir/b.txt']), renames)).toEqual(new Set(['dir/b.txt', 'dirt.txt']))
  })

  test('that an undo may not change are all but its own, under any name', () => {
    const names = new Map([['new.txt', 'a.txt']])
    const ownPaths = new Set(['a.txt'])
    expect(pathsOutside(manifest('a.txt', 'new.txt'), ownPaths, names)).toEqual([])
    expect(pathsOutside(manifest('a.txt', 'b.txt'), ownPaths, names)).toEqual(['b.txt'])
  })
})

describe('the text of an undo', () => {
  const taken = (more: Partial<TakenCommit>): TakenCommit => ({
    commit: commit('1'),
    parent: commit('2'),
    title: 'One',
    change: id('a'),
    direction: 'back',
    isMerge: false,
    takesBack: false,
    part: null,
    isLater: false,
    ...more,
  })

  test.each([
    ['One', false, 'Revert "One"'],
    ['Revert "One"', false, 'Reapply "One"'],
    ['Reapply "One"', false, 'Revert "Reapply "One""'],
    ['Revert to the old API', false, 'Revert "Revert to the old API"'],
    ['Revert "One"', true, 'Reapply "One"'],
    ['Reapply "One"', true, 'Revert "One"'],
    ['Revert "One" and 2 later changes', true, 'Reapply "One" and 2 later changes'],
    ['Revert part of "One"', true, 'Reapply part of "One"'],
    ['Revert 3 changes of session "s"', true, 'Reapply 3 changes of session "s"'],
  ])("%s (galley's own: %s) is taken back as %s", (title, isOwn, expected) => {
    expect(oppositeTitle(title, isOwn)).toBe(expected)
  })

  test("uses git's words, one line for each commit", () => {
    const one = undoText([taken({})], null)
    expect(one).toEqual({
      title: 'Revert "One"',
      body: `This reverts commit ${commit('1')}. It landed ${id('a')}.`,
    })
    const merge = undoText([taken({ isMerge: true, change: null })], null)
    expect(merge.body).toBe(`This reverts commit ${commit('1')}, reversing\nchanges made to ${commit('2')}.`)
    const again = undoText([taken({ direction: 'again' })], null)
    expect(again).toMatchObject({
      title: 'Reapply "One"',
      body: expect.stringMatching(/^This reapplies commit 1/),
    })
  })

  test('names what was asked for, and counts what had to go with it', () => {
    const two = undoText([taken({ isLater: true, title: 'Later' }), taken({})], null)
    expect(two.title).toBe('Revert "One" and 1 later change')
    expect(two.body.split('\n')).toHaveLength(2)
    expect(undoText([taken({}), taken({})], 's-\u202e1').title).toBe(
      'Revert 2 changes of session "s-\\u{202E}1"',
    )
    expect(undoText([taken({})], 's-1').title).toBe('Revert "One"')
    expect(undoText([taken({ part: ['a.txt'] })], null)).toMatchObject({
      title: 'Revert part of "One"',
      body: expect.stringContaining('In "a.txt".'),
    })
  })

  test('stays bounded for any number of commits', () => {
    const { body } = undoText(
      Array.from({ length: 1000 }, () => taken({})),
      's',
    )
    expect(body.length).toBeLessThan(64 * 1024)
    expect(body).toContain('And 800 more.')
  })

  test('keeps a title within its limit, and whole characters', () => {
    for (const length of [100, 149, 150, 151, 5000]) {
      const { title } = undoText(
        [taken({ title: `a${'😀'.repeat(length)}` }), taken({ isLater: true })],
        null,
      )
      expect(title.length).toBeLessThanOrEqual(200)
      expect(title).not.toMatch(/\p{Cs}/u)
    }
    expect(undoText([taken({ title: 'x'.repeat(150) })], null).title).toBe(`Revert "${'x'.repeat(150)}"`)
  })

  test('of an overlap says where and by whom, and what can be done', () => {
    const facts = {
      what: id('a'),
      commit: commit('1'),
      paths: ['a.txt'],
      messages: [],
      conflicts: [
        {
          path: 'a.txt',
          lines: [
            { from: 3, to: 3 },
            { from: 8, to: 9 },
          ],
          drawing: null,
        },
      ],
      later: [{ commit: commit('3'), title: 'Later', id: null, paths: ['a.txt'], how: 'lines' as const }],
      partOptions: ['--path'],
    }
    const solvable = overlapRefusal({ ...facts, isSolvable: true })
    expect(solvable.message).toBe(
      `undo ${id('a')}: later changes overlap with it in "a.txt" (line 3, 8–9), by 333333333333 "Later"`,
    )
    expect(solvable.hint).toContain('--with-later')
    expect(overlapRefusal({ ...facts, isSolvable: false }).hint).not.toContain('--with-later')
    expect(overlapRefusal({ ...facts, isSolvable: true, partOptions: [] }).hint).not.toContain('--path')
    expect(overlapRefusal({ ...facts, isSolvable: false, partOptions: [] }).hint).toBe('Edit by hand.')
  })
})
