import { appendFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { makeRepo, type RepoOptions, type TestRepo } from './repo.ts'

/** One bare repository, and clones of it that belong to different people. */
export interface TestClones {
  readonly bare: TestRepo
  readonly clones: readonly TestRepo[]
  readonly [Symbol.dispose]: () => void
}

const NAMES = [
  'Ann',
  'Ben',
  'Cleo',
  'Dan',
  'Eve',
  'Finn',
  'Gil',
  'Hana',
  'Ida',
  'Jon',
  'Kim',
  'Lea',
  'Max',
  'Nia',
  'Ole',
  'Pia',
]

/** Makes a bare repository with a first commit, and `count` clones whose `origin` it is. */
export function makeClones(count: number, options: RepoOptions = { files: { 'a.txt': 'a\n' } }): TestClones {
  const first = makeRepo(options)
  const bare = makeRepo({
    bare: true,
    ...(options.objectFormat ? { objectFormat: options.objectFormat } : {}),
  })
  first.git('push', '--quiet', bare.dir, 'main')
  first.git('remote', 'add', 'origin', bare.dir)
  first.git('fetch', '--quiet', 'origin')
  const clones = Array.from({ length: count }, (_, n) => {
    const clone = n === 0 ? first : copyOf(first)
    const name = NAMES[n % NAMES.length] ?? 'Zoe'
    const who = `[user]\n\tname = ${name}\n\temail = ${name.toLowerCase()}${n}@example.org\n`
    appendFileSync(join(clone.home, 'gitconfig'), who)
    return clone
  })
  const all = [bare, ...clones]
  const remove = () => {
    for (const repo of all) repo[Symbol.dispose]()
  }
  return { bare, clones, [Symbol.dispose]: remove }
}

/** A repository with the same commits, remote and files, made without a transfer. */
function copyOf(first: TestRepo): TestRepo {
  const clone = makeRepo()
  cpSync(first.dir, clone.dir, { recursive: true, force: true })
  return clone
}

/** The store's git directory. */
export const storeOf = (repo: TestRepo): string => join(repo.dir, '.git/galley/store.git')

export const inStore = (repo: TestRepo, ...args: readonly string[]): string =>
  repo.git(`--git-dir=${storeOf(repo)}`, ...args)

/** `<object> <ref>` of every ref that clones exchange. */
export const galleyRefs = (repo: TestRepo, gitDir = storeOf(repo)): readonly string[] =>
  repo
    .git(
      `--git-dir=${gitDir}`,
      'for-each-ref',
      '--format=%(objectname) %(refname)',
      'refs/galley/changes',
      'refs/galley/approvals',
      'refs/galley/log',
    )
    .split('\n')
    .filter((line) => line !== '')
