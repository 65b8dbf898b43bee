import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { batch, cli, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { projectRoot } from '../helpers/source-tree.ts'
import { agent, galley, runAs } from './hook-world.ts'

/** The managers themselves, not what they lay down: another version of one is seen here first. */
const bin = join(projectRoot, 'node_modules/.peers/node_modules/.bin')

beforeAll(() => {
  expect(inject('buildFailure')).toBeNull()
  const installed = spawnSync(process.execPath, [join(projectRoot, 'test/helpers/install-peers.mjs')], {
    encoding: 'utf8',
  })
  expect(installed.status, installed.stderr).toBe(0)
}, 120_000)

/** No package of the registry's: where the system has none, hooks-install.long.test.ts has what it lays down. */
const hasPreCommit = spawnSync('pre-commit', ['--version']).status === 0

interface Manager {
  readonly name: string
  /** Files of the team's that tell the manager to run `note`, and commands that then put its hooks in place. */
  readonly files: (note: string) => Readonly<Record<string, string>>
  readonly install: (repo: TestRepo) => void
  /** One file that it, or the team, must have at a place of hooks, so that there is something to give back. */
  readonly finds: string
  /** Whether a manager that is installed over ours lets ours run, without `galley hooks install` again. */
  readonly letsOursRun: boolean
}

const env = (repo: TestRepo, more: Readonly<Record<string, string>> = {}) => ({
  ...more,
  PATH: `${bin}:${repo.env['PATH']}`,
})

function run(repo: TestRepo, ...argv: readonly string[]): void {
  const { code, out } = runAs(repo, argv, env(repo))
  expect(code, out).toBe(0)
}

const preCommitConfig = (entry: string): string => `repos:
- repo: local
  hooks:
    - { id: theirs, name: theirs, entry: sh -c "${entry}", language: system, always_run: true, pass_filenames: false }
`

const preCommit: Manager = {
  name: 'pre-commit',
  files: (note) => ({ '.pre-commit-config.yaml': preCommitConfig(note) }),
  install: (repo) => run(repo, 'pre-commit', 'install'),
  finds: '.git/hooks/pre-commit',
  letsOursRun: true,
}

const husky: Manager = {
  name: 'husky',
  // Without a final newline, as people write it.
  files: (note) => ({ '.husky/pre-commit': note }),
  install: (repo) => run(repo, 'husky'),
  finds: '.husky/pre-commit',
  letsOursRun: false,
}

const lefthook: Manager = {
  name: 'lefthook',
  files: (note) => ({ 'lefthook.yml': `pre-commit:\n  commands:\n    theirs:\n      run: ${note}\n` }),
  install: (repo) => run(repo, 'lefthook', 'install'),
  finds: '.git/hooks/pre-commit',
  letsOursRun: false,
}

const managers: readonly Manager[] = [husky, lefthook, ...(hasPreCommit ? [preCommit] : [])]

/** Every file at the places where hooks may lie, with its mode; the repository's own path taken out. */
function hooksOf(repo: TestRepo): Readonly<Record<string, string>> {
  const all: Record<string, string> = {}
  for (const folder of ['.git/hooks', '.husky']) {
    const root = join(repo.dir, folder)
    if (!existsSync(root)) continue
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      const file = join(root, name)
      if (!statSync(file).isFile()) continue
      const mode = (statSync(file).mode & 0o777).toString(8)
      all[join(folder, name)] = `${mode} ${readFileSync(file, 'latin1').replaceAll(repo.home, () => '~')}`
    }
  }
  all['core.hooksPath'] = repo.tryGit('config', '--local', 'core.hooksPath').out
  return all
}

const makeTeam = (manager: Manager, more: Readonly<Record<string, string>> = {}): TestRepo =>
  makeRepo({ files: { 'a.txt': 'a\n', ...manager.files('echo theirs >> ../ran'), ...more } })

const theirsRan = (repo: TestRepo): boolean => {
  const file = join(repo.home, 'ran')
  const has = existsSync(file)
  rmSync(file, { force: true })
  return has
}

/** Theirs runs for everybody, and ours stops an agent. */
function expectBoth(repo: TestRepo): void {
  const git = (more: Readonly<Record<string, string>>, ...args: readonly string[]) =>
    runAs(repo, ['git', ...args], env(repo, more))
  repo.write('a.txt', `${repo.read('a.txt')}more\n`)
  const person = git({}, 'commit', '--quiet', '-am', 'Mine')
  expect(person.code, person.out).toBe(0)
  expect(theirsRan(repo)).toBe(true)
  repo.write('a.txt', `${repo.read('a.txt')}evil\n`)
  const its = git(agent, 'commit', '-am', 'Its')
  expect(its.code).not.toBe(0)
  expect(its.out).toMatch(/galley: unapproved/)
  theirsRan(repo)
  repo.git('checkout', '--quiet', 'HEAD', '--', 'a.txt')
}

const statesOf = (repo: TestRepo): readonly string[] =>
  cli(repo, ['hooks', 'status', '--json']).json.hooks.map((hook: { state: string }) => hook.state)

describe.each(managers)('$name itself', (manager) => {
  test('is there first: both run, and uninstalling gives its hooks back byte for byte', () => {
    using repo = makeTeam(manager)
    manager.install(repo)
    const theirs = hooksOf(repo)
    expect(theirs[manager.finds]).toBeDefined()
    galley(repo, 'hooks', 'install')
    expectBoth(repo)
    const installed = hooksOf(repo)
    galley(repo, 'hooks', 'install')
    expect(hooksOf(repo)).toEqual(installed)
    galley(repo, 'hooks', 'uninstall')
    expect(hooksOf(repo)).toEqual(theirs)
  })

  test('comes later: both run, and uninstalling leaves its hooks as if it had been alone', () => {
    using alone = makeTeam(manager)
    manager.install(alone)
    using repo = makeTeam(manager)
    galley(repo, 'hooks', 'install')
    manager.install(repo)
    if (manager.letsOursRun) expectBoth(repo)
    else expect(statesOf(repo)).not.toEqual(Array(4).fill('installed'))
    galley(repo, 'hooks', 'install')
    expect(statesOf(repo)).toEqual(Array(4).fill('installed'))
    expectBoth(repo)
    galley(repo, 'hooks', 'uninstall')
    expect(hooksOf(repo)).toEqual(hooksOf(alone))
  })

  test('is installed again over both, as after each `npm install`: repaired, and taken away whole', () => {
    using repo = makeTeam(manager)
    manager.install(repo)
    const theirs = hooksOf(repo)
    galley(repo, 'hooks', 'install')
    manager.install(repo)
    galley(repo, 'hooks', 'install')
    expectBoth(repo)
    galley(repo, 'hooks', 'uninstall')
    expect(hooksOf(repo)).toEqual(theirs)
  })

  test('checks what an agent proposes, by the script of its own', async () => {
    const stop = manager.files('grep -q good a.txt')
    using repo = makeRepo({ files: { 'a.txt': 'a\n', ...stop } })
    manager.install(repo)
    galley(repo, 'hooks', 'install')
    await using library = await openGalley(repo, { env: env(repo) })
    const propose = async (content: string) =>
      (await library.propose({ batch: batch([{ op: 'write', path: 'a.txt', content }]) })).change.checks.map(
        (c) => `${c.name} ${c.outcome}`,
      )
    expect(await propose('good\n')).toEqual(['hooks/pre-commit passed'])
    expect(await propose('bad\n')).toEqual(['hooks/pre-commit failed'])
  })

  test('mends what an agent proposes: that is the next revision', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', ...manager.files('sed -i s/two/TWO/ a.txt') } })
    manager.install(repo)
    await using library = await openGalley(repo, { env: env(repo) })
    const edits = [{ op: 'write', path: 'a.txt', content: 'two\n' }]
    const { change } = await library.propose({ batch: batch(edits) })
    expect(change).toMatchObject({ revision: 2, checks: [{ name: 'hooks/pre-commit', outcome: 'passed' }] })
    await library.approve({ id: change.id })
    await library.land({ id: change.id })
    expect(repo.read('a.txt')).toBe('TWO\n')
  })
})

test('a linked work tree of a repository with husky has both', () => {
  using repo = makeTeam(husky)
  husky.install(repo)
  galley(repo, 'hooks', 'install')
  repo.commit('hooks')
  theirsRan(repo)
  repo.git('worktree', 'add', '--quiet', '-b', 'other', '../other')
  const there = { cwd: join(repo.home, 'other') }
  // husky's stubs are not committed; they come with `npm install`, there too.
  runAs(repo, ['husky'], env(repo), there)
  runAs(repo, ['sh', '-c', 'echo more >> a.txt'], {}, there)
  const its = runAs(repo, ['git', 'commit', '-am', 'Its'], env(repo, agent), there)
  expect(its.out).toMatch(/galley: unapproved/)
  expect(theirsRan(repo)).toBe(true)
  const mine = runAs(repo, ['git', 'commit', '--quiet', '-am', 'Mine'], env(repo), there)
  expect(mine.code, mine.out).toBe(0)
})

test('lefthook with the lines that the installation advises runs both, and its file may change', () => {
  using repo = makeTeam(lefthook)
  lefthook.install(repo)
  const advised = galley(repo, 'hooks', 'install').split('\n')
  const lines = advised.slice(advised.findIndex((line) => line.trim() === 'galley:'))
  const [head = '', command = ''] = lines.map((line) => line.trim())
  expect(command).toMatch(/^run: /)
  galley(repo, 'hooks', 'uninstall')
  const yaml = `${repo.read('lefthook.yml')}    ${head}\n      ${command}\n`
  repo.write('lefthook.yml', yaml)
  lefthook.install(repo)
  const theirs = hooksOf(repo)
  galley(repo, 'hooks', 'install')
  expect(statesOf(repo)).toEqual(Array(4).fill('installed'))
  expectBoth(repo)
  repo.write('lefthook.yml', `${yaml}    more:\n      run: "true"\n`)
  expectBoth(repo)
  galley(repo, 'hooks', 'uninstall')
  expect(hooksOf(repo)).toEqual(theirs)
})

test('lefthook without them puts its own over ours when its file changes: seen, repaired, and taken away whole', () => {
  using repo = makeTeam(lefthook)
  lefthook.install(repo)
  const theirs = hooksOf(repo)
  galley(repo, 'hooks', 'install')
  repo.write(
    'lefthook.yml',
    repo.read('lefthook.yml').replace('theirs >>', () => 'others >>'),
  )
  // It looks at the second of the last change.
  utimesSync(join(repo.dir, 'lefthook.yml'), 2_000_000_000, 2_000_000_000)
  repo.write('a.txt', 'b\n')
  run(repo, 'git', 'commit', '--quiet', '-am', 'Mine')
  expect(theirsRan(repo)).toBe(true)
  expect(statesOf(repo)).toEqual(['displaced', ...Array(3).fill('installed')])
  galley(repo, 'hooks', 'install')
  expectBoth(repo)
  galley(repo, 'hooks', 'uninstall')
  expect(hooksOf(repo)).toEqual(theirs)
})

/** As with pre-commit. */
const gitLfs = spawnSync('git', ['lfs', 'version']).status === 0 ? ['git-lfs'] : []

describe.each(gitLfs)('%s itself', () => {
  const withRemote = (): TestRepo => {
    const repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    runAs(repo, ['git', 'init', '--quiet', '--bare', '../there.git'])
    repo.git('remote', 'add', 'origin', '../there.git')
    repo.git('push', '--quiet', 'origin', 'main')
    repo.write('a.txt', 'b\n')
    repo.commit('Mine')
    return repo
  }
  const push = (repo: TestRepo, more: Readonly<Record<string, string>>) =>
    // Told to say what it does, git-lfs shows that its hook was asked.
    runAs(repo, ['git', 'push', 'origin', 'main'], { ...more, GIT_TRACE: '1' })

  test('is there first: both are asked at a push, and uninstalling gives its hooks back', () => {
    using repo = withRemote()
    run(repo, 'git', 'lfs', 'install', '--local')
    const theirs = hooksOf(repo)
    galley(repo, 'hooks', 'install')
    const its = push(repo, agent)
    expect(its.out).toMatch(/galley: unapproved: pushing to main/)
    expect(its.out).toMatch(/git-lfs pre-push origin/)
    expect(its.code).not.toBe(0)
    const mine = push(repo, {})
    expect([mine.code, /git-lfs pre-push origin/.test(mine.out)]).toEqual([0, true])
    galley(repo, 'hooks', 'uninstall')
    expect(hooksOf(repo)).toEqual(theirs)
  })

  test('comes later: it leaves ours alone, and says so', () => {
    using repo = withRemote()
    galley(repo, 'hooks', 'install')
    const ours = hooksOf(repo)['.git/hooks/pre-push']
    expect(runAs(repo, ['git', 'lfs', 'install', '--local']).out).toMatch(/Hook already exists: pre-push/)
    expect(hooksOf(repo)['.git/hooks/pre-push']).toBe(ours)
    expect(push(repo, agent).out).toMatch(/galley: unapproved/)
  })
})
