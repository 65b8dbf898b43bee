import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type LandRequest, landCommit } from '../../src/landing/land-commit.ts'
import { commitId } from '../../src/model/ids.ts'
import type { FileMode } from '../../src/model/manifest.ts'
import { gitInput } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { land, leftovers, refusalOf, stageChange } from './stage-change.ts'

const FILES = { 'a.txt': 'a\n', 'in/b.txt': 'b\n', 'out/c.txt': 'c\n', 'out/deep/d.txt': 'd\n' }

/** What holds after every landing. */
function expectWhole(repo: TestRepo, after: string, status = ''): void {
  expect(repo.git('rev-parse', 'HEAD')).toBe(after)
  expect(repo.git('status', '--porcelain')).toBe(status)
  expect(leftovers(repo)).toEqual([])
  expect(repo.tryGit('fsck', '--strict', '--no-dangling')).toEqual({ code: 0, out: '' })
}

describe('landing in every kind of repository', () => {
  test('a bare repository: the ref alone moves', async () => {
    await using source = makeRepo({ files: FILES })
    await using repo = makeRepo({ bare: true })
    repo.git('fetch', '-q', source.dir, 'main:main')
    const tip = repo.git('rev-parse', 'main')
    const report = await land(repo, { 'a.txt': 'A\n' }, { ref: 'refs/heads/main', before: tip })
    expect(repo.git('show', 'main:a.txt')).toBe('A')
    expect(repo.git('rev-parse', 'main')).toBe(report.after)
    expect(repo.tryGit('fsck', '--strict')).toEqual({ code: 0, out: '' })
  })

  test('a branch that is checked out nowhere: the ref alone moves', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('branch', 'side')
    repo.write('a.txt', 'dirty\n')
    const before = repo.snapshot()
    const report = await land(repo, { 'a.txt': 'A\n' }, { ref: 'refs/heads/side' })
    expect(repo.git('rev-parse', 'side')).toBe(report.after)
    const after = repo.snapshot()
    expect({ files: after.files, index: after.index, head: after.head, status: after.status }).toEqual({
      files: before.files,
      index: before.index,
      head: before.head,
      status: before.status,
    })
  })

  test('a branch that does not exist yet', async () => {
    await using repo = makeRepo({ files: FILES })
    const report = await land(repo, { 'n.txt': 'n\n' }, { ref: 'refs/heads/fresh', before: null })
    expect(repo.git('ls-tree', '--name-only', 'fresh')).toBe('n.txt')
    expect(repo.git('rev-parse', 'fresh')).toBe(report.after)
  })

  test('a branch that another work tree has checked out is refused', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('worktree', 'add', '-q', '-b', 'side', '../linked')
    const before = repo.snapshot()
    expect(await refusalOf(land(repo, { 'a.txt': 'A\n' }, { ref: 'refs/heads/side' }))).toBe(
      'checked-out-elsewhere',
    )
    expect(repo.snapshot()).toEqual(before)
  })

  test('a branch that is being rebased, here or in another work tree, is refused', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('branch', 'side')
    repo.write('a.txt', 'main\n')
    repo.commit('main')
    repo.git('worktree', 'add', '-q', '../linked', 'side')
    repo.git('-C', '../linked', 'commit', '-q', '--allow-empty', '-m', 'empty')
    repo.write('../linked/a.txt', 'side\n')
    repo.git('-C', '../linked', 'commit', '-qam', 'side')
    const side = repo.git('rev-parse', 'side')
    expect(repo.tryGit('-C', '../linked', 'rebase', 'main').code).not.toBe(0)
    const options = { ref: 'refs/heads/side', before: side }
    expect(await refusalOf(land(repo, { 'n.txt': 'n\n' }, options))).toBe('checked-out-elsewhere')
    const from = join(repo.home, 'linked')
    expect(await refusalOf(land(repo, { 'n.txt': 'n\n' }, { ...options, from }))).toBe('in-progress')
    expect(repo.git('rev-parse', 'side')).toBe(side)
  })

  test('permission bits of overwritten files survive', async () => {
    await using repo = makeRepo({ files: FILES })
    chmodSync(join(repo.dir, 'a.txt'), 0o604)
    chmodSync(join(repo.dir, 'in/b.txt'), 0o640)
    const report = await land(repo, { 'a.txt': 'A\n', 'in/b.txt': { content: 'B\n', executable: true } })
    expectWhole(repo, report.after)
    const modes = ['a.txt', 'in/b.txt'].map((path) =>
      (lstatSync(join(repo.dir, path)).mode & 0o7777).toString(8),
    )
    expect(modes).toEqual(['604', '750'])
  })

  test('a linked work tree', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('worktree', 'add', '-q', '-b', 'side', '../linked')
    const from = join(repo.home, 'linked')
    const main = repo.git('rev-parse', 'main')
    const report = await land(repo, { 'a.txt': 'A\n', 'n/n.txt': 'n\n' }, { from })
    expect(repo.git('-C', from, 'rev-parse', 'HEAD')).toBe(report.after)
    expect(repo.git('-C', from, 'status', '--porcelain')).toBe('')
    expect(repo.git('rev-parse', 'main')).toBe(main)
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(repo.git('-C', from, 'reflog', '-1', '--format=%gs')).toBe('galley: land gtest00000')
  })

  test('a detached head', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('checkout', '-q', '--detach')
    const main = repo.git('rev-parse', 'main')
    const report = await land(repo, { 'a.txt': 'A\n' })
    expectWhole(repo, report.after)
    expect(repo.git('rev-parse', 'main')).toBe(main)
    expect(repo.tryGit('symbolic-ref', '-q', 'HEAD').code).toBe(1)
  })

  test('a head that was detached when the change was staged and is on a branch now is refused', async () => {
    await using repo = makeRepo({ files: FILES })
    expect(await refusalOf(land(repo, { 'a.txt': 'A\n' }, { ref: 'HEAD' }))).toBe('branch-moved')
  })

  test('an unborn branch, without an index', async () => {
    await using repo = makeRepo()
    repo.write('mine.txt', 'mine\n')
    const report = await land(repo, { 'a.txt': 'A\n', 'b/c.txt': 'C\n' })
    expectWhole(repo, report.after, '?? mine.txt')
    expect(repo.git('log', '--format=%s %P')).toBe('a change ')
  })

  test('an unborn branch with staged files', async () => {
    await using repo = makeRepo()
    repo.write('mine.txt', 'mine\n')
    repo.git('add', 'mine.txt')
    const report = await land(repo, { 'a.txt': 'A\n' })
    expectWhole(repo, report.after, 'A  mine.txt')
  })

  test('a branch that moved is refused', async () => {
    await using repo = makeRepo({ files: FILES })
    const before = repo.git('rev-parse', 'HEAD')
    repo.git('commit', '-q', '--allow-empty', '-m', 'moved')
    const seen = repo.snapshot()
    expect(await refusalOf(land(repo, { 'a.txt': 'A\n' }, { before }))).toBe('branch-moved')
    expect(repo.snapshot()).toEqual(seen)
  })

  test.each(['sha1', 'sha256'] as const)(
    'object format %s, with every index version',
    async (objectFormat) => {
      await using repo = makeRepo({ objectFormat, files: FILES })
      for (const version of [2, 3, 4]) {
        repo.git('update-index', '--index-version', String(version))
        const report = await land(repo, {
          'a.txt': `A ${version}\n`,
          [`in/n${version}.txt`]: 'n\n',
          ...(version === 4 ? { 'in/b.txt': null } : {}),
        })
        expectWhole(repo, report.after)
        expect(repo.git('diff-files')).toBe('')
      }
    },
  )

  test('an index that is to be split and folded up, which git itself cannot read afterwards: is refused', async () => {
    using repo = makeRepo({ files: { 'd/x': 'x\n', 'e/z': 'z\n' } })
    repo.git('config', 'core.splitIndex', 'true')
    repo.git('update-index', '--split-index')
    repo.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'd')
    const before = repo.snapshot()
    expect(await refusalOf(land(repo, { 'd/x': 'X\n' }))).toBe('unsupported-repository')
    expect(repo.snapshot()).toEqual(before)
    repo.git('config', 'core.splitIndex', 'false')
    await land(repo, { 'd/x': 'X\n' })
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('a split index', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('config', 'core.splitIndex', 'true')
    repo.git('update-index', '--split-index')
    repo.write('in/b.txt', 'staged\n')
    repo.git('add', 'in/b.txt')
    const report = await land(repo, { 'a.txt': 'A\n', 'n.txt': 'n\n', 'out/c.txt': null })
    expectWhole(repo, report.after, 'M  in/b.txt')
    expect(repo.git('diff-files')).toBe('')
  })

  test('an index with untracked cache, resolve-undo and end-of-entries records', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('config', 'index.threads', '2')
    repo.git('config', 'core.untrackedCache', 'true')
    repo.git('update-index', '--untracked-cache', '--force-write-index')
    const report = await land(repo, { 'a.txt': 'A\n' })
    expectWhole(repo, report.after)
  })

  describe.each([
    ['cone', ['--cone'], false],
    ['cone with a sparse index', ['--cone', '--sparse-index'], true],
    ['patterns', ['--no-cone'], false],
  ] as const)('a sparse checkout: %s', (_, options, isSparseIndex) => {
    const setUp = (repo: TestRepo) => {
      const rules = options.includes('--no-cone' as never)
        ? ['/*', '!/out/', '/out/back/', '!/out/back/again/']
        : ['in']
      repo.git('sparse-checkout', 'set', ...options, ...rules)
    }

    test('paths left out land in commit and index alone', async () => {
      await using repo = makeRepo({ files: FILES })
      setUp(repo)
      expect(existsSync(join(repo.dir, 'out'))).toBe(false)
      const report = await land(repo, {
        'a.txt': 'A\n',
        'in/b.txt': 'B\n',
        'in/n.txt': 'n\n',
        'out/c.txt': 'C\n',
        'out/deep/d.txt': null,
        'out/deep/e.txt': 'E\n',
      })
      expectWhole(repo, report.after)
      expect(repo.read('in/n.txt')).toBe('n\n')
      expect(existsSync(join(repo.dir, 'out'))).toBe(false)
      expect(repo.git('ls-files', '-t', 'out', 'in')).toBe(
        'H in/b.txt\nH in/n.txt\nS out/c.txt\nS out/deep/e.txt',
      )
      const again = await land(repo, { 'out/c.txt': 'C 2\n' })
      expectWhole(repo, again.after)
      expect(repo.git('ls-files', 'out')).toBe('out/c.txt\nout/deep/e.txt')
      if (isSparseIndex) expect(repo.git('ls-files', '--sparse', 'out')).toBe('out/')
    })

    test('a file left out that is there all the same is judged by its bytes', async () => {
      await using repo = makeRepo({ files: FILES })
      setUp(repo)
      repo.write('out/c.txt', 'mine\n')
      const before = repo.snapshot()
      expect(await refusalOf(land(repo, { 'out/c.txt': 'C\n' }))).toBe('overlaps-uncommitted')
      expect(repo.snapshot()).toEqual(before)
    })
  })

  test.each([
    ['that is split', true],
    ['that the configuration would split', false],
  ])('an index %s: a refusal leaves no shared part', async (_, isSplit) => {
    await using repo = makeRepo({ files: FILES })
    repo.git('config', 'core.splitIndex', 'true')
    if (isSplit) repo.git('update-index', '--split-index')
    repo.write('.git/hooks/reference-transaction', '#!/bin/sh\nexit 1\n')
    chmodSync(join(repo.dir, '.git/hooks/reference-transaction'), 0o755)
    const request = await stageChange(repo, {
      'a.txt': 'A\n',
      'n1.txt': '1\n',
      'n2.txt': '2\n',
      'n3.txt': '3\n',
    })
    const before = repo.snapshot()
    expect(await refusalOf(landCommit(request))).toBe('hook-refused')
    expect(repo.snapshot()).toEqual(before)
  })

  test('rules by pattern decide where a new file goes', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('sparse-checkout', 'set', '--no-cone', '/*', '!/out/', '/out/back/', '!/out/back/again/')
    const report = await land(repo, {
      'out/back/n.txt': 'n\n',
      'out/back/again/n.txt': 'n\n',
      'out/n.txt': 'n\n',
    })
    expectWhole(repo, report.after)
    expect(repo.git('ls-files', '-t', 'out')).toContain('H out/back/n.txt')
    expect(existsSync(join(repo.dir, 'out/back/again'))).toBe(false)
    expect(repo.read('out/back/n.txt')).toBe('n\n')
  })

  test('submodules stay as they are', async () => {
    await using inner = makeRepo({ files: { x: 'x\n' } })
    await using repo = makeRepo({ files: FILES })
    repo.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.dir, 'sub')
    repo.git('commit', '-qm', 'sub')
    repo.write('sub/x', 'dirty\n')
    const report = await land(repo, { 'a.txt': 'A\n' })
    expectWhole(repo, report.after, ' M sub')
    expect(repo.read('sub/x')).toBe('dirty\n')
  })

  test('inside a submodule', async () => {
    await using inner = makeRepo({ files: { x: 'x\n' } })
    await using repo = makeRepo({ files: FILES })
    repo.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.dir, 'sub')
    const from = join(repo.dir, 'sub')
    const report = await land(repo, { x: 'X\n' }, { from })
    expect(repo.git('-C', from, 'rev-parse', 'HEAD')).toBe(report.after)
    expect(repo.git('-C', from, 'status', '--porcelain')).toBe('')
  })

  test('a git directory elsewhere, and a work tree reached through a link', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('init', '-q', '--separate-git-dir', join(repo.home, 'elsewhere.git'))
    symlinkSync(repo.dir, join(repo.home, 'link'))
    const report = await land(repo, { 'a.txt': 'A\n', 'n/n.txt': 'n\n' }, { from: join(repo.home, 'link') })
    expectWhole(repo, report.after)
  })

  test('an index that is a link', async () => {
    await using repo = makeRepo({ files: FILES })
    renameSync(join(repo.dir, '.git/index'), join(repo.dir, '.git/real-index'))
    symlinkSync('real-index', join(repo.dir, '.git/index'))
    const report = await land(repo, { 'a.txt': 'A\n' })
    expectWhole(repo, report.after)
    expect(lstatSync(join(repo.dir, '.git/index')).isSymbolicLink()).toBe(true)
  })

  test('line endings of the work tree, by attribute and by configuration', async () => {
    await using repo = makeRepo({
      files: {
        '.gitattributes': '*.win text eol=crlf\n*.u16 working-tree-encoding=UTF-16LE-BOM\n',
        'x.win': 'x\r\n',
      },
    })
    const report = await land(repo, { 'x.win': 'X\n', 'n.win': 'n\n', 'n.u16': 'wide\n' })
    expectWhole(repo, report.after)
    expect(repo.read('x.win')).toBe('X\r\n')
    expect(repo.read('n.win')).toBe('n\r\n')
    expect(repo.bytes('n.u16')).toEqual(Buffer.from('\uFEFFwide\n', 'utf16le'))
    expect(repo.git('diff-files')).toBe('')
  })

  test('uncommitted work in a file with converted line endings: beneath it, endings kept', async () => {
    await using repo = makeRepo({
      files: { '.gitattributes': '*.win text eol=crlf\n', 'x.win': '1\r\n2\r\n3\r\n4\r\n5\r\n' },
    })
    repo.write('x.win', '1\r\n2\r\n3\r\n4\r\nFIVE\r\n')
    const report = await land(repo, { 'x.win': 'ONE\n2\n3\n4\n5\n' })
    expectWhole(repo, report.after, ' M x.win')
    expect(repo.read('x.win')).toBe('ONE\r\n2\r\n3\r\n4\r\nFIVE\r\n')
  })

  test('a path with a filter driver of the user is refused', async () => {
    await using repo = makeRepo({ files: { '.gitattributes': '*.big filter=big\n', 'x.big': 'x\n' } })
    repo.git('config', 'filter.big.clean', 'cat')
    const before = repo.snapshot()
    expect(await refusalOf(land(repo, { 'x.big': 'y\n' }))).toBe('filtered')
    expect(repo.snapshot()).toEqual(before)
  })

  test('pointers of git-lfs where git-lfs is not installed land as they are', async () => {
    await using repo = makeRepo({
      files: { '.gitattributes': '*.big filter=lfs -text\n', 'x.big': 'pointer 1\n' },
    })
    const report = await land(repo, { 'x.big': 'pointer 2\n' })
    expectWhole(repo, report.after)
  })

  test('names of every kind', async () => {
    await using repo = makeRepo({
      files: { 'ü/ö ä.txt': 'x\n', '-rf': 'x\n', ':(exclude)a': 'x\n', '*': 'x\n' },
    })
    const changes = {
      'ü/ö ä.txt': 'y\n',
      '-rf': 'y\n',
      ':(exclude)a': 'y\n',
      '*': 'y\n',
      'new\tline\nand "quotes"': 'y\n',
      [`${'a'.repeat(40)} ${'b'.repeat(40)}`]: 'y\n',
    }
    const report = await land(repo, changes)
    expectWhole(repo, report.after)
  })

  test('core.fileMode=false: the bits of the work tree say nothing and stay', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.git('config', 'core.fileMode', 'false')
    chmodSync(join(repo.dir, 'a.txt'), 0o755)
    const report = await land(repo, { 'a.txt': 'A\n' })
    expectWhole(repo, report.after)
    expect(lstatSync(join(repo.dir, 'a.txt')).mode & 0o777).toBe(0o755)
  })

  test('a hundred files and more land as one pack', async () => {
    await using repo = makeRepo({ files: FILES })
    const many = Object.fromEntries(
      Array.from({ length: 150 }, (_, i) => [`many/${i % 7}/f${i}.txt`, `${i}\n`]),
    )
    const report = await land(repo, many)
    expectWhole(repo, report.after)
    expect(repo.git('count-objects', '-v')).toContain('packs: 1')
  })

  test("objects come with the user's alternates left where they are, and shallow history stays shallow", async () => {
    await using source = makeRepo({ files: FILES })
    source.git('commit', '-q', '--allow-empty', '-m', 'second')
    await using repo = makeRepo()
    rmSync(repo.dir, { recursive: true })
    source.git('clone', '-q', '--depth', '1', '--shared', `file://${source.dir}`, repo.dir)
    mkdirSync(join(repo.dir, '.git/info'), { recursive: true })
    const report = await land(repo, { 'a.txt': 'A\n' })
    expect(repo.git('rev-parse', 'HEAD')).toBe(report.after)
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(repo.git('rev-list', '--count', 'HEAD')).toBe('2')
  })

  test("galley's folder on another device than the work tree", async () => {
    if (!existsSync('/dev/shm')) return
    await using repo = makeRepo({ files: { ...FILES, 'swap/x.txt': 'x\n' } })
    const far = join('/dev/shm', `galley-test-${process.pid}`)
    try {
      cpSync(join(repo.dir, '.git'), far, { recursive: true })
      rmSync(join(repo.dir, '.git'), { recursive: true })
      repo.write('.git', `gitdir: ${far}\n`)
      repo.write('in/b.txt', 'dirty\n')
      const report = await land(repo, {
        'a.txt': 'A\n',
        'n/n.txt': 'n\n',
        'out/c.txt': null,
        'swap/x.txt': null,
        swap: 'file\n',
      })
      expectWhole(repo, report.after, ' M in/b.txt')
    } finally {
      rmSync(far, { recursive: true, force: true })
    }
  })

  test('a post-merge hook runs after the landing, without variables that name a repository', async () => {
    await using repo = makeRepo({ files: FILES })
    writeFileSync(
      join(repo.dir, '.git/hooks/post-merge'),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
      '#!/bin/sh\necho "$1 $(git rev-parse HEAD) ${GIT_INDEX_FILE-none}" > "$HOME/told"\nexit 3\n',
    )
    chmodSync(join(repo.dir, '.git/hooks/post-merge'), 0o755)
    const report = await land(repo, { 'a.txt': 'A\n' })
    expect(repo.read('../told')).toBe(`0 ${report.after} none\n`)
    expect(report.remarks.join()).toContain('post-merge hook ended with exit code 3')
  })

  test('a reference-transaction hook sees the move', async () => {
    await using repo = makeRepo({ files: FILES })
    const tip = repo.git('rev-parse', 'HEAD')
    writeFileSync(
      join(repo.dir, '.git/hooks/reference-transaction'),
      '#!/bin/sh\nsed "s/^/$1 /" >> "$HOME/told"\n',
    )
    chmodSync(join(repo.dir, '.git/hooks/reference-transaction'), 0o755)
    const report = await land(repo, { 'a.txt': 'A\n' })
    expect(repo.read('../told')).toContain(`prepared ${tip} ${report.after} refs/heads/main\n`)
  })
})

describe('landing what galley itself never stages', () => {
  /** A commit in the store with any tree entries, as an undo of somebody else's commit may need. */
  async function stageEntries(repo: TestRepo, entries: readonly string[]): Promise<LandRequest> {
    const request = await stageChange(repo, { 'passing.txt': 'x\n' })
    const store = `--git-dir=${request.store.gitDir}`
    const env = { ...repo.env, GIT_INDEX_FILE: join(repo.home, 'passing-index') }
    const git = (args: readonly string[], input = '') =>
      execFileSync('git', [store, ...args], { cwd: repo.dir, env, input, encoding: 'utf8' }).trim()
    git(['read-tree', request.before ?? ''])
    git(['update-index', '-z', '--index-info'], entries.map((entry) => `${entry}\0`).join(''))
    const tree = git(['write-tree', '--missing-ok'])
    const after = git(['commit-tree', '-m', 'any', '-p', request.before ?? '', tree])
    const raw = git(['diff-tree', '-r', '--raw', '--no-abbrev', request.before ?? '', after])
    const manifest = raw.split('\n').map((line) => {
      const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', rest = ''] = line.slice(1).split(' ')
      return {
        path: rest.split('\t')[1] ?? '',
        oldMode: oldMode as FileMode,
        newMode: newMode as FileMode,
        oldBlob,
        newBlob,
      }
    })
    return { ...request, after: commitId(after), manifest }
  }

  test('symbolic links are made, changed, deleted and swapped with files, and never followed', async () => {
    await using repo = makeRepo({ files: FILES })
    symlinkSync('a.txt', join(repo.dir, 'changed'))
    symlinkSync('a.txt', join(repo.dir, 'deleted'))
    symlinkSync('a.txt', join(repo.dir, 'swapped'))
    repo.commit('links')
    const target = gitInput(repo, ['hash-object', '-w', '--stdin'], 'in/b.txt')
    const blob = repo.git('rev-parse', 'HEAD:a.txt')
    const request = await stageEntries(repo, [
      `120000 ${target}\tchanged`,
      `120000 ${target}\tmade`,
      `120000 ${target}\tin/b.txt`,
      `100644 ${blob}\tswapped`,
      `0 ${'0'.repeat(40)}\tdeleted`,
    ])
    const { remarks } = await landCommit(request)
    expect(remarks).toEqual([])
    expectWhole(repo, request.after)
    expect(readlinkSync(join(repo.dir, 'made'))).toBe('in/b.txt')
    expect(lstatSync(join(repo.dir, 'swapped')).isFile()).toBe(true)
    expect(repo.git('diff-files')).toBe('')
  })

  test("a link of the user's that leads elsewhere now is their work", async () => {
    await using repo = makeRepo({ files: FILES })
    symlinkSync('a.txt', join(repo.dir, 'link'))
    repo.commit('link')
    const target = gitInput(repo, ['hash-object', '-w', '--stdin'], 'in/b.txt')
    const request = await stageEntries(repo, [`120000 ${target}\tlink`])
    rmSync(join(repo.dir, 'link'))
    symlinkSync('mine', join(repo.dir, 'link'))
    expect(await refusalOf(landCommit(request))).toBe('overlaps-uncommitted')
    expect(readlinkSync(join(repo.dir, 'link'))).toBe('mine')
  })

  test("a submodule's entry moves in commit and index, its work tree stays", async () => {
    await using inner = makeRepo({ files: { x: 'x\n' } })
    await using repo = makeRepo({ files: FILES })
    repo.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.dir, 'sub')
    repo.git('commit', '-qm', 'sub')
    const request = await stageEntries(repo, [`160000 ${'1'.repeat(40)}\tsub`])
    const { remarks } = await landCommit(request)
    expect(remarks.join()).toContain('sub is a submodule')
    expect(repo.git('ls-files', '-s', 'sub')).toContain('1'.repeat(40))
    expect(repo.read('sub/x')).toBe('x\n')
    expect(repo.git('status', '--porcelain')).toBe(' M sub')
  })
})
