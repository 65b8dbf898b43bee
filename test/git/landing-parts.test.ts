import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configBoolean, configValues } from '../../src/git/config-values.ts'
import { mergeFiles } from '../../src/git/merge-file.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { operationInProgress } from '../../src/git/operation-state.ts'
import { newObjects, stageObjects } from '../../src/git/promote.ts'
import { prepareRefMove, startRefTransaction } from '../../src/git/ref-transaction.ts'
import { listWorktrees } from '../../src/git/worktree-list.ts'
import { type CommitId, commitId, type RefName } from '../../src/model/ids.ts'
import { placeObjects } from '../../src/sys/place-objects.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { stageChange } from '../landing/stage-change.ts'

const doorOf = async (repo: TestRepo) => (await openRepository(repo.dir, repo.env)).door

describe('merging files', () => {
  async function merge(mine: string, base: string, theirs: string) {
    await using repo = makeRepo({ files: { x: 'x' } })
    const files = ['mine', 'base', 'theirs'].map((name) => join(repo.home, name)) as [string, string, string]
    for (const [i, text] of [mine, base, theirs].entries()) writeFileSync(files[i] ?? '', text, 'latin1')
    return await mergeFiles(await doorOf(repo), files)
  }
  const text = (changed: Readonly<Record<number, string>>) =>
    Array.from({ length: 30 }, (_, i) => changed[i + 1] ?? `line ${i + 1}\n`).join('')

  test('takes both sides where they do not touch', async () => {
    const merged = await merge(text({ 25: 'MINE\n' }), text({}), text({ 3: 'THEIRS\n' }))
    expect(merged).toEqual({ kind: 'clean', bytes: Buffer.from(text({ 3: 'THEIRS\n', 25: 'MINE\n' })) })
  })

  test('names the lines of the first file at conflicts, whatever the other side put above', async () => {
    const theirs = text({ 1: 'more\nand\nmore\n', 10: 'T10\n', 20: 'T20\n' })
    const mine = text({ 5: '', 10: 'M10\n', 20: 'M20\nM20b\n' })
    expect(await merge(mine, text({}), theirs)).toEqual({
      kind: 'conflict',
      lines: [
        { from: 9, to: 9 },
        { from: 19, to: 20 },
      ],
    })
  })

  test('keeps carriage returns and bytes that are no UTF-8', async () => {
    const merged = await merge(
      'a\r\nb\r\nc\r\nd\r\ne\r\nM\xff\r\n',
      'a\r\nb\r\nc\r\nd\r\ne\r\nf\r\n',
      'T\r\nb\r\nc\r\nd\r\ne\r\nf\r\n',
    )
    expect(merged).toMatchObject({
      kind: 'clean',
      bytes: Buffer.from('T\r\nb\r\nc\r\nd\r\ne\r\nM\xff\r\n', 'latin1'),
    })
  })

  test('says that binary files cannot be merged', async () => {
    expect(await merge('a\0b', 'a\0', 'a\0c')).toEqual({ kind: 'binary' })
  })
})

describe("bringing objects into the user's store", () => {
  test('lists the objects of several commits, whatever their paths look like, and copies just these', async () => {
    await using repo = makeRepo({ files: { 'deep/er/a.txt': 'a\n', other: 'o\n' } })
    const path = `${'a'.repeat(40)} ${'b'.repeat(40)}`
    const first = await stageChange(repo, { 'deep/er/a.txt': 'A\n', [path]: 'hostile\n' })
    const second = await stageChange(
      repo,
      { 'deep/er/a.txt': 'AA\n', ':000000 100644 x': 'hostile\n' },
      { before: first.after },
    )
    const found = await newObjects(first.store, first.before, second.after)
    expect(found.commits).toEqual([second.after, first.after])
    const expected = repo.git(
      `--git-dir=${first.store.gitDir}`,
      'rev-list',
      '--objects',
      second.after,
      `^${first.before}`,
    )
    expect([...found.ids].sort()).toEqual(
      expected
        .split('\n')
        .map((line) => line.slice(0, 40))
        .sort(),
    )

    const { repository, store } = first
    const { door: user, commonDir } = repository
    const objectsDir = join(commonDir, 'objects')
    const aside = { directory: join(commonDir, 'galley', 'a "quoted": one'), objectsDir }
    mkdirSync(aside.directory)
    const before = repo.snapshot()
    await stageObjects({ store, user, aside, sharedRepository: null, ids: found.ids })
    expect(repo.snapshot()).toEqual(before)
    placeObjects(aside.directory, objectsDir)
    expect(repo.git('rev-list', '--objects', second.after).length).toBeGreaterThan(0)
    expect(repo.git('count-objects')).toMatch(/^\d+ objects/)
  })

  test('lists nothing for a root that is there, and everything of an unborn branch', async () => {
    await using repo = makeRepo()
    const request = await stageChange(repo, { 'a/b': 'b\n' })
    expect((await newObjects(request.store, null, request.after)).ids).toHaveLength(4)
    expect((await newObjects(request.store, request.after, request.after)).ids).toEqual([])
  })
})

describe('the prepared move of a ref', () => {
  async function prepare(repo: TestRepo, before: string | null, ref = 'refs/heads/main') {
    const door = await doorOf(repo)
    const after = repo.git('commit-tree', '-m', 'next', 'HEAD^{tree}')
    const move = { ref: ref as RefName, before, after, reason: 'why\nnot' }
    return {
      after,
      prepared: await prepareRefMove(door, move, startRefTransaction(door, move.reason, repo.env)),
    }
  }

  test('holds the locks until it is committed, and writes one line into both logs', async () => {
    await using repo = makeRepo({ files: { a: 'a\n' } })
    const tip = repo.git('rev-parse', 'HEAD')
    const { after, prepared } = await prepare(repo, tip)
    expect(repo.git('rev-parse', 'HEAD')).toBe(tip)
    expect(repo.tryGit('update-ref', 'refs/heads/main', after, tip).code).not.toBe(0)
    await prepared.commit()
    expect(repo.git('rev-parse', 'HEAD')).toBe(after)
    expect(repo.git('reflog', '-1', '--format=%gs', 'HEAD')).toBe('why not')
    expect(repo.git('reflog', '-1', '--format=%gs', 'main')).toBe('why not')
  })

  test('writes no log where the user keeps none', async () => {
    await using repo = makeRepo()
    repo.git('config', 'core.logAllRefUpdates', 'false')
    repo.write('a', 'a\n')
    repo.commit('first')
    const { prepared } = await prepare(repo, repo.git('rev-parse', 'HEAD'))
    await prepared.commit()
    expect(repo.git('reflog', 'show', 'main')).toBe('')
  })

  test('gives everything back when it is called off', async () => {
    await using repo = makeRepo({ files: { a: 'a\n' } })
    const before = repo.snapshot()
    const { prepared } = await prepare(repo, repo.git('rev-parse', 'HEAD'))
    await prepared.abort()
    expect({ ...repo.snapshot(), gitFiles: {} }).toEqual({ ...before, gitFiles: {} })
  })

  test.each([
    [
      'the ref is elsewhere',
      (repo: TestRepo) => repo.git('commit-tree', '-m', 'x', 'HEAD^{tree}'),
      'branch-moved',
    ],
    ['the ref should not be there', () => null, 'branch-moved'],
  ])('is refused when %s', async (_, before, code) => {
    await using repo = makeRepo({ files: { a: 'a\n' } })
    await expect(prepare(repo, before(repo))).rejects.toMatchObject({ code })
  })
})

describe('looking at a repository', () => {
  test('work trees are listed with their branches, whatever their paths', async () => {
    await using repo = makeRepo({ files: { a: 'a\n' } })
    repo.git('worktree', 'add', '-q', '-b', 'side', '../with\nline')
    repo.git('worktree', 'add', '-q', '--detach', '../detached')
    const tip = repo.git('rev-parse', 'HEAD') as CommitId
    expect(await listWorktrees(await doorOf(repo))).toEqual([
      { path: repo.dir, head: commitId(tip), branch: 'refs/heads/main', isBare: false },
      { path: join(repo.home, 'detached'), head: tip, branch: null, isBare: false },
      { path: join(repo.home, 'with\nline'), head: tip, branch: 'refs/heads/side', isBare: false },
    ])
  })

  test('no operation is in progress, then one is', async () => {
    await using repo = makeRepo({ files: { a: 'a\n' } })
    const gitDir = join(repo.dir, '.git')
    expect(await operationInProgress(gitDir)).toBeNull()
    mkdirSync(join(gitDir, 'rebase-merge'))
    expect(await operationInProgress(gitDir)).toEqual({
      operation: 'rebase',
      mark: join(gitDir, 'rebase-merge'),
      end: 'git rebase --abort',
    })
  })

  test('configuration is read as git reads it', async () => {
    await using repo = makeRepo({ files: { a: 'a\n' } })
    repo.write(
      '.git/config',
      `${repo.read('.git/config')}[galleytest]\n\tyes\n\tno = off\n\ttext = "line\\nbreak"\n\ttwice = 1\n\ttwice = 0\n`,
    )
    const values = await configValues(await doorOf(repo), '^galleytest\\.')
    expect(values.get('galleytest.text')).toBe('line\nbreak')
    expect(
      ['yes', 'no', 'twice', 'missing'].map((key) => configBoolean(values, `galleytest.${key}`, true)),
    ).toEqual([true, false, false, true])
  })
})
