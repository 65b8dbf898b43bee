import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRepository } from '../../src/git/open-repository.ts'
import { openStore } from '../../src/store/open-store.ts'
import { writeCommit, writeObject } from '../../src/store/write-objects.ts'
import { makeRepo } from '../helpers/repo.ts'

test.each(['sha1', 'sha256'] as const)(
  'a commit that galley writes itself is the one that git would have written: %s',
  async (objectFormat) => {
    using repo = makeRepo({ objectFormat, files: { a: 'a\n' } })
    const store = await openStore(await openRepository(repo.dir, repo.env))
    const files = { 'event.json': '{}\n', 'output/ä b.txt': 'x', 'output.txt': 'y', 'output-1': 'z' }
    for (const [path, text] of Object.entries(files)) repo.write(path, text)
    repo.git('rm', '-q', '--cached', 'a')
    repo.git('add', ...Object.keys(files))
    const tree = repo.git('write-tree')
    const who = { name: 'Test User', email: 'test@example.org', date: '1700000000 +0000' }
    const bytes = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]))
    const commit = await writeCommit(store, {
      parent: null,
      author: who,
      committer: who,
      message: 'note\n',
      files: bytes,
    })
    expect(commit).toBe(repo.git('commit-tree', tree, '-m', 'note'))
    const storeGit = (...args: string[]) => repo.git(`--git-dir=${store.door.gitDir}`, ...args)
    expect(storeGit('fsck', '--strict', commit)).not.toContain('missing')
    expect(storeGit('ls-tree', '-r', '--name-only', commit).split('\n')).toHaveLength(4)
  },
)

test.each(['..', '.git', 'a//b', 'a/../b', '.GIT/x', ''])('a log holds no file named %s', async (path) => {
  using repo = makeRepo({ files: { a: 'a\n' } })
  const store = await openStore(await openRepository(repo.dir, repo.env))
  const who = { name: 'A', email: 'a@b', date: '1700000000 +0000' }
  const files = new Map([[path, Buffer.from('x')]])
  await expect(
    writeCommit(store, { parent: null, author: who, committer: who, message: '', files }),
  ).rejects.toThrow()
})

test('writing an object again leaves one that git reads', async () => {
  using repo = makeRepo({ files: { a: 'a\n' } })
  const store = await openStore(await openRepository(repo.dir, repo.env))
  const id = await writeObject(store, 'blob', Buffer.from('seen\n'))
  expect(await writeObject(store, 'blob', Buffer.from('seen\n'))).toBe(id)
  expect(repo.git(`--git-dir=${join(store.door.gitDir)}`, 'cat-file', 'blob', id)).toBe('seen')
})
