import { existsSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { numberHunks } from '../../src/review/unified-diff.ts'
import { openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { approveAndLand, land, numbered, replace, treeOf } from './undo-world.ts'

describe('an undo of a part', () => {
  test('by path takes back these files and directories, and the change counts as landed still', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'dir/deep/c.txt': 'c\n', 'dirt.txt': 'd\n' },
    })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [
      replace('a.txt', 'a', 'A'),
      replace('dir/b.txt', 'b', 'B'),
      replace('dir/deep/c.txt', 'c', 'C'),
      replace('dirt.txt', 'd', 'D'),
    ])
    const { change } = await galley.undo({ target: one.id, paths: ['dir/'] })
    expect(change).toMatchObject({
      title: 'Revert part of "One"',
      undoes: [],
      undoesPartly: [one.landed?.after],
    })
    expect(change.body).toBe(
      `This reverts part of commit ${one.landed?.after}. It landed ${one.id}.\nIn "dir/b.txt", "dir/deep/c.txt".`,
    )
    expect(change.files.map((f) => f.path)).toEqual(['dir/b.txt', 'dir/deep/c.txt'])
    await approveAndLand(galley, change)
    expect((await galley.show(one.id)).change).toMatchObject({
      state: 'landed',
      undoneBy: null,
      partlyUndoneBy: [change.id],
    })
    const rest = await galley.undo({ target: one.id })
    expect(rest.change.files.map((f) => f.path)).toEqual(['a.txt', 'dirt.txt'])
    await approveAndLand(galley, rest.change)
    expect((await galley.show(one.id)).change.state).toBe('undone')
    expect(['a.txt', 'dir/b.txt', 'dir/deep/c.txt', 'dirt.txt'].map((p) => repo.read(p))).toEqual([
      'a\n',
      'b\n',
      'c\n',
      'd\n',
    ])
  })

  test('can be undone, and then nothing is undone partly', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'a', 'A'), replace('b.txt', 'b', 'B')])
    const before = treeOf(repo)
    const part = await approveAndLand(
      galley,
      (await galley.undo({ target: one.id, paths: ['a.txt'] })).change,
    )
    const again = await galley.redo({ target: one.id })
    expect(again.change.title).toBe('Reapply part of "One"')
    await approveAndLand(galley, again.change)
    expect(treeOf(repo)).toBe(before)
    expect((await galley.show(one.id)).change).toMatchObject({ state: 'landed', partlyUndoneBy: [] })
    expect((await galley.show(part.id)).change).toMatchObject({ state: 'undone', undoneBy: again.change.id })
  })

  test('understands the name that a file has now, and takes both halves of a rename', async () => {
    using repo = makeRepo({
      files: { 'a.txt': numbered(20), 'b.txt': numbered(20, { 1: 'b' }), 'c.txt': 'c\n' },
    })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [
      { op: 'move', path: 'a.txt', to: 'moved.txt' },
      replace('b.txt', 'line 9', 'neuf'),
      replace('c.txt', 'c', 'C'),
    ])
    repo.git('mv', 'b.txt', 'later.txt')
    repo.commit('moved b')
    const byNew = await galley.previewUndo({ target: one.id, paths: ['later.txt'] })
    expect(byNew.files).toMatchObject([{ path: 'later.txt', status: 'modified' }])
    const half = await galley.undo({ target: one.id, paths: ['moved.txt'] })
    expect(half.change.files).toMatchObject([
      { path: 'a.txt', status: 'renamed', renamedFrom: 'moved.txt' },
      { path: 'moved.txt', status: 'deleted' },
    ])
    await approveAndLand(galley, half.change)
    expect(repo.read('a.txt')).toBe(numbered(20))
    expect(repo.read('c.txt')).toBe('C\n')
  })

  test('by hunk takes back exactly the lines that show under that number', async () => {
    const old = numbered(60).replaceAll('\n', '\r\n')
    using repo = makeRepo({ files: { 'a.txt': old, 'b.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [
      replace('a.txt', 'line 5\r\n', 'cinq\r\nand more\r\n'),
      replace('a.txt', 'line 30\r\n', ''),
      replace('a.txt', 'line 55', 'x'),
      replace('b.txt', 'line 9', 'neuf'),
      { op: 'write', path: 'new.txt', mode: 'create', content: 'new\n' },
    ])
    const hunks = numberHunks(await galley.diff(one.id), 3)
    expect(hunks.map((h) => [h.number, h.path])).toEqual([
      [1, 'a.txt'],
      [2, 'a.txt'],
      [3, 'a.txt'],
      [4, 'b.txt'],
      [5, 'new.txt'],
    ])
    const { change } = await galley.undo({ target: one.id, hunks: [2, 5] })
    expect(change.undoesPartly).toEqual([one.landed?.after])
    await approveAndLand(galley, change)
    expect(repo.bytes('a.txt').toString()).toBe(
      old.replace('line 5\r\n', 'cinq\r\nand more\r\n').replace('line 55', 'x'),
    )
    expect(existsSync(join(repo.dir, 'new.txt'))).toBe(false)
    expect(repo.read('b.txt')).toBe(numbered(9, { 9: 'neuf' }))
  })

  test('by path and hunk together takes back what either names; all of it is the whole', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(60), 'b.txt': numbered(9) } })
    const first = treeOf(repo)
    await using galley = await openGalley(repo)
    const edits = [
      replace('a.txt', 'line 5\n', 'x\n'),
      replace('a.txt', 'line 55', 'y'),
      replace('b.txt', 'line 9', 'z'),
    ]
    const one = await land(galley, 'One', edits)
    const some = await galley.previewUndo({ target: one.id, paths: ['b.txt'], hunks: [1] })
    expect(some.pairs.map((p) => Buffer.from(p.after?.bytes ?? []).toString())).toEqual([
      numbered(60, { 55: 'y' }),
      numbered(9),
    ])
    const all = await galley.undo({ target: one.id, paths: ['b.txt'], hunks: [1, 2] })
    expect(all.change).toMatchObject({ title: 'Revert "One"', undoes: [one.landed?.after], undoesPartly: [] })
    await approveAndLand(galley, all.change)
    expect(treeOf(repo)).toBe(first)
  })

  test('leaves out the file that overlaps with later work', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9), 'b.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [
      replace('a.txt', 'line 1', 'un'),
      replace('b.txt', 'line 1', 'un'),
    ])
    await land(galley, 'Two', [replace('a.txt', 'un', 'UN')])
    expect((await refusal(() => galley.undo({ target: one.id }))).code).toBe('overlaps-later')
    await approveAndLand(galley, (await galley.undo({ target: one.id, paths: ['b.txt'] })).change)
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual([numbered(9, { 1: 'UN' }), numbered(9)])
  })

  test('of a commit that galley did not make', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(60), 'b.txt': 'b\n' } })
    repo.write('a.txt', numbered(60, { 5: 'x', 55: 'y' }))
    repo.write('b.txt', 'B\n')
    repo.commit('mine')
    await using galley = await openGalley(repo)
    await approveAndLand(galley, (await galley.undo({ target: 'HEAD', hunks: [2] })).change)
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual([numbered(60, { 5: 'x' }), 'B\n'])
  })

  test('takes a symbolic link back whole, whichever of its hunks is named', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const link = join(repo.dir, 'link')
    symlinkSync(numbered(60), link)
    repo.commit('a link')
    rmSync(link)
    symlinkSync(numbered(60, { 5: 'x', 55: 'y' }), link)
    repo.write('a.txt', 'A\n')
    repo.commit('mine')
    await using galley = await openGalley(repo)
    const undone = await galley.undo({ target: 'HEAD', hunks: [2] })
    await galley.approve({ id: undone.change.id })
    await galley.land({ id: undone.change.id })
    expect([readlinkSync(link), repo.read('a.txt')]).toEqual([numbered(60), 'A\n'])
  })

  test('refuses paths and numbers that name nothing of the change', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9), 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1', 'un')])
    const before = repo.snapshot()
    const path = await refusal(() => galley.undo({ target: one.id, paths: ['a.txt', 'b.txt'] }))
    expect([path.code, path.message]).toEqual([
      'not-found',
      'undo "b.txt": what is to be undone changes "a.txt"',
    ])
    const hunk = await refusal(() => galley.undo({ target: one.id, hunks: [1, 7] }))
    expect([hunk.code, hunk.message]).toMatchObject([
      'out-of-range',
      expect.stringMatching(/: it has 1 hunk, and none is number 7$/),
    ])
    for (const request of [
      {},
      { target: one.id, session: 's' },
      { session: 's', hunks: [1] },
      { session: 's', mainline: 1 },
      { target: one.id, hunks: [0] },
      { target: one.id, mainline: 0 },
    ]) {
      expect((await refusal(() => galley.undo(request))).code).toBe('usage')
    }
    expect(repo.snapshot()).toEqual(before)
  })
})
