import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { approveAndLand, land, numbered, replace, storeState, treeOf } from './undo-world.ts'

describe('an undo that later commits stand in the way of', () => {
  test('is refused with who they are, where, and both sides drawn; nothing moves', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(30), 'b.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 9', 'neuf')])
    await land(galley, 'Far away', [replace('a.txt', 'line 25', 'far')])
    const nine = await land(galley, 'Nine again', [replace('a.txt', 'neuf', 'NEUF')])
    repo.write('a.txt', repo.read('a.txt').replace('line 10', 'dix'))
    const mine = repo.commit('ten, right beside')
    await land(galley, 'Another file', [replace('b.txt', 'line 9', 'x')])
    const [before, store] = [repo.snapshot(), storeState(repo)]
    const refused = await refusal(() => galley.undo({ target: one.id }))
    expect(refused.code).toBe('overlaps-later')
    expect(refused.message).toContain(`undo ${one.id}: later changes overlap with it in "a.txt" (line 9–10)`)
    expect(refused.hint).toContain('--with-later')
    expect(refused.data).toMatchObject({
      commit: one.landed?.after,
      paths: ['a.txt'],
      withLater: true,
      later: [
        { commit: mine, title: 'ten, right beside', id: null, paths: ['a.txt'] },
        { commit: nine.landed?.after, title: 'Nine again', id: nine.id, paths: ['a.txt'] },
      ],
      conflicts: [
        {
          path: 'a.txt',
          lines: [{ from: 9, to: 10 }],
          drawing: {
            kind: 'drawn',
            conflicts: [
              {
                ours: { line: 9, text: ['NEUF', 'dix'] },
                base: { line: 9, text: ['neuf', 'line 10'] },
                theirs: { line: 9, text: ['line 9', 'line 10'] },
              },
            ],
          },
        },
      ],
    })
    expect(repo.snapshot()).toEqual(before)
    expect(storeState(repo)).toEqual(store)
    expect(readdirSync(join(repo.dir, '.git/galley/tmp'))).toEqual([])
  })

  test('takes them back too with `withLater`, newest first, as one change, and a redo brings all of it back', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(30), 'b.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 9', 'neuf')])
    const far = await land(galley, 'Far away', [replace('a.txt', 'line 25', 'far')])
    const nine = await land(galley, 'Nine again', [
      replace('a.txt', 'neuf', 'NEUF'),
      replace('b.txt', 'line 1', 'un'),
    ])
    const before = treeOf(repo)
    const undone = await galley.undo({ target: one.id, withLater: true })
    expect(undone.later).toMatchObject([{ id: nine.id, how: 'lines' }])
    expect(undone.change).toMatchObject({
      title: 'Revert "One" and 1 later change',
      undoes: [nine.landed?.after, one.landed?.after],
    })
    expect(undone.change.body.split('\n')).toEqual([
      `This reverts commit ${nine.landed?.after}. It landed ${nine.id}.`,
      `This reverts commit ${one.landed?.after}. It landed ${one.id}.`,
    ])
    await approveAndLand(galley, undone.change)
    expect(repo.read('a.txt')).toBe(numbered(30, { 25: 'far' }))
    expect(repo.read('b.txt')).toBe(numbered(9))
    const states = async () =>
      Promise.all([one, far, nine].map(async ({ id }) => (await galley.show(id)).change.state))
    expect(await states()).toEqual(['undone', 'landed', 'undone'])

    const again = await galley.redo({ target: undone.change.id })
    expect(again.change.title).toBe('Reapply "One" and 1 later change')
    await approveAndLand(galley, again.change)
    expect(treeOf(repo)).toBe(before)
    expect(await states()).toEqual(['landed', 'landed', 'landed'])
  })

  test('finds what stands in the way of those in turn', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(30), 'b.txt': numbered(30) } })
    const first = treeOf(repo)
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 9\n', 'neuf\n')])
    const two = await land(galley, 'Two', [
      replace('a.txt', 'neuf', 'NEUF'),
      replace('b.txt', 'line 5\n', 'cinq\n'),
    ])
    const three = await land(galley, 'Three', [
      replace('b.txt', 'cinq', 'CINQ'),
      replace('b.txt', 'line 20', 'x'),
    ])
    const four = await land(galley, 'Four', [replace('b.txt', 'x\n', 'y\n')])
    const refused = await refusal(() => galley.undo({ target: one.id }))
    expect(refused.data['later']).toMatchObject([four, three, two].map(({ id }) => ({ id })))
    await approveAndLand(galley, (await galley.undo({ target: one.id, withLater: true })).change)
    expect(treeOf(repo)).toBe(first)
  })

  test('says that a file was deleted later, and brings it back only when asked to', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9), 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1', 'un')])
    const gone = await land(galley, 'Tidy', [{ op: 'delete', path: 'a.txt' }])
    const refused = await refusal(() => galley.undo({ target: one.id }))
    expect(refused.message).toMatch(/^undo g\w+: .*, by g\w+ "Tidy"; "a.txt" was deleted later$/)
    expect(refused.data).toMatchObject({ later: [{ id: gone.id, how: 'deleted', paths: ['a.txt'] }] })
    expect(JSON.stringify(refused.data['messages'])).not.toMatch(/[0-9a-f]{40}/)
    expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false)
    await approveAndLand(galley, (await galley.undo({ target: one.id, withLater: true })).change)
    expect(repo.read('a.txt')).toBe(numbered(9))
  })

  test('of a new file that was edited since names the edits, under the name it has now', async () => {
    using repo = makeRepo({ files: { 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'New', [
      { op: 'write', path: 'a.txt', mode: 'create', content: numbered(9) },
    ])
    repo.git('mv', 'a.txt', 'c.txt')
    const moved = repo.commit('moved')
    const edited = await land(galley, 'Edited', [replace('c.txt', 'line 3', 'trois')])
    const refused = await refusal(() => galley.undo({ target: one.id }))
    expect(refused.data).toMatchObject({
      later: [
        { id: edited.id, how: 'lines', paths: ['c.txt'] },
        { commit: moved, how: 'renamed', paths: ['c.txt'] },
      ],
    })
    await approveAndLand(galley, (await galley.undo({ target: one.id, withLater: true })).change)
    expect(repo.git('ls-files')).toBe('b.txt')
  })

  test('of a deletion names who made a file of that name since', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'old\n', 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const gone = await land(galley, 'Gone', [{ op: 'delete', path: 'a.txt' }])
    const made = await land(galley, 'Made', [
      { op: 'write', path: 'a.txt', mode: 'create', content: 'new\n' },
    ])
    const refused = await refusal(() => galley.undo({ target: gone.id }))
    expect(refused.data).toMatchObject({ later: [{ id: made.id, how: 'added' }] })
    await approveAndLand(galley, (await galley.undo({ target: gone.id, withLater: true })).change)
    expect(repo.read('a.txt')).toBe('old\n')
  })

  test('of a binary file names every later version', async () => {
    const bytes = (n: number) => Buffer.from([0, n, 1, 2, 3])
    using repo = makeRepo({ files: { 'a.bin': bytes(0), 'b.txt': 'b\n' } })
    repo.write('a.bin', bytes(1))
    const one = repo.commit('one')
    repo.write('a.bin', bytes(2))
    const two = repo.commit('two')
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.undo({ target: one }))
    expect(refused.data).toMatchObject({
      later: [{ commit: two }],
      conflicts: [{ path: 'a.bin', lines: [] }],
    })
    const { change } = await galley.undo({ target: one, withLater: true })
    await approveAndLand(galley, change)
    expect(repo.bytes('a.bin')).toEqual(bytes(0))
  })

  test('counts a merge that brought them as one of them', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(30), 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 8\n', 'huit\n')])
    repo.git('checkout', '-q', '-b', 'side')
    repo.write('a.txt', numbered(30, { 8: 'huit', 9: 'neuf' }))
    repo.commit('nine')
    repo.git('checkout', '-q', 'main')
    repo.git('merge', '-q', '--no-ff', '-m', 'merge side', 'side')
    const merge = repo.git('rev-parse', 'HEAD')
    repo.write('b.txt', 'B\n')
    repo.commit('b')
    const refused = await refusal(() => galley.undo({ target: one.id }))
    expect(refused.data).toMatchObject({ later: [{ commit: merge, id: null, title: 'merge side' }] })
    const { change } = await galley.undo({ target: one.id, withLater: true })
    expect(change.body).toContain(
      `This reverts commit ${merge}, reversing\nchanges made to ${one.landed?.after}.`,
    )
    await approveAndLand(galley, change)
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual([numbered(30), 'B\n'])
  })

  test('is told apart from uncommitted work, which no undo takes back', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 3', 'trois')])
    repo.write('a.txt', repo.read('a.txt').replace('trois', 'mine'))
    const before = repo.snapshot()
    const { change } = await galley.undo({ target: one.id })
    await galley.approve({ id: change.id })
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('overlaps-uncommitted')
    expect(repo.snapshot()).toEqual(before)
  })
})
