import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { git } from '../../src/git/door.ts'
import { hooksPath } from '../../src/git/hooks-path.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function wholeJob(repo: TestRepo, dir = repo.dir): Promise<void> {
  await using galley = await openGalley(repo, { dir })
  const { change } = await galley.propose({
    batch: batch([{ op: 'write', path: 'new/file.txt', mode: 'create', content: 'hello\n' }]),
  })
  await galley.approve({ id: change.id })
  await galley.land({ id: change.id })
}

describe('the job works in', () => {
  test('a repository without a commit', async () => {
    using repo = makeRepo()
    repo.write('untracked.txt', 'mine\n')
    await wholeJob(repo)
    expect(repo.git('log', '--format=%s')).toBe('A change')
    expect(repo.git('status', '--porcelain')).toBe('?? untracked.txt')
    expect(repo.read('new/file.txt')).toBe('hello\n')
  })

  test('a detached HEAD, leaving every branch where it is', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const main = repo.git('rev-parse', 'main')
    repo.git('checkout', '--quiet', '--detach')
    await wholeJob(repo)
    expect(repo.git('rev-parse', 'main')).toBe(main)
    expect(repo.git('rev-parse', 'HEAD^')).toBe(main)
    expect(repo.tryGit('symbolic-ref', '-q', 'HEAD').code).not.toBe(0)
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('a linked worktree, leaving the main one alone', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const linked = join(repo.home, 'linked')
    repo.git('worktree', 'add', '--quiet', '-b', 'side', linked)
    const main = repo.git('rev-parse', 'main')
    await wholeJob(repo, linked)
    expect(repo.git('rev-parse', 'main')).toBe(main)
    expect(repo.git('log', '-1', '--format=%s', 'side')).toBe('A change')
    expect(repo.git('-C', linked, 'status', '--porcelain')).toBe('')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('a path with spaces and letters beyond ASCII', async () => {
    using repo = makeRepo({ name: 'Häuser und Wälder 家', files: { 'straße/ü b.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'replace', path: 'straße/ü b.txt', old: 'a', new: 'ä' }]),
    })
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.read('straße/ü b.txt')).toBe('ä\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test.each([
    ['in the blobs', '', 'a\r\nb\r\n'],
    ['only in the work tree (eol=crlf)', '*.txt text eol=crlf\n', 'a\r\nb\r\n'],
  ])('files with CRLF line endings %s', async (_name, attributes, content) => {
    using repo = makeRepo({ files: { '.gitattributes': attributes, 'a.txt': content } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: batch([{ op: 'replace', path: 'a.txt', old: 'a\nb', new: 'a\nx\nb' }]),
    })
    expect(change.files).toMatchObject([{ added: 1, removed: 0 }])
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.read('a.txt')).toBe('a\r\nx\r\nb\r\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('a SHA-256 repository', async () => {
    using repo = makeRepo({ objectFormat: 'sha256', files: { 'a.txt': 'a\n' } })
    await wholeJob(repo)
    expect(repo.git('rev-parse', 'HEAD')).toMatch(/^[0-9a-f]{64}$/)
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('a subdirectory, where paths still start at the root', async () => {
    using repo = makeRepo({ files: { 'sub/a.txt': 'a\n' } })
    await wholeJob(repo, join(repo.dir, 'sub'))
    expect(repo.read('new/file.txt')).toBe('hello\n')
  })
})

describe('outside', () => {
  test('any repository, there is one clear error', async () => {
    using repo = makeRepo()
    const error = await refusal(() => openGalley(repo, { dir: repo.home }))
    expect(error.code).toBe('not-a-repository')
  })

  test('the work tree, inside the git directory, too', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const error = await refusal(() => openGalley(repo, { dir: join(repo.dir, '.git') }))
    expect(error.code).toBe('not-a-repository')
  })
})

describe('a configuration that git cannot use is said to be that', () => {
  const faults = [
    ['a hooks path of nobody', '[core]\n\thooksPath = ~no-such-user/x\n'],
    ['a value that is none', '[core]\n\tfileMode = perhaps\n'],
    ['a line that is none', '[core\n'],
  ] as const
  const spoil = (repo: TestRepo, lines: string) =>
    repo.write('.git/config', `${repo.read('.git/config')}${lines}`)

  // A git newer than 2.50 looks at the hooks' path only where it needs it: what git can use, galley can.
  const breaksGit = (repo: TestRepo) =>
    spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repo.dir, env: repo.env }).status !== 0

  test.each(faults)('%s, when the repository is opened', async (_, lines) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    spoil(repo, lines)
    if (!breaksGit(repo)) return void (await openGalley(repo)).close()
    expect((await refusal(() => openGalley(repo))).code).toBe('unsupported-repository')
  })

  test.each(faults)('%s, that comes later', async (_, lines) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const repository = await openRepository(repo.dir, repo.env)
    spoil(repo, lines)
    if (!breaksGit(repo)) return
    const asked = refusal(() => git(repository.door, { args: ['rev-parse', 'HEAD'] }))
    expect((await asked).code).toBe('unsupported-repository')
  })

  test('where hooks are looked for', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const repository = await openRepository(repo.dir, repo.env)
    spoil(repo, faults[0][1])
    expect((await refusal(() => hooksPath(repository))).code).toBe('unsupported-repository')
  })
})
