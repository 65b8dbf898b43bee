import { describe, expect, test } from 'vitest'
import { openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type RepoOptions, type TestRepo } from '../helpers/repo.ts'
import { approveAndLand, land, numbered, replace, treeOf } from './undo-world.ts'

interface Kind {
  readonly options?: RepoOptions
  readonly prepare?: (repo: TestRepo) => void
  /** Where galley is opened, from the repository's parent. */
  readonly dir?: string
}

const kinds: Readonly<Record<string, Kind>> = {
  'a SHA-256 repository': { options: { objectFormat: 'sha256' } },
  'a detached HEAD': { prepare: (repo) => repo.git('checkout', '-q', '--detach') },
  'a linked worktree': {
    prepare: (repo) => repo.git('worktree', 'add', '-q', '-b', 'side', '../linked'),
    dir: 'linked',
  },
  'a folder with blanks and letters beyond ASCII': { options: { name: 'ä ö' }, dir: 'ä ö' },
  'a shallow clone': {
    prepare: (repo) => {
      repo.git('commit', '-q', '--allow-empty', '-m', 'second')
      repo.git('clone', '-q', '--depth=2', `file://${repo.dir}`, '../shallow')
    },
    dir: 'shallow',
  },
}

describe('undo and redo work in', () => {
  test.each(Object.entries(kinds))('%s', async (_, { options, prepare, dir = 'repo' }) => {
    using repo = makeRepo({ ...options, files: { 'a.txt': numbered(30), 'ü b.txt': 'b\n' } })
    prepare?.(repo)
    const at = `${repo.home}/${dir}`
    await using galley = await openGalley(repo, { dir: at })
    const tree = () => repo.git('-C', at, 'rev-parse', 'HEAD^{tree}')
    const one = await land(galley, 'One', [
      replace('a.txt', 'line 1\n', 'un\n'),
      replace('ü b.txt', 'b', 'B'),
    ])
    const near = await land(galley, 'Nine', [replace('a.txt', 'line 9', 'neuf')])
    const before = tree()
    await approveAndLand(galley, (await galley.undo({ target: one.id })).change)
    expect(repo.git('-C', at, 'show', 'HEAD:a.txt')).toBe(numbered(30, { 9: 'neuf' }).trimEnd())
    await approveAndLand(galley, (await galley.redo({ target: one.id })).change)
    expect(tree()).toBe(before)
    expect(repo.git('-C', at, 'status', '--porcelain')).toBe('')
    await land(galley, 'Nine again', [replace('a.txt', 'neuf', 'NEUF')])
    const refused = await refusal(() => galley.undo({ target: near.id }))
    expect(refused.data).toMatchObject({ conflicts: [{ path: 'a.txt', lines: [{ from: 9, to: 9 }] }] })
    expect((await galley.undo({ target: near.id, withLater: true })).change.files).toMatchObject([
      { path: 'a.txt', added: 1, removed: 1 },
    ])
  })

  test('a bare repository', async () => {
    using repo = makeRepo({ files: { 'a.txt': numbered(9) } })
    repo.git('clone', '-q', '--bare', repo.dir, '../bare.git')
    await using galley = await openGalley(repo, { dir: `${repo.home}/bare.git` })
    await using other = await openGalley(repo)
    const one = await land(other, 'One', [replace('a.txt', 'line 1', 'un')])
    repo.git('push', '-q', '../bare.git', 'main')
    const { change } = await galley.undo({ target: one.landed?.after ?? '' })
    await approveAndLand(galley, change)
    expect(repo.git('-C', '../bare.git', 'show', 'main:a.txt')).toBe(numbered(9).trimEnd())
  })

  test('files whose line endings are others in the work tree', async () => {
    using repo = makeRepo({
      files: { '.gitattributes': '*.txt text eol=crlf\n', 'a.txt': numbered(30).replaceAll('\n', '\r\n') },
    })
    await using galley = await openGalley(repo)
    const one = await land(galley, 'One', [replace('a.txt', 'line 1\r\n', 'un\r\n')])
    await land(galley, 'Nine', [replace('a.txt', 'line 9\r\n', 'neuf\r\n')])
    repo.write('a.txt', repo.bytes('a.txt').toString().replace('line 25', 'mine'))
    await approveAndLand(galley, (await galley.undo({ target: one.id })).change)
    expect(repo.bytes('a.txt').toString()).toBe(
      numbered(30, { 9: 'neuf', 25: 'mine' }).replaceAll('\n', '\r\n'),
    )
    expect(repo.git('show', 'HEAD:a.txt')).toBe(numbered(30, { 9: 'neuf' }).trimEnd())
    expect(repo.git('diff', '--stat')).toContain('2 +-')
  })

  test('commits that made or removed a symbolic link without galley', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', target: 'a.txt' } })
    repo.git('update-index', '--add', '--cacheinfo', `120000,${repo.git('rev-parse', 'HEAD:target')},link`)
    repo.git('commit', '-q', '-m', 'link')
    repo.git('checkout', '-q', '--', 'link')
    repo.git('rm', '-q', 'link')
    repo.git('commit', '-q', '-m', 'no link')
    await using galley = await openGalley(repo)
    const { change } = await galley.undo({ target: 'HEAD', paths: ['link'] })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect([treeOf(repo, 'HEAD'), repo.git('status', '--porcelain')]).toEqual([treeOf(repo, 'HEAD~2'), ''])
    expect(repo.read('link')).toBe('a\n')
  })
})

describe('undo refuses, with nothing moved,', () => {
  test('where a directory stands now that a file would need', async () => {
    using repo = makeRepo({ files: { a: 'file\n', 'b.txt': 'b\n' } })
    repo.git('rm', '-q', 'a')
    const gone = repo.commit('gone')
    repo.write('a/b.txt', 'now a directory\n')
    const made = repo.commit('directory')
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.undo({ target: gone }))
    expect([refused.code, refused.data['later']]).toMatchObject([
      'overlaps-later',
      [{ commit: made, how: 'added' }],
    ])
    const tree = treeOf(repo, 'HEAD~2')
    expect((await galley.undo({ target: gone, withLater: true })).change.tree).toBe(tree)
  })
})
