import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editIndex, type IndexEdit, scanIndex } from '../../src/git/index-edit.ts'
import { overwriteRanges, replaceWithParts } from '../../src/sys/quick-files.ts'
import { removeFromTree, writeInTree } from '../../src/sys/tree-files.ts'
import { gitInput } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const indexOf = (repo: TestRepo) => join(repo.dir, '.git/index')

/** Writes files and their index entries as the pool does, without git but for the blobs. */
function write(repo: TestRepo, files: Readonly<Record<string, string | null>>): boolean {
  const edits: IndexEdit[] = []
  for (const [path, content] of Object.entries(files)) {
    if (content !== null) continue
    if (!removeFromTree(repo.dir, path)) return false
    edits.push({ kind: 'remove', path })
  }
  for (const [path, content] of Object.entries(files)) {
    if (content === null) continue
    const id = gitInput(repo, ['hash-object', '-w', '--stdin'], content)
    const isExecutable = content.startsWith('#!')
    const written = writeInTree(repo.dir, path, Buffer.from(content), isExecutable)
    if (written.kind !== 'written') return false
    edits.push({ kind: 'set', path, id, mode: isExecutable ? '100755' : '100644', stat: written.stat })
  }
  const index = scanIndex(readFileSync(indexOf(repo)), 'sha1')
  if (index === null) return false
  const edited = editIndex(index, edits)
  if (edited.kind === 'whole') replaceWithParts(indexOf(repo), edited.bytes)
  else overwriteRanges(indexOf(repo), edited.bytes, edited.ranges)
  return true
}

/** The tree that git makes of the work tree with an index of its own. */
function treeByGit(repo: TestRepo): string {
  const env = { GIT_INDEX_FILE: join(repo.home, `index-${Math.random()}`) }
  const own = { ...repo, env: { ...repo.env, ...env } }
  gitInput(own, ['add', '-A'], '')
  return gitInput(own, ['write-tree'], '')
}

describe('editing an index without git', () => {
  test('gives the index that git would have: entries, times, checksum and cached tree', () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'd/e/c.txt': 'c\n', 'é/ü.txt': 'u\n', z: 'z\n' },
    })
    repo.git('status')
    const edited = write(repo, {
      'd/b.txt': 'changed\n',
      'd/e/c.txt': null,
      'd/e2/new.sh': '#!/bin/sh\n',
      'é/ü.txt': 'changed\n',
      '0': 'first\n',
      zz: 'last\n',
    })
    expect(edited).toBe(true)
    expect(repo.git('write-tree')).toBe(treeByGit(repo))
    // Entries whose times are those of the files need no look into them.
    expect(repo.tryGit('diff-files', '--quiet')).toEqual({ code: 0, out: '' })
    expect(repo.git('fsck', '--strict')).toBe('')
    repo.git('commit', '-qm', 'by the edited index')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('an index that is split, unfolded, of version 4 or flagged is left to git', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
    const edit = () => scanIndex(readFileSync(indexOf(repo)), 'sha1')
    expect(edit()).not.toBeNull()
    repo.git('update-index', '--skip-worktree', 'b.txt')
    expect(edit()).toBeNull()
    repo.git('update-index', '--no-skip-worktree', 'b.txt')
    repo.git('update-index', '--index-version', '4')
    expect(edit()).toBeNull()
    repo.git('update-index', '--index-version', '2')
    repo.git('update-index', '--split-index')
    expect(edit()).toBeNull()
    expect(scanIndex(Buffer.from('no index'), 'sha1')).toBeNull()
  })

  test('any edits of any files come out as git would have them', () => {
    const name = fc.constantFrom(
      'a',
      'b',
      'a.b',
      'a-',
      'ab',
      'd/a',
      'd/b',
      'd/e/a',
      'd.x',
      'd0/y',
      'long'.repeat(60),
    )
    const content = fc.constantFrom(null, 'one\n', 'two\n', '#!x\n')
    fc.assert(
      fc.property(fc.array(fc.dictionary(name, content, { maxKeys: 5 }), { maxLength: 4 }), (rounds) => {
        using repo = makeRepo({ files: { a: 'a\n', 'd/a': 'a\n', 'd/e/a': 'a\n', 'long/x': 'x\n' } })
        repo.git('write-tree')
        for (const files of rounds) {
          // What stands in the way of something is refused, and nothing else is looked at then.
          if (!write(repo, files)) return
          expect(repo.git('write-tree')).toBe(treeByGit(repo))
          expect(repo.tryGit('diff-files', '--quiet').code).toBe(0)
        }
        expect(repo.git('fsck', '--strict')).not.toContain('index')
      }),
      { numRuns: 25 },
    )
  })
})
