import { describe, expect, test } from 'vitest'
import type { Galley } from '../../src/flow/galley.ts'
import { openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { approveAndLand, land, numbered, replace, treeOf } from './undo-world.ts'

const stateOf = async (galley: Galley, id: string): Promise<string> => (await galley.show(id)).change.state

const undoAndLand = async (galley: Galley, target: string) =>
  approveAndLand(galley, (await galley.undo({ target })).change)

const redoAndLand = async (galley: Galley, target: string) =>
  approveAndLand(galley, (await galley.redo({ target })).change)

describe('redo', () => {
  test('brings the tree back as it was, as a new change with its own trailer, and the change counts as landed', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9), 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [
      replace('a.txt', 'line 1', 'un'),
      { op: 'move', path: 'b.txt', to: 'c.txt' },
    ])
    const before = treeOf(repo)
    const undo = await undoAndLand(galley, one.id)
    const { change } = await galley.redo({ target: one.id })
    expect(change).toMatchObject({
      title: 'Reapply "One"',
      body: `This reverts commit ${undo.landed?.after}. It landed ${undo.id}.`,
      undoes: [undo.landed?.after],
      redoes: [one.landed?.after],
    })
    const redo = await approveAndLand(galley, change)
    expect(treeOf(repo)).toBe(before)
    expect(repo.git('log', '-1', '--format=%(trailers:only)')).toBe(
      `Galley-Change: ${redo.id}\nGalley-Redoes: ${one.landed?.after}\n`,
    )
    expect((await galley.show(one.id)).change).toMatchObject({
      state: 'landed',
      undoneBy: null,
      landed: redo.landed,
    })
    expect((await galley.show(undo.id)).change).toMatchObject({ state: 'undone', undoneBy: redo.id })
  })

  test('and undo can be had in turn as often as one likes, with titles that do not pile up', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9) } })
    const first = treeOf(repo)
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1', 'un')])
    const landed = treeOf(repo)
    const titles: string[] = []
    for (let round = 0; round < 3; round++) {
      titles.push((await undoAndLand(galley, one.id)).title)
      expect([treeOf(repo), await stateOf(galley, one.id)]).toEqual([first, 'undone'])
      titles.push((await redoAndLand(galley, one.id)).title)
      expect([treeOf(repo), await stateOf(galley, one.id)]).toEqual([landed, 'landed'])
    }
    expect(new Set(titles)).toEqual(new Set(['Revert "One"', 'Reapply "One"']))
  })

  test('of the undo, by its id or its commit, and the undo of the undo, are the same', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1', 'un')])
    const before = treeOf(repo)
    const undo = await undoAndLand(galley, one.id)
    const previews = [
      await galley.previewRedo({ target: one.id }),
      await galley.previewRedo({ target: undo.id }),
      await galley.previewRedo({ target: 'HEAD' }),
      await galley.previewUndo({ target: undo.id }),
      await galley.previewUndo({ target: 'HEAD' }),
    ]
    for (const preview of previews) expect(preview).toEqual(previews[0])
    const again = await undoAndLand(galley, undo.id)
    expect([again.title, treeOf(repo), await stateOf(galley, one.id)]).toEqual([
      'Reapply "One"',
      before,
      'landed',
    ])
    const back = await undoAndLand(galley, again.id)
    expect([back.title, await stateOf(galley, one.id), await stateOf(galley, undo.id)]).toEqual([
      'Revert "One"',
      'undone',
      'landed',
    ])
  })

  test('works mid-history, with later edits elsewhere, and is refused where they overlap', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(30) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')])
    await undoAndLand(galley, one.id)
    await land(galley, 'Far', [replace('a.txt', 'line 25', 'far')])
    expect((await galley.previewRedo({ target: one.id })).files).toMatchObject([{ path: 'a.txt', added: 1 }])
    const near = await land(galley, 'Near', [replace('a.txt', 'line 2\n', 'deux\n')])
    const refused = await refusal(() => galley.redo({ target: one.id }))
    expect([refused.code, refused.data['later']]).toMatchObject(['overlaps-later', [{ id: near.id }]])
    await approveAndLand(galley, (await galley.redo({ target: one.id, withLater: true })).change)
    expect(repo.read('a.txt')).toBe(numbered(30, { 1: 'un', 25: 'far' }))
    expect([await stateOf(galley, one.id), await stateOf(galley, near.id)]).toEqual(['landed', 'undone'])
  })

  test('of one change that was undone with others applies that one alone, and can be undone again', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(30), 'b.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const agent = { name: 'x', session: 's-1' }
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')], { agent })
    const two = await land(galley, 'Two', [replace('b.txt', 'line 9', 'neuf')], { agent })
    const both = await approveAndLand(galley, (await galley.undo({ session: 's-1' })).change)
    await land(galley, 'Near the lines of old', [replace('a.txt', 'line 25', 'far')])
    const { change } = await galley.redo({ target: one.id })
    expect(change).toMatchObject({
      title: 'Reapply "One"',
      body: `This reapplies commit ${one.landed?.after}. It landed ${one.id}.`,
      undoes: [],
      undoesPartly: [both.landed?.after],
      redoes: [one.landed?.after],
    })
    await approveAndLand(galley, change)
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual([
      numbered(30, { 1: 'un', 25: 'far' }),
      numbered(9),
    ])
    expect([await stateOf(galley, one.id), await stateOf(galley, two.id)]).toEqual(['landed', 'undone'])
    expect((await galley.show(both.id)).change).toMatchObject({
      state: 'landed',
      partlyUndoneBy: [change.id],
    })
    await undoAndLand(galley, one.id)
    expect(repo.read('a.txt')).toBe(numbered(30, { 25: 'far' }))
    expect(await stateOf(galley, one.id)).toBe('undone')
    expect((await galley.show(both.id)).change).toMatchObject({ state: 'landed', partlyUndoneBy: [] })
  })

  test("counts too when the undo's landing was cut off right after the branch moved", async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'a', 'b')])
    const { change } = await galley.undo({ target: one.id })
    await galley.approve({ id: change.id })
    const store = '.git/galley/store.git'
    repo.git('fetch', '-q', store, `refs/galley/changes/${change.id}/1`)
    repo.git('--git-dir', store, 'update-ref', `refs/galley/landing/${change.id}`, change.commit)
    repo.git('merge', '-q', '--ff-only', 'FETCH_HEAD')
    const { remarks } = await galley.land({ id: change.id })
    expect(remarks).toEqual(['the landing had been interrupted after the branch moved'])
    expect([await stateOf(galley, one.id), await stateOf(galley, change.id)]).toEqual(['undone', 'landed'])
  })

  test('refuses what was never undone, is pending, or is unknown', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'a', 'b')])
    const pending = await galley.undo({ target: one.id })
    expect((await refusal(() => galley.redo({ target: one.id }))).code).toBe('wrong-state')
    expect((await refusal(() => galley.redo({ target: pending.change.id }))).code).toBe('wrong-state')
    expect((await refusal(() => galley.redo({ target: 'HEAD~1' }))).code).toBe('unknown-change')
    expect((await refusal(() => galley.redo({ target: 'gzzzzzzzzz' }))).code).toBe('unknown-change')
  })
})

describe('an undo of a session', () => {
  test('takes back all that it landed and that stands, newest first, as one change, and nothing of others', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(30), 'b.txt': 'b\n', 'c.txt': 'c\n' } })
    await using galley = await openGalley(repo)
    const [mine, other] = ['s-1', 's-2'].map((session) => ({ agent: { name: 'x', session } }))
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')], mine)
    await land(galley, 'Other', [replace('a.txt', 'line 25', 'far')], other)
    const two = await land(galley, 'Two', [replace('a.txt', 'un', 'uno'), replace('b.txt', 'b', 'B')], mine)
    const three = await land(galley, 'Three', [replace('c.txt', 'c', 'C')], mine)
    await undoAndLand(galley, three.id)
    repo.write('mine.txt', 'untracked\n')
    const { change } = await galley.undo({ session: 's-1' })
    expect(change).toMatchObject({
      title: 'Revert 2 changes of session "s-1"',
      undoes: [two.landed?.after, one.landed?.after],
    })
    await approveAndLand(galley, change)
    expect(repo.read('a.txt')).toBe(numbered(30, { 25: 'far' }))
    expect(repo.read('b.txt')).toBe('b\n')
    expect(repo.read('mine.txt')).toBe('untracked\n')
    expect([await stateOf(galley, one.id), await stateOf(galley, two.id)]).toEqual(['undone', 'undone'])
    expect((await refusal(() => galley.undo({ session: 's-1' }))).code).toBe('unknown-change')
    const before = treeOf(repo, 'HEAD~1')
    await redoAndLand(galley, change.id)
    expect(treeOf(repo)).toBe(before)
    expect([await stateOf(galley, one.id), await stateOf(galley, two.id)]).toEqual(['landed', 'landed'])
  })

  test('takes paths, and leaves out changes that have none of them', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' } })
    await using galley = await openGalley(repo)
    const agent = { agent: { name: 'x', session: 's-1' } }
    const one = await land(galley, 'One', [replace('a.txt', 'a', 'A'), replace('b.txt', 'b', 'B')], agent)
    const two = await land(galley, 'Two', [replace('b.txt', 'B', 'BB')], agent)
    await land(galley, 'Three', [replace('c.txt', 'c', 'C')], agent)
    const { change } = await galley.undo({ session: 's-1', paths: ['b.txt'] })
    expect(change).toMatchObject({ undoes: [two.landed?.after], undoesPartly: [one.landed?.after] })
    await approveAndLand(galley, change)
    expect(['a.txt', 'b.txt', 'c.txt'].map((p) => repo.read(p))).toEqual(['A\n', 'b\n', 'C\n'])
    expect((await refusal(() => galley.undo({ session: 's-1', paths: ['none.txt'] }))).code).toBe('not-found')
  })
})
