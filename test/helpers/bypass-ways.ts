import * as fs from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import isomorphic from 'isomorphic-git'
import { afterAll, describe, expect, test } from 'vitest'
import { commitFiles, guardMain, verifyRange } from '../flow/verify-world.ts'
import { asPerson, galley, makeServer, runAs } from '../hook/hook-world.ts'
import { cli } from './galley.ts'
import { makeRepo, type TestRepo } from './repo.ts'

/** A way past the hooks. */
export interface Row {
  readonly name: string
  /** Tries to get an unapproved commit into main. It stands on the branch `side` already; what `git` says is not looked at. */
  readonly attempt: (repo: TestRepo) => unknown
  /** Stopped by pre-commit, pre-merge-commit or commit-msg. */
  readonly byCommitHooks: boolean
  /** Stopped by reference-transaction. */
  readonly byTransaction: boolean
}

const stage = (repo: TestRepo): void => {
  repo.write('evil.txt', 'evil\n')
  repo.git('add', 'evil.txt')
}
const git =
  (...args: readonly string[]) =>
  (repo: TestRepo) =>
    asPerson(repo, ...args)
const staged =
  (...args: readonly string[]) =>
  (repo: TestRepo) => {
    stage(repo)
    asPerson(repo, ...args)
  }
const newCommit = (repo: TestRepo): string => {
  stage(repo)
  return repo.git('commit-tree', '-p', 'main', '-m', 'Evil', repo.git('write-tree'))
}

/** Every way that was thought of: `bypass.test.ts` tries one of each kind, `bypass.long.test.ts` the others. */
export const rows: readonly Row[] = [
  { name: 'commit', attempt: staged('commit', '-m', 'Evil'), byCommitHooks: true, byTransaction: true },
  {
    name: 'commit -a',
    attempt: (repo) => {
      repo.write('a.txt', 'evil\n')
      asPerson(repo, 'commit', '-am', 'Evil')
    },
    byCommitHooks: true,
    byTransaction: true,
  },
  {
    name: 'commit -- path',
    attempt: (repo) => {
      repo.write('a.txt', 'evil\n')
      asPerson(repo, 'commit', '-m', 'Evil', '--', 'a.txt')
    },
    byCommitHooks: true,
    byTransaction: true,
  },
  {
    name: 'commit --no-verify',
    attempt: staged('commit', '--no-verify', '-m', 'Evil'),
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'commit --amend --no-verify',
    attempt: staged('commit', '--amend', '--no-verify', '-m', 'Evil'),
    byCommitHooks: false,
    byTransaction: true,
  },
  { name: 'cherry-pick', attempt: git('cherry-pick', 'side'), byCommitHooks: false, byTransaction: true },
  { name: 'revert', attempt: git('revert', '--no-edit', 'HEAD'), byCommitHooks: false, byTransaction: true },
  {
    name: 'merge',
    attempt: git('merge', '--no-ff', '-m', 'Evil', 'side'),
    byCommitHooks: true,
    byTransaction: true,
  },
  {
    name: 'merge --no-verify',
    attempt: git('merge', '--no-verify', '--no-ff', '-m', 'Evil', 'side'),
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'merge --ff-only',
    attempt: git('merge', '--ff-only', 'side'),
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'reset',
    attempt: git('reset', '--quiet', '--hard', 'side'),
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'branch -f',
    attempt: (repo) => {
      repo.git('checkout', '--quiet', '--detach')
      asPerson(repo, 'branch', '-f', 'main', 'side')
    },
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'checkout -B',
    attempt: git('checkout', '-B', 'main', 'side'),
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'fetch into heads',
    attempt: (repo) => {
      repo.git('checkout', '--quiet', '--detach')
      asPerson(repo, 'fetch', '--quiet', '.', 'side:main')
    },
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'am',
    attempt: (repo) => {
      writeFileSync(
        join(repo.home, 'evil.patch'),
        `${repo.git('format-patch', '--stdout', 'side~1..side')}\n`,
      )
      asPerson(repo, 'am', '--quiet', '../evil.patch')
    },
    byCommitHooks: false,
    byTransaction: true,
  },
  { name: 'rebase', attempt: git('rebase', '--quiet', 'side'), byCommitHooks: false, byTransaction: true },
  {
    name: 'commit-tree and update-ref',
    attempt: (repo) => asPerson(repo, 'update-ref', 'refs/heads/main', newCommit(repo)),
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'update-ref --stdin',
    attempt: (repo) =>
      runAs(
        repo,
        ['git', 'update-ref', '--stdin'],
        {},
        { input: `update refs/heads/main ${newCommit(repo)}\n` },
      ),
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'fast-import',
    attempt: (repo) => {
      const who = 'committer E <e@example.org> 1700000000 +0000'
      const input = `commit refs/heads/main\n${who}\ndata 4\nEvil\nfrom refs/heads/main^0\nM 100644 inline evil.txt\ndata 5\nevil\n\n`
      return runAs(repo, ['git', 'fast-import', '--quiet'], {}, { input })
    },
    byCommitHooks: false,
    byTransaction: true,
  },
  {
    name: 'git -c core.hooksPath',
    attempt: staged('-c', 'core.hooksPath=/dev/null', 'commit', '-m', 'Evil'),
    byCommitHooks: false,
    byTransaction: false,
  },
  {
    name: 'GIT_CONFIG_COUNT',
    attempt: (repo) => {
      stage(repo)
      const hooksOff = { GIT_CONFIG_KEY_0: 'core.hooksPath', GIT_CONFIG_VALUE_0: '/dev/null' }
      return runAs(repo, ['git', 'commit', '-m', 'Evil'], { GIT_CONFIG_COUNT: '1', ...hooksOff })
    },
    byCommitHooks: false,
    byTransaction: false,
  },
  {
    name: 'a ref written by hand',
    attempt: (repo) => writeFileSync(join(repo.dir, '.git/refs/heads/main'), `${newCommit(repo)}\n`),
    byCommitHooks: false,
    byTransaction: false,
  },
  {
    name: 'isomorphic-git',
    attempt: async (repo) => {
      stage(repo)
      const author = { name: 'E', email: 'e@example.org' }
      await isomorphic.commit({ fs, dir: repo.dir, message: 'Evil', author })
    },
    byCommitHooks: false,
    byTransaction: false,
  },
  {
    name: 'branch -M',
    attempt: (repo) => {
      repo.git('checkout', '--quiet', 'side')
      asPerson(repo, 'branch', '-M', 'side', 'main')
    },
    byCommitHooks: false,
    byTransaction: false,
  },
]

/** By a commit, past its hooks, by a merge, without a commit, by plumbing; and what no hook sees. */
export const ONE_OF_EACH_KIND: readonly string[] = [
  'commit',
  'commit --no-verify',
  'merge',
  'merge --ff-only',
  'branch -f',
  'commit-tree and update-ref',
  'git -c core.hooksPath',
  'a ref written by hand',
  'branch -M',
]

/** main is guarded; `side` holds an unapproved commit that a person made there. */
export function makeGuarded(): TestRepo {
  const repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
  repo.git('commit', '--quiet', '--allow-empty', '-m', 'second')
  commitFiles(repo, 'third', { 'r.txt': 'r\n' })
  repo.git('checkout', '--quiet', '-b', 'side')
  commitFiles(repo, 'Evil', { 'evil.txt': 'evil\n' })
  repo.git('checkout', '--quiet', 'main')
  return repo
}

/** One repository is made for each kind of installation, and copied for each attempt. */
const made = new Map<string, TestRepo>()

export function copyOf(kind: string, ...install: readonly string[]): TestRepo {
  const original = made.get(kind) ?? makeGuarded()
  if (!made.has(kind) && install.length > 0) galley(original, ...install)
  made.set(kind, original)
  const copy = makeRepo()
  fs.cpSync(original.dir, copy.dir, { recursive: true })
  return copy
}

export const mainOf = (repo: TestRepo): string => repo.git('rev-parse', 'refs/heads/main')

/** Declares the tests of some ways: who stops each, and who finds what nobody stopped. */
export function testWays(ways: readonly Row[]): void {
  afterAll(() => {
    for (const repo of made.values()) repo[Symbol.dispose]()
    made.clear()
  })

  describe.each(ways)('$name', ({ attempt, byCommitHooks, byTransaction }) => {
    test(`is ${byCommitHooks ? '' : 'not '}stopped by the hooks of a commit${byCommitHooks ? '' : ', and found by verify'}`, async () => {
      using repo = copyOf('commit hooks', 'hooks', 'install')
      const before = mainOf(repo)
      await attempt(repo)
      expect(mainOf(repo) === before).toBe(byCommitHooks)
      if (byCommitHooks) return
      // What an amend puts in the place of a commit is a step from where that began.
      const from = repo.git('merge-base', before, 'refs/heads/main')
      const found = await verifyRange(repo, `${from}..refs/heads/main`, { onto: 'main' })
      expect(found.counts.unapproved).toBeGreaterThan(0)
    })

    test(`is ${byTransaction ? '' : 'not '}stopped by reference-transaction`, async () => {
      using repo = copyOf('transaction', 'hooks', 'install', '--reference-transaction')
      const before = mainOf(repo)
      await attempt(repo)
      expect(mainOf(repo) === before).toBe(byTransaction)
    })
  })

  test.each(ways.filter((row) => !row.byTransaction))(
    '$name is not taken by a server',
    async ({ attempt }) => {
      using repo = copyOf('plain')
      using server = makeServer(repo)
      const before = mainOf(repo)
      await attempt(repo)
      expect(mainOf(repo)).not.toBe(before)
      expect(cli(repo, ['verify', `${before}..main`, '--onto', 'main']).code).toBe(1)
      const pushed = asPerson(repo, 'push', '--no-verify', '--force', 'origin', 'main')
      expect(pushed.code).not.toBe(0)
      expect(pushed.out).toMatch(/galley: unapproved/)
      expect(mainOf(server)).toBe(before)
    },
  )
}
