import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openObjectReader } from '../../src/git/objects.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { addScratchTree, checkOutScratch, setCone } from '../../src/git/scratch-tree.ts'
import type { CommitId } from '../../src/model/ids.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import type { ScratchTree } from '../../src/store/scratch.ts'
import { writeSmallTree } from '../../src/store/small-tree.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const FILES = {
  'top.txt': 'top\n',
  'a/one.txt': '1\n',
  'a/b/two.txt': '2\n',
  'a/b/c/d/deep.txt': '3\n',
  'a/b-/x.txt': 'beside\n',
  'a.txt': 'sorts between\n',
  'ä ö/nämé.txt': 'ü\n',
  'far/away/z.txt': 'z\n',
  '.github/w.yml': 'w\n',
  '.gitignore': 'ignored\n',
}

interface Case {
  readonly files?: Record<string, string>
  readonly prepare?: (repo: TestRepo) => void
  readonly format?: 'sha1' | 'sha256'
}

async function inBoth(given: Case, directories: readonly string[]) {
  const repo = makeRepo({ files: { ...FILES, ...given.files }, objectFormat: given.format ?? 'sha1' })
  given.prepare?.(repo)
  const commit = repo.git('rev-parse', 'HEAD') as CommitId
  const repository = await openRepository(repo.dir, repo.env)
  const store = await openStore(repository)
  const reader = openObjectReader(store.door)
  const request = { commit, directories, reason: 'galley test' }
  const [own, gits] = [treeOf(store, repo, 'own'), treeOf(store, repo, 'gits')]
  const isWritten = await writeSmallTree(store, own, reader, request)
  await reader.close()
  return { repo, store, own, gits, isWritten, commit }
}

function treeOf(store: Store, repo: TestRepo, name: string): ScratchTree {
  const path = join(repo.home, name)
  return {
    path,
    form: 'small',
    door: { ...store.door, workTree: path, gitDir: join(store.door.gitDir, 'worktrees', name) },
  }
}

function seen(repo: TestRepo, { path, door }: ScratchTree) {
  const git = (...args: string[]) => repo.git('-C', path, ...args)
  const entries = git('ls-files', '--sparse', '--stage', '-t')
  const rows = entries.split('\n').filter((row) => row.startsWith('H '))
  const paths = git('ls-files', '-z', '-t')
    .split('\0')
    .filter((row) => row.startsWith('H '))
  return {
    entries,
    rows: rows.length,
    files: paths.map((row) => fileOf(join(path, row.slice(2)))),
    rules: readFileSync(join(door.gitDir, 'info', 'sparse-checkout'), 'utf8'),
    status: git('status', '--porcelain', '--ignored'),
    head: git('rev-parse', 'HEAD'),
    branch: git('rev-parse', '--abbrev-ref', 'HEAD'),
    tree: git('write-tree'),
    locked: git('worktree', 'list', '--porcelain').includes(`worktree ${path}\n`),
    fsck: repo.tryGit('-C', path, 'fsck', '--cache').code,
  }
}

const fileOf = (path: string): string => {
  const stat = lstatSync(path)
  return stat.isSymbolicLink() ? 'link' : `${(stat.mode & 0o100).toString(8)} ${readFileSync(path, 'utf8')}`
}

const CONES: readonly (readonly string[])[] = [
  [],
  ['a'],
  ['a/b'],
  ['a/b/c', 'far'],
  ['a', 'a/b/c/d'],
  ['ä ö'],
  ['gone/since', 'a/b/c/d'],
]

test.each<[string, Case, readonly string[]]>([
  ...CONES.map((cone): [string, Case, readonly string[]] => [cone.join(' ') || 'the root alone', {}, cone]),
  ['attributes that change no bytes', { files: { '.gitattributes': '* text=auto\n*.png binary\n' } }, ['a']],
  ['sha256', { format: 'sha256' }, ['a/b']],
  [
    'links and programs',
    {
      prepare: (repo) => {
        repo.git('update-index', '--chmod=+x', 'a/one.txt')
        const blob = repo.git('hash-object', '-w', 'top.txt')
        repo.git('update-index', '--add', '--cacheinfo', `120000,${blob},a/link`)
        repo.git('commit', '-qm', 'modes')
      },
    },
    ['a'],
  ],
])('a written tree is the one that git makes: %s', async (_, given, directories) => {
  const { repo, store, own, gits, isWritten, commit } = await inBoth(given, directories)
  using _repo = repo
  expect(isWritten).toBe(true)
  await addScratchTree(store.door, { path: gits.path, commit, reason: 'galley test' })
  await setCone(gits.door, directories)
  await checkOutScratch(gits.door, commit)
  const written = seen(repo, own)
  expect(written).toEqual(seen(repo, gits))
  expect(written).toMatchObject({ status: '', head: commit, branch: 'HEAD', locked: true, fsck: 0 })
  // Git goes on from it: another directory, a change, the log.
  repo.git('-C', own.path, 'sparse-checkout', 'add', 'far/away')
  expect(existsSync(join(own.path, 'far/away/z.txt'))).toBe(true)
  expect(repo.git('-C', own.path, 'status', '--porcelain')).toBe('')
  expect(repo.git('-C', own.path, 'log', '-1', '--format=%H')).toBe(commit)
})

test.each<[string, Case]>([
  ['line ends that git converts', { files: { 'a/.gitattributes': '*.txt eol=crlf\n' } }],
  ['keywords', { files: { '.gitattributes': '*.c ident\n' } }],
  ['an encoding', { files: { '.gitattributes': '*.c working-tree-encoding=UTF-16\n' } }],
  ['a submodule', { prepare: (repo) => commitEntry(repo, '160000', 'a/sub') }],
  [
    'a name that another system takes for .git',
    {
      prepare: (repo) => {
        repo.write('a/git~1', 'x\n')
        repo.git('-c', 'core.protectNTFS=false', 'add', 'a/git~1')
        repo.git('commit', '-qm', 'odd')
      },
    },
  ],
  ['names that differ by case alone', { files: { 'a/ONE.txt': 'x\n' } }],
  [
    'hundreds of files',
    { files: Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`a/f${i}`, 'x\n'])) },
  ],
])('git makes the tree where there are %s', async (_, given) => {
  const { repo, own, isWritten } = await inBoth(given, ['a'])
  using _repo = repo
  expect(isWritten).toBe(false)
  expect(existsSync(own.door.gitDir)).toBe(false)
})

function commitEntry(repo: TestRepo, mode: string, path: string): void {
  repo.git('update-index', '--add', '--cacheinfo', `${mode},${repo.git('rev-parse', 'HEAD')},${path}`)
  repo.git('commit', '-qm', 'entry')
}
