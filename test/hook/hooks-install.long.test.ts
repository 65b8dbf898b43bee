import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { cli } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { agent, asAgent, asPerson, galley, runAs } from './hook-world.ts'
import {
  installGitLfs,
  installHusky,
  installLefthook,
  installPreCommit,
  saying,
  writeScript,
} from './managers.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const hookFile = (repo: TestRepo, name: string): string => join(repo.dir, '.git/hooks', name)
const ran = (repo: TestRepo): readonly string[] => {
  const file = join(repo.home, 'ran')
  const lines = existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.trim())
    : []
  rmSync(file, { force: true })
  return lines
}
const statesOf = (repo: TestRepo): Readonly<Record<string, string>> => {
  const { json } = cli(repo, ['hooks', 'status', '--json'])
  return Object.fromEntries(
    json.hooks.map((hook: { name: string; state: string }) => [hook.name, hook.state]),
  )
}
const stageFile = (repo: TestRepo, name: string): void => {
  repo.write(name, `${name}\n`)
  repo.git('add', name)
}

/** Theirs and ours both run: a person commits, an agent does not. */
function expectBoth(repo: TestRepo, theirs: readonly string[], name: string): void {
  stageFile(repo, `${name}-person`)
  expect(asPerson(repo, 'commit', '--quiet', '-m', 'Mine').code).toBe(0)
  expect(ran(repo)).toEqual(theirs)
  stageFile(repo, `${name}-agent`)
  expect(asAgent(repo, 'commit', '--quiet', '-m', 'Its').out).toMatch(/galley: unapproved/)
  expect(ran(repo)).toEqual(theirs)
  repo.git('rm', '--quiet', '--cached', `${name}-agent`)
  rmSync(join(repo.dir, `${name}-agent`))
}

describe('hooks install', () => {
  test('in a plain repository; again changes nothing; uninstall leaves nothing', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const before = repo.snapshot()
    galley(repo, 'hooks', 'install', '--reference-transaction')
    expectBoth(repo, [], 'plain')
    const installed = repo.snapshot()
    galley(repo, 'hooks', 'install', '--reference-transaction')
    expect(repo.snapshot()).toEqual(installed)
    expect(new Set(Object.values(statesOf(repo)))).toEqual(new Set(['installed']))
    galley(repo, 'hooks', 'uninstall')
    expect(repo.snapshot().gitFiles['hooks/']).toBe(before.gitFiles['hooks/'])
    const hooksOf = (files: Readonly<Record<string, string>>) =>
      Object.keys(files).filter((f) => f.startsWith('hooks/'))
    expect(hooksOf(repo.snapshot().gitFiles)).toEqual(hooksOf(before.gitFiles))
    expect(existsSync(join(repo.dir, '.git/galley/hooks.json'))).toBe(false)
  })

  test('writes no configuration', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const before = repo.read('.git/config')
    galley(repo, 'hooks', 'install', '--reference-transaction')
    expect(repo.read('.git/config')).toBe(before)
  })

  test('keeps a hook that is there, runs it first, with its arguments, input and exit code', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(hookFile(repo, 'pre-commit'), saying(repo, 'mine'), 0o750)
    writeScript(hookFile(repo, 'commit-msg'), saying(repo, 'message', 3))
    writeScript(hookFile(repo, 'pre-push'), `#!/bin/sh\necho "push $1 $(cat)" >> '${repo.home}/ran'\n`)
    const before = repo.snapshot()
    galley(repo, 'hooks', 'install')
    stageFile(repo, 'b.txt')
    expect(asPerson(repo, 'commit', '--quiet', '-m', 'Mine').code).toBe(1)
    expect(ran(repo)).toEqual(['mine', 'message .git/COMMIT_EDITMSG'])
    writeScript(hookFile(repo, 'galley-prev/commit-msg'), saying(repo, 'message', 0))
    expect(asPerson(repo, 'commit', '--quiet', '-m', 'Mine').code).toBe(0)
    ran(repo)
    runAs(repo, ['git', 'init', '--quiet', '--bare', join(repo.home, 'there.git')])
    expect(asPerson(repo, 'push', '--quiet', '../there.git', 'main').code).toBe(0)
    expect(ran(repo)[0]).toMatch(
      /^push ..\/there.git refs\/heads\/main [0-9a-f]{40} refs\/heads\/main 0{40}$/,
    )
    writeScript(hookFile(repo, 'galley-prev/commit-msg'), saying(repo, 'message', 3))
    galley(repo, 'hooks', 'uninstall')
    const hooksOf = (files: Readonly<Record<string, string>>) =>
      Object.entries(files).filter(([f]) => f.startsWith('hooks/'))
    expect(hooksOf(repo.snapshot().gitFiles)).toEqual(hooksOf(before.gitFiles))
  })

  test('keeps a hook that is a link, and puts the very link back', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(join(repo.dir, 'tools/check'), saying(repo, 'linked'))
    symlinkSync('../../tools/check', hookFile(repo, 'pre-commit'))
    galley(repo, 'hooks', 'install')
    expectBoth(repo, ['linked'], 'link')
    galley(repo, 'hooks', 'uninstall')
    expect(readlinkSync(hookFile(repo, 'pre-commit'))).toBe('../../tools/check')
  })

  test('a hook that git would not run, since it is not executable, is not run by us', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(hookFile(repo, 'pre-commit'), saying(repo, 'never'), 0o644)
    galley(repo, 'hooks', 'install')
    expectBoth(repo, [], 'plain')
    galley(repo, 'hooks', 'uninstall')
    expect(lstatSync(hookFile(repo, 'pre-commit')).mode & 0o777).toBe(0o644)
  })

  test('does not move a hook that looks at where it lies, and says what to add', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const text = `#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n`
    writeScript(hookFile(repo, 'pre-commit'), text)
    writeScript(hookFile(repo, 'lib.sh'), saying(repo, 'lib').replace('exit 0\n', ''))
    const said = galley(repo, 'hooks', 'install')
    expect(readFileSync(hookFile(repo, 'pre-commit'), 'utf8')).toBe(text)
    const line =
      said
        .split('\n')
        .find((l) => l.includes('galley/hooks/pre-commit'))
        ?.trim() ?? ''
    writeScript(hookFile(repo, 'pre-commit'), `${text}${line}\n`)
    expectBoth(repo, ['lib'], 'told')
    expect(statesOf(repo)['pre-commit']).toBe('installed')
  })

  test("takes its hooks away also when galley's folder is gone", () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(hookFile(repo, 'pre-commit'), saying(repo, 'mine'))
    galley(repo, 'hooks', 'install')
    rmSync(join(repo.dir, '.git/galley'), { recursive: true })
    galley(repo, 'hooks', 'uninstall')
    expect(readFileSync(hookFile(repo, 'pre-commit'), 'utf8')).toBe(saying(repo, 'mine'))
    expect(existsSync(hookFile(repo, 'commit-msg'))).toBe(false)
    expect(existsSync(hookFile(repo, 'galley-prev'))).toBe(false)
  })

  test('purge takes them away too', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(hookFile(repo, 'pre-commit'), saying(repo, 'mine'))
    galley(repo, 'hooks', 'install')
    galley(repo, 'purge')
    expect(readFileSync(hookFile(repo, 'pre-commit'), 'utf8')).toBe(saying(repo, 'mine'))
    expect(existsSync(hookFile(repo, 'commit-msg'))).toBe(false)
    expect(existsSync(join(repo.dir, '.git/galley'))).toBe(false)
  })

  test('an agent may not take them away', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    galley(repo, 'hooks', 'install')
    const before = repo.snapshot()
    expect(cli(repo, ['hooks', 'uninstall', '--json'], { env: agent }).json.error).toMatchObject({
      code: 'agent-may-not-approve',
      hint: 'Ask a person to run `galley hooks uninstall` in their own terminal.',
    })
    expect(repo.snapshot()).toEqual(before)
  })

  test('a hook that somebody put over ours later stays, and nothing of theirs is lost', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(hookFile(repo, 'pre-commit'), saying(repo, 'first'))
    galley(repo, 'hooks', 'install')
    writeScript(hookFile(repo, 'pre-commit'), saying(repo, 'second'))
    expect(statesOf(repo)['pre-commit']).toBe('displaced')
    const said = galley(repo, 'hooks', 'uninstall')
    expect(said).toMatch(/note: another hook stands at .*; the earlier one is kept/)
    expect(readFileSync(hookFile(repo, 'pre-commit'), 'utf8')).toBe(saying(repo, 'second'))
    expect(readFileSync(hookFile(repo, 'galley-prev/pre-commit'), 'utf8')).toBe(saying(repo, 'first'))
  })

  test('works in a linked work tree', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git('worktree', 'add', '--quiet', '-b', 'other', '../other')
    const there = { cwd: join(repo.home, 'other') }
    expect(cli(repo, ['hooks', 'install'], there).code).toBe(0)
    writeScript(join(there.cwd, 'b.txt'), 'b\n', 0o644)
    runAs(repo, ['git', 'add', 'b.txt'], {}, there)
    expect(runAs(repo, ['git', 'commit', '-m', 'Its'], agent, there).out).toMatch(/galley: unapproved/)
    expect(runAs(repo, ['git', 'commit', '--quiet', '-m', 'Mine'], {}, there).code).toBe(0)
  })
})

describe('with husky', () => {
  test.each(['husky first', 'galley first'])(
    '%s: both run, and uninstall gives theirs back byte for byte',
    (order) => {
      using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
      // The team's script, without a final newline.
      const script = `echo "team $*" >> '${repo.home}/ran'`
      writeScript(join(repo.dir, '.husky/pre-commit'), script, 0o644)
      if (order === 'galley first') galley(repo, 'hooks', 'install', '--reference-transaction')
      installHusky(repo)
      galley(repo, 'hooks', 'install', '--reference-transaction')
      expectBoth(repo, ['team'], 'husky')
      // `npm install` writes the stubs again.
      installHusky(repo)
      expectBoth(repo, ['team'], 'husky2')
      expect(new Set(Object.values(statesOf(repo)))).toEqual(new Set(['installed']))
      stageFile(repo, 'plumbing.txt')
      expect(asAgent(repo, 'commit', '--no-verify', '-m', 'Its').out).toMatch(/galley: unapproved/)
      galley(repo, 'hooks', 'uninstall')
      expect(repo.read('.husky/pre-commit')).toBe(script)
      expect(existsSync(join(repo.dir, '.husky/pre-push'))).toBe(false)
      expect(existsSync(join(repo.dir, '.husky/_/reference-transaction'))).toBe(false)
      expect(existsSync(hookFile(repo, 'pre-commit'))).toBe(false)
    },
  )

  test('a team mate without galley is not held up by the line', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    installHusky(repo)
    galley(repo, 'hooks', 'install')
    rmSync(join(repo.dir, '.git/galley'), { recursive: true })
    stageFile(repo, 'b.txt')
    expect(asAgent(repo, 'commit', '--quiet', '-m', 'Its').code).toBe(0)
  })
})

describe('with lefthook', () => {
  test('lefthook first: both run, and uninstall gives theirs back', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    installLefthook(repo)
    const theirs = readFileSync(hookFile(repo, 'pre-commit'))
    expect(galley(repo, 'hooks', 'install')).toMatch(/lefthook\.yml/)
    expectBoth(repo, ['lefthook run pre-commit'], 'lefthook')
    // It puts its own back; installing again repairs that.
    installLefthook(repo)
    expect(statesOf(repo)['pre-commit']).toBe('displaced')
    galley(repo, 'hooks', 'install')
    expectBoth(repo, ['lefthook run pre-commit'], 'lefthook2')
    expect(existsSync(hookFile(repo, 'pre-commit.old'))).toBe(false)
    galley(repo, 'hooks', 'uninstall')
    expect(readFileSync(hookFile(repo, 'pre-commit'))).toEqual(theirs)
  })

  test('its own file calls galley: then nothing is put in front of it', () => {
    const lefthook = 'pre-commit:\n  commands:\n    galley: { run: galley hook pre-commit }\n'
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'lefthook.yml': lefthook } })
    installLefthook(repo)
    const theirs = readFileSync(hookFile(repo, 'pre-commit'))
    expect(statesOf(repo)).toMatchObject({ 'pre-commit': 'installed', 'pre-push': 'missing' })
    galley(repo, 'hooks', 'install')
    expect(readFileSync(hookFile(repo, 'pre-commit'))).toEqual(theirs)
    galley(repo, 'hooks', 'uninstall')
    expect(readFileSync(hookFile(repo, 'pre-commit'))).toEqual(theirs)
    expect(repo.read('lefthook.yml')).toBe(lefthook)
  })

  test('galley first', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    galley(repo, 'hooks', 'install')
    installLefthook(repo)
    const theirs = readFileSync(hookFile(repo, 'pre-commit'))
    expect(statesOf(repo)['pre-commit']).toBe('displaced')
    galley(repo, 'hooks', 'install')
    expectBoth(repo, ['lefthook run pre-commit'], 'lefthook')
    galley(repo, 'hooks', 'uninstall')
    expect(readFileSync(hookFile(repo, 'pre-commit'))).toEqual(theirs)
    expect(existsSync(hookFile(repo, 'pre-commit.old'))).toBe(false)
  })
})

describe('with pre-commit', () => {
  test.each(['pre-commit first', 'galley first'])('%s, over a hook of the user: all three run', (order) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(hookFile(repo, 'pre-commit'), saying(repo, 'mine'))
    if (order === 'galley first') galley(repo, 'hooks', 'install')
    installPreCommit(repo)
    const theirs = readFileSync(hookFile(repo, 'pre-commit'))
    galley(repo, 'hooks', 'install')
    expect(new Set(Object.values(statesOf(repo)))).toEqual(new Set(['installed']))
    expectBoth(repo, ['mine', 'pre-commit'], 'pre')
    galley(repo, 'hooks', 'uninstall')
    expect(readFileSync(hookFile(repo, 'pre-commit'))).toEqual(theirs)
    expect(readFileSync(hookFile(repo, 'pre-commit.legacy'), 'utf8')).toBe(saying(repo, 'mine'))
    expect(existsSync(hookFile(repo, 'galley-prev'))).toBe(false)
  })
})

describe('with git-lfs', () => {
  test('its pre-push gets its input, and so does ours', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    installGitLfs(repo)
    const theirs = readFileSync(hookFile(repo, 'pre-push'))
    galley(repo, 'hooks', 'install')
    const path = { PATH: `${repo.home}/lfs-bin:${repo.env['PATH']}` }
    runAs(repo, ['git', 'init', '--quiet', '--bare', join(repo.home, 'there.git')])
    repo.git('push', '--quiet', '--no-verify', '../there.git', 'main')
    repo.git('remote', 'add', 'there', '../there.git')
    repo.git('fetch', '--quiet', 'there')
    repo.write('b.txt', 'b\n')
    repo.git('add', '--all')
    repo.git('commit', '--quiet', '--no-verify', '-m', 'Its')
    const pushed = runAs(repo, ['git', 'push', 'there', 'main'], { ...path, ...agent })
    expect(pushed.out).toMatch(/galley: unapproved: pushing to main/)
    expect(ran(repo)[0]).toMatch(/^lfs pre-push there .*refs\/heads\/main/)
    expect(runAs(repo, ['git', 'push', '--quiet', 'there', 'main'], path).code).toBe(0)
    galley(repo, 'hooks', 'uninstall')
    expect(readFileSync(hookFile(repo, 'pre-push'))).toEqual(theirs)
  })
})

describe('with core.hooksPath', () => {
  test("in the work tree: the team's scripts get a line, and missing ones are made", () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    writeScript(join(repo.dir, 'githooks/pre-commit'), `#!/bin/sh\necho team >> '${repo.home}/ran'\n`)
    writeScript(join(repo.dir, 'githooks/pre-push'), '#!/usr/bin/env python3\nprint(1)\n')
    repo.git('config', 'core.hooksPath', 'githooks')
    repo.commit('hooks')
    ran(repo)
    expect(galley(repo, 'hooks', 'install')).toMatch(/it is no shell script/)
    expectBoth(repo, ['team'], 'path')
    galley(repo, 'hooks', 'uninstall')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('outside of the repository: nothing is written there, and it says what to add', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const shared = join(repo.home, 'shared')
    writeScript(join(shared, 'pre-commit'), saying(repo, 'shared'))
    repo.git('config', '--global', 'core.hooksPath', shared)
    const before = readFileSync(join(shared, 'pre-commit'))
    const said = galley(repo, 'hooks', 'install')
    expect(said).toMatch(/shared with other repositories/)
    expect(readFileSync(join(shared, 'pre-commit'))).toEqual(before)
    expect(existsSync(join(shared, 'commit-msg'))).toBe(false)
    expect(Object.values(statesOf(repo))).not.toContain('installed')
    const line =
      said
        .split('\n')
        .find((l) => l.includes('galley/hooks/pre-commit'))
        ?.trim() ?? ''
    writeScript(join(shared, 'pre-commit'), `#!/bin/sh\n${line}\n`)
    stageFile(repo, 'b.txt')
    expect(asAgent(repo, 'commit', '-m', 'Its').out).toMatch(/galley: unapproved/)
  })

  test('outside, and .git/config may be written: theirs go on running, and uninstall gives the file back', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const shared = join(repo.home, 'shared')
    writeScript(join(shared, 'pre-commit'), saying(repo, 'shared'))
    writeScript(join(shared, 'post-commit'), saying(repo, 'after'))
    repo.git('config', '--global', 'core.hooksPath', shared)
    const before = repo.read('.git/config')
    galley(repo, 'hooks', 'install', '--config')
    stageFile(repo, 'b.txt')
    expect(asAgent(repo, 'commit', '-m', 'Its').out).toMatch(/galley: unapproved/)
    expect(ran(repo)).toEqual(['shared'])
    expect(asPerson(repo, 'commit', '--quiet', '-m', 'Mine').code).toBe(0)
    expect(ran(repo)).toEqual(['shared', 'after'])
    galley(repo, 'hooks', 'uninstall')
    expect(repo.read('.git/config')).toBe(before)
    expect(existsSync(join(repo.dir, '.git/galley/hooks'))).toBe(false)
    mkdirSync(join(repo.dir, 'x'))
  })
})
