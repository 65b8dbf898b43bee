import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openImporter } from '../../src/git/fast-import.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { commitId } from '../../src/model/ids.ts'
import { openStore } from '../../src/store/open-store.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

test('tells names apart that differ in case, on a file system that does not', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n' } })
  const { door } = await openStore(await openRepository(repo.dir, repo.env))
  repo.git(`--git-dir=${door.gitDir}`, 'config', 'core.ignoreCase', 'true')
  const importer = openImporter(door, { asPack: true })
  const who = { name: 'A', email: 'a', date: '1700000000 +0000' }
  const { commit } = await importer.commit({
    parent: commitId(repo.git('rev-parse', 'HEAD')),
    author: who,
    committer: who,
    message: 'm\n',
    changes: [
      { kind: 'delete', path: 'a.txt' },
      { kind: 'bytes', path: 'A.txt', mode: '100644', bytes: Buffer.from('a\n') },
      { kind: 'bytes', path: 'D/b.txt', mode: '100644', bytes: Buffer.from('b\n') },
    ],
  })
  await importer.finish()
  expect(repo.git(`--git-dir=${door.gitDir}`, 'ls-tree', '-r', '--name-only', commit).split('\n')).toEqual([
    'A.txt',
    'D/b.txt',
    'd/b.txt',
  ])
})

describe('an import that fails', () => {
  test('says why in the words of git, and leaves no report of it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const { door } = await openStore(await openRepository(repo.dir, repo.env))
    const before = readdirSync(door.gitDir)
    const importer = openImporter(door, { asPack: true })
    const who = { name: 'A', email: 'a', date: '1700000000 +0000' }
    const commit = { author: who, committer: who, message: 'm\n', changes: [] }
    const found = await refusal(() => importer.commit({ ...commit, parent: commitId('1'.repeat(40)) }))
    expect(found.message).toContain('1'.repeat(40))
    expect(readdirSync(door.gitDir)).toEqual(before)
  })
})
