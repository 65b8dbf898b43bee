import { join } from 'node:path'
import { expect, test } from 'vitest'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

test('200 files are staged without any index being read: one that cannot be read is in nobody’s way', async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i % 20}/f${i}.txt`, `${i}\n`]))
  using repo = makeRepo({ files })
  repo.write('.git/index', 'no index at all')
  expect(repo.tryGit('status').code).not.toBe(0)
  const before = repo.bytes('.git/index')
  await using galley = await openGalley(repo)
  const edits = Object.keys(files).map((path) => ({ op: 'append', path, content: 'more\n' }))
  const { change } = await galley.propose({ batch: batch(edits) })
  expect(change.files).toHaveLength(200)
  await galley.approve({ id: change.id })
  expect(repo.bytes('.git/index')).toEqual(before)
  const store = join(repo.dir, '.git/galley/store.git')
  expect(repo.git('--git-dir', store, 'show', `${change.commit}:d7/f7.txt`)).toBe('7\nmore')
})
