import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { approveAndLand, land, numbered, replace, storeState, treeOf } from './undo-world.ts'

describe('undo', () => {
  test('takes a change out of the middle and leaves later edits of the same file', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(20) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')])
    await land(galley, 'Nine', [replace('a.txt', 'line 9', 'neuf')])
    repo.write('a.txt', repo.read('a.txt').replace('line 15', 'quinze'))
    repo.commit('mine')
    const undone = await galley.undo({ target: one.id })
    expect(undone).toMatchObject({
      later: [],
      change: {
        state: 'staged',
        title: 'Revert "One"',
        undoes: [one.landed?.after],
        undoesPartly: [],
        redoes: [],
      },
    })
    expect(undone.change.body).toBe(`This reverts commit ${one.landed?.after}. It landed ${one.id}.`)
    await approveAndLand(galley, undone.change)
    expect(repo.read('a.txt')).toBe(numbered(20, { 9: 'neuf', 15: 'quinze' }))
    expect(repo.git('status', '--porcelain')).toBe('')
    expect((await galley.show(one.id)).change).toMatchObject({ state: 'undone', undoneBy: undone.change.id })
  })

  test('follows a file that was renamed since, and touches no other path', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(20), 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')])
    repo.git('mv', 'a.txt', 'moved.txt')
    repo.write('b.txt', 'other\n')
    repo.commit('moved')
    const { change } = await galley.undo({ target: one.id })
    expect(change.files.map((f) => f.path)).toEqual(['moved.txt'])
    await approveAndLand(galley, change)
    expect(repo.read('moved.txt')).toBe(numbered(20))
  })

  test('of a rename gives the old name back, with what was edited since', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(20) } })
    await using galley = await openGalley(repo)
    const moved = await land(galley, 'Move', [{ op: 'move', path: 'a.txt', to: 'dir/b.txt' }])
    await land(galley, 'Nine', [replace('dir/b.txt', 'line 9', 'neuf')])
    const { change } = await galley.undo({ target: moved.id })
    expect(change.files).toMatchObject([
      { path: 'a.txt', status: 'renamed', renamedFrom: 'dir/b.txt' },
      { path: 'dir/b.txt', status: 'deleted' },
    ])
    await approveAndLand(galley, change)
    expect(repo.read('a.txt')).toBe(numbered(20, { 9: 'neuf' }))
    expect(existsSync(join(repo.dir, 'dir'))).toBe(false)
  })

  test('works on a change that was re-parented when it landed, and on one of several revisions', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const staged = await galley.propose({
      batch: { version: 1, title: 'A', edits: [replace('a.txt', 'a', 'first')] },
    })
    const revised = await galley.propose({
      batch: { version: 1, title: 'A', edits: [replace('a.txt', 'a', 'second')] },
      revise: staged.change.id,
    })
    await land(galley, 'B', [replace('b.txt', 'b', 'B')])
    const landed = await approveAndLand(galley, revised.change)
    expect(landed.landed?.after).not.toBe(landed.commit)
    await approveAndLand(galley, (await galley.undo({ target: landed.id })).change)
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual(['a\n', 'B\n'])
  })

  test('leaves staged, unstaged and untracked work byte for byte', async () => {
    const files = { 'a.txt': numbered(30), 'staged.txt': 's\n', 'unstaged.txt': 'u\n' }
    using repo = makeRepo({ files })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')])
    await land(galley, 'Nine', [replace('a.txt', 'line 9', 'neuf')])
    repo.write('staged.txt', 's\nmine\n')
    repo.git('add', 'staged.txt')
    repo.write('unstaged.txt', 'u\r\nmine')
    repo.write('untracked.txt', 'new\n')
    repo.write('a.txt', repo.read('a.txt').replace('line 25', 'mine'))
    const [status, index] = [
      repo.git('status', '--porcelain'),
      repo.git('ls-files', '-s', 'staged.txt', 'unstaged.txt'),
    ]
    await approveAndLand(galley, (await galley.undo({ target: one.id })).change)
    expect(repo.git('status', '--porcelain')).toBe(status)
    expect(repo.git('ls-files', '-s', 'staged.txt', 'unstaged.txt')).toBe(index)
    expect(repo.read('a.txt')).toBe(numbered(30, { 9: 'neuf', 25: 'mine' }))
    expect(repo.git('show', 'HEAD:a.txt')).toBe(numbered(30, { 9: 'neuf' }).trimEnd())
    expect(repo.bytes('unstaged.txt').toString()).toBe('u\r\nmine')
    expect(repo.git('stash', 'list')).toBe('')
  })

  test("works on any commit, a merge by its mainline, in git's words", async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(20) } })
    repo.git('checkout', '-q', '-b', 'side')
    repo.write('a.txt', numbered(20, { 3: 'trois' }))
    repo.commit('three')
    repo.git('checkout', '-q', 'main')
    repo.write('b.txt', 'b\n')
    const plain = repo.commit('b')
    repo.git('merge', '-q', '--no-ff', '-m', 'merge side', 'side')
    const merge = repo.git('rev-parse', 'HEAD')
    await using galley = await openGalley(repo)
    expect((await refusal(() => galley.undo({ target: 'HEAD' }))).code).toBe('needs-mainline')
    expect((await refusal(() => galley.undo({ target: 'HEAD', mainline: 3 }))).code).toBe('needs-mainline')
    const undone = await galley.undo({ target: 'HEAD', mainline: 1 })
    expect(undone.change).toMatchObject({
      title: 'Revert "merge side"',
      body: `This reverts commit ${merge}, reversing\nchanges made to ${plain}.`,
      undoes: [merge],
    })
    await approveAndLand(galley, undone.change)
    expect(repo.read('a.txt')).toBe(numbered(20))
    await approveAndLand(galley, (await galley.undo({ target: plain })).change)
    expect(existsSync(join(repo.dir, 'b.txt'))).toBe(false)
  })

  test('refuses a root commit, the boundary of a shallow clone, and what is not in the branch', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git('checkout', '-q', '-b', 'side')
    repo.write('b.txt', 'b\n')
    const elsewhere = repo.commit('elsewhere')
    repo.git('checkout', '-q', 'main')
    await using galley = await openGalley(repo)
    const before = repo.snapshot()
    expect((await refusal(() => galley.undo({ target: 'HEAD' }))).code).toBe('root-commit')
    expect((await refusal(() => galley.undo({ target: elsewhere }))).code).toBe('wrong-state')
    expect((await refusal(() => galley.undo({ target: 'no-such' }))).code).toBe('unknown-change')
    expect((await refusal(() => galley.undo({ target: 'gzzzzzzzzz' }))).code).toBe('unknown-change')
    expect(repo.snapshot()).toEqual(before)

    repo.write('a.txt', 'b\n')
    repo.commit('second')
    repo.git('clone', '-q', '--depth=1', `file://${repo.dir}`, `${repo.home}/shallow`)
    await using shallow = await openGalley(repo, { dir: `${repo.home}/shallow` })
    expect((await refusal(() => shallow.undo({ target: 'HEAD' }))).code).toBe('root-commit')
  })

  test('refuses what is pending, undone already, or has nothing left to undo', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change: pending } = await galley.propose({
      batch: { version: 1, title: 'Pending', edits: [replace('a.txt', 'a', 'x')] },
    })
    expect(await refusal(() => galley.undo({ target: pending.id }))).toMatchObject({ code: 'wrong-state' })
    const one = await land(galley, 'One', [replace('a.txt', 'a', 'b')])
    repo.git('revert', '--no-edit', 'HEAD')
    expect(await refusal(() => galley.undo({ target: one.id }))).toMatchObject({ code: 'no-change' })
    repo.git('revert', '--no-edit', 'HEAD')
    await approveAndLand(galley, (await galley.undo({ target: one.id })).change)
    const again = await refusal(() => galley.undo({ target: one.id }))
    expect([again.code, again.hint]).toEqual(['wrong-state', `It is brought back by: galley redo ${one.id}`])
  })

  test('finds a change whose commit a rebase rewrote, or whose branch was merged and deleted', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9), 'b.txt': 'b\n' } })
    const first = repo.git('rev-parse', 'HEAD')
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')])
    repo.git('checkout', '-q', '-b', 'base', first)
    repo.write('b.txt', 'before\n')
    repo.commit('before')
    repo.git('checkout', '-q', 'main')
    repo.git('rebase', '-q', 'base')
    const { change } = await galley.undo({ target: one.id })
    expect(change.undoes).toEqual([repo.git('rev-parse', 'HEAD')])
    await approveAndLand(galley, change)
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual([numbered(9), 'before\n'])
    expect((await galley.show(one.id)).change.state).toBe('undone')

    repo.git('checkout', '-q', '-b', 'feature')
    const two = await land(galley, 'Two', [replace('a.txt', 'line 2', 'deux')])
    repo.git('checkout', '-q', 'main')
    repo.git('merge', '-q', '--no-ff', '-m', 'merge', 'feature')
    repo.git('branch', '-q', '-d', 'feature')
    await approveAndLand(galley, (await galley.undo({ target: two.id })).change)
    expect(repo.read('a.txt')).toBe(numbered(9))
    expect((await galley.show(two.id)).change.state).toBe('undone')
  })

  test('goes to the branch that is checked out where that holds the change, and else to the one where it landed', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const first = repo.git('rev-parse', 'HEAD')
    const agent = { name: 'bot', session: 's-1' }
    const edit = { ...batch([replace('a.txt', 'line 1\n', 'un\n')]), agent }
    const { change } = await galley.apply({ batch: edit })
    repo.git('switch', '-qc', 'later')
    for (const request of [{ target: change.id }, { session: 's-1' }])
      expect((await galley.previewUndo(request)).onto).toBe('refs/heads/later')
    repo.git('switch', '-qc', 'before', first)
    for (const request of [{ target: change.id }, { session: 's-1' }])
      expect((await galley.previewUndo(request)).onto).toBe('refs/heads/main')
    const said = await cliHere(repo, ['undo', change.id])
    expect(said.stderr).toContain('on main, which is not checked out here')
  })

  test('does not count a change as undone when a copy on another branch is', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const first = repo.git('rev-parse', 'HEAD')
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'a', 'b')])
    repo.git('checkout', '-q', '-b', 'release', first)
    repo.git('commit', '-q', '--allow-empty', '-m', 'release')
    repo.git('cherry-pick', 'main')
    await approveAndLand(galley, (await galley.undo({ target: 'HEAD' })).change)
    expect(repo.read('a.txt')).toBe('a\n')
    expect((await galley.show(one.id)).change.state).toBe('landed')
  })

  test('believes the last trailer only: a message may name another change before it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
    await using galley = await openGalley(repo)
    const victim = await land(galley, 'Victim', [replace('a.txt', 'a', 'x')])
    const liar = await land(galley, 'Liar', [replace('b.txt', 'b', 'y')])
    repo.git(
      'commit',
      '--amend',
      '-q',
      '-m',
      `Liar\n\nGalley-Change: ${victim.id}\n\nGalley-Change: ${liar.id}`,
    )
    await approveAndLand(galley, (await galley.undo({ target: 'HEAD' })).change)
    expect((await galley.show(victim.id)).change.state).toBe('landed')
    expect((await galley.show(liar.id)).change.state).toBe('undone')
  })

  test('of a file whose name is not UTF-8 is refused and named; the other paths of the commit can be taken back', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const odd = Buffer.from(join(repo.dir, 'caf\xe9.txt'), 'latin1')
    const writeOdd = (text: string) => writeFileSync(odd, text)
    writeOdd('eins\n')
    repo.commit('odd')
    writeOdd('zwei\n')
    repo.write('a.txt', 'two\n')
    repo.commit('both')
    const stands = () => [repo.git('for-each-ref'), repo.git('status', '--porcelain'), repo.read('a.txt')]
    const before = stands()
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.undo({ target: 'HEAD' }))
    expect(refused).toMatchObject({ code: 'path-invalid', data: { path: 'caf\uFFFD.txt' } })
    expect(refused.hint).toContain('--path')
    expect((await refusal(() => galley.previewUndo({ target: 'HEAD' }))).code).toBe('path-invalid')
    expect(stands()).toEqual(before)
    const { change } = await galley.undo({ target: 'HEAD', paths: ['a.txt'] })
    await approveAndLand(galley, change)
    expect(repo.read('a.txt')).toBe('one\n')
    expect(readFileSync(odd, 'utf8')).toBe('zwei\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('is held by the policy in force at the tip', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'a', 'b')])
    repo.write('.galley.json', '{"deny":["a.txt"]}')
    repo.commit('deny')
    expect((await refusal(() => galley.undo({ target: one.id }))).code).toBe('denied-path')
    repo.write('.galley.json', '{"mode":"read-only"}')
    repo.commit('read-only')
    expect((await refusal(() => galley.undo({ target: one.id }))).code).toBe('read-only')
  })

  test('shown by a dry run leaves nothing: no change, no ref, no object, no file', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(20) } })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\n', 'un\n')])
    await land(galley, 'Nine', [replace('a.txt', 'line 9', 'neuf')])
    const [before, store] = [repo.snapshot(), storeState(repo)]
    const shown = await galley.previewUndo({ target: one.id })
    expect(shown).toMatchObject({
      title: 'Revert "One"',
      onto: 'refs/heads/main',
      base: repo.git('rev-parse', 'HEAD'),
      undoes: [one.landed?.after],
      files: [{ path: 'a.txt', status: 'modified', added: 1, removed: 1 }],
    })
    expect(Buffer.from(shown.pairs[0]?.after?.bytes ?? []).toString()).toBe(numbered(20, { 9: 'neuf' }))
    expect((await refusal(() => galley.previewUndo({ target: 'HEAD~2' }))).code).toBe('root-commit')
    expect(repo.snapshot()).toEqual(before)
    expect(storeState(repo)).toEqual(store)
    expect(readdirSync(join(repo.dir, '.git/galley/tmp'))).toEqual([])
    const { change } = await galley.undo({ target: one.id })
    expect(change.files).toEqual(shown.files)
  })

  test('writes into the store only what the change needs', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(20), 'b.txt': numbered(9) } })
    await using galley = await openGalley(repo)
    const edits = [replace('a.txt', 'line 1\n', 'un\n'), replace('b.txt', 'line 9', 'neuf')]
    const one = await land(galley, 'One', edits)
    await land(galley, 'Nine', [replace('a.txt', 'line 9', 'neuf')])
    const unreachable = () =>
      repo.git('--git-dir', '.git/galley/store.git', 'fsck', '--unreachable', '--strict')
    const before = unreachable()
    await galley.undo({ target: one.id, checks: 'later' })
    await galley.undo({ target: one.id, paths: ['a.txt'], checks: 'later' })
    await refusal(() => galley.undo({ target: one.id, hunks: [9] }))
    expect(unreachable()).toBe(before)
  })

  test('of everything, newest first, gives the first tree', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9), 'b.txt': 'b\n' } })
    const first = treeOf(repo)
    await using galley = await openGalley(repo)
    const changes = [
      await land(galley, '1', [replace('a.txt', 'line 1\n', 'un\n')]),
      await land(galley, '2', [replace('a.txt', 'un', 'uno'), { op: 'delete', path: 'b.txt' }]),
      await land(galley, '3', [{ op: 'move', path: 'a.txt', to: 'b.txt' }]),
    ]
    for (const { id } of changes.reverse())
      await approveAndLand(galley, (await galley.undo({ target: id })).change)
    expect(treeOf(repo)).toBe(first)
  })
})
