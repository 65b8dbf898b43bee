import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installHooks } from '../../src/flow/hooks.ts'
import { openWorld } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { projectRoot } from '../helpers/source-tree.ts'
import { installHusky, installLefthook, saying, writeScript } from '../hook/managers.ts'

const hook = (repo: TestRepo, name: string, lines: string): void =>
  writeScript(join(repo.dir, '.git/hooks', name), `#!/bin/sh\nout='${repo.home}/ran'\n${lines}\n`)

const ran = (repo: TestRepo): string => {
  const file = join(repo.home, 'ran')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  rmSync(file, { force: true })
  return text
}

/** Proposes that a.txt says two, and gives the checks as they came out. */
async function proposeTwo(repo: TestRepo, path = 'a.txt') {
  await using galley = await openGalley(repo)
  const edits = [{ op: 'write', path, content: 'two\n' }]
  const { change } = await galley.propose({ batch: batch(edits, { title: 'Two', body: 'Why not' }) })
  return { change, checks: change.checks.map((c) => `${c.name} ${c.outcome}`) }
}

async function install(repo: TestRepo): Promise<void> {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  const shims = {
    directory: join(projectRoot, 'hooks'),
    program: join(projectRoot, 'dist/galley.js'),
    node: process.execPath,
  }
  await installHooks(world, { shims, referenceTransaction: false, update: false, config: false })
  await world.close()
}

describe("the team's own hooks, as a check", () => {
  test('see what a commit of the user would show them: index, HEAD, message, and the whole tree', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', 'far/away/b.txt': 'b\n' } })
    hook(
      repo,
      'pre-commit',
      'git diff --cached --name-status > "$out"; git show HEAD:a.txt >> "$out"; cat far/away/b.txt a.txt >> "$out"; git status --porcelain >> "$out"',
    )
    hook(repo, 'commit-msg', 'cat "$1" >> "$out"')
    const before = repo.snapshot()
    const { checks, change } = await proposeTwo(repo)
    expect(checks).toEqual(['hooks/pre-commit passed', 'hooks/commit-msg passed'])
    const said = ran(repo)
    expect(said).toMatch(/^M\ta\.txt\none\nb\ntwo\nM {2}a\.txt\nTwo\n\nWhy not\n\nGalley-Change: /)
    expect(repo.snapshot()).toEqual(before)
    await using galley = await openGalley(repo)
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.read('a.txt')).toBe('two\n')
  })

  test('are told of no repository by the environment, and a git that they start elsewhere stays there', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(
      repo,
      'pre-commit',
      'env | grep "^GIT_" | cut -d= -f1 | sort > "$out"; d=$(mktemp -d) && git -C "$d" init -q && git -C "$d" config core.bare true; rm -rf "$d"',
    )
    const before = repo.snapshot()
    await proposeTwo(repo)
    expect(ran(repo)).toBe('GIT_CEILING_DIRECTORIES\nGIT_EDITOR\nGIT_TERMINAL_PROMPT\n')
    expect(repo.snapshot()).toEqual(before)
  })

  test('block when they fail, with what they said', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'pre-commit', 'echo "no two, please"; exit 1')
    hook(repo, 'commit-msg', 'echo asked > "$out"')
    const { change, checks } = await proposeTwo(repo)
    expect(checks).toEqual(['hooks/pre-commit failed'])
    expect(change.checks[0]?.summary).toBe('no two, please')
    expect(ran(repo)).toBe('')
    await using galley = await openGalley(repo)
    await galley.approve({ id: change.id })
    expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('checks-failed')
    expect(repo.read('a.txt')).toBe('one\n')
  })

  test.each([
    ['a file', 'echo more >> a.txt'],
    ['a file and the index', 'echo more >> a.txt; git add a.txt'],
    ['the index', 'git rm -q --cached a.txt'],
    ['a commit', 'git -c user.name=x -c user.email=x commit -q --no-verify -m sneaky'],
  ])('block when they change %s', async (_, lines) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'pre-commit', lines)
    const before = repo.snapshot()
    const { change, checks } = await proposeTwo(repo)
    expect(checks).toEqual(['hooks/pre-commit failed'])
    expect(change.checks[0]?.summary).toMatch(/^pre-commit changed (?:a\.txt|HEAD)/)
    expect(repo.snapshot()).toEqual(before)
  })

  test('block when they rewrite the message', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'commit-msg', 'echo "Change-Id: I1" >> "$1"')
    expect((await proposeTwo(repo)).checks).toEqual(['hooks/commit-msg failed'])
  })

  test('are not looked for where the policy says so, and make no tree where there are none', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'one\n', '.galley.json': '{ "checks": { "hooks": false } }\n' },
    })
    hook(repo, 'pre-commit', 'exit 1')
    expect((await proposeTwo(repo)).checks).toEqual([])
    using none = makeRepo({ files: { 'a.txt': 'one\n' } })
    expect((await proposeTwo(none)).checks).toEqual([])
    const trees = readdirSync(join(none.home, 'cache/galley'), { recursive: true, encoding: 'utf8' })
    expect(trees.filter((name) => /pool|full/.test(name))).toEqual([])
  })

  test('run on the first commit of a repository too', async () => {
    using repo = makeRepo()
    hook(repo, 'pre-commit', 'git diff --cached --name-status > "$out"')
    expect((await proposeTwo(repo)).checks).toEqual(['hooks/pre-commit passed'])
    expect(ran(repo)).toBe('A\ta.txt\n')
  })

  test('are not those that the change proposes', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'one\n', 'githooks/pre-commit': saying({ home: '/nowhere' } as TestRepo, 'x') },
    })
    repo.git('config', 'core.hooksPath', 'githooks')
    writeScript(join(repo.dir, 'githooks/pre-commit'), saying(repo, 'mine'))
    repo.commit('mine')
    ran(repo)
    await using galley = await openGalley(repo)
    const evil = { op: 'write', path: 'githooks/pre-commit', content: saying(repo, 'evil') }
    const { change } = await galley.propose({ batch: batch([evil]) })
    expect(change.checks.map((c) => c.outcome)).toEqual(['passed'])
    expect(ran(repo)).toBe('mine \n')
  })
})

describe('with hooks of galley in front', () => {
  test('the one that it keeps is run, and ours is not', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    writeScript(join(repo.dir, '.git/hooks/pre-commit'), saying(repo, 'mine'))
    await install(repo)
    expect((await proposeTwo(repo)).checks).toEqual(['hooks/pre-commit passed'])
    expect(ran(repo)).toBe('mine \n')
  })

  test('ours alone are none', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    await install(repo)
    expect((await proposeTwo(repo)).checks).toEqual([])
  })

  test('husky runs the script of the team, and a script of our line alone is none', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    installHusky(repo)
    await install(repo)
    expect((await proposeTwo(repo)).checks).toEqual([])
    writeScript(
      join(repo.dir, '.husky/pre-commit'),
      `echo "team $0" >> '${repo.home}/ran'\n${repo.read('.husky/pre-commit').split('\n')[1]}\n`,
      0o644,
    )
    expect((await proposeTwo(repo, 'b.txt')).checks).toEqual(['hooks/pre-commit passed'])
    expect(ran(repo)).toMatch(/^team .*\.husky\/pre-commit\n$/)
  })

  test('lefthook runs', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    installLefthook(repo)
    await install(repo)
    expect((await proposeTwo(repo)).checks).toEqual(['hooks/pre-commit passed'])
    expect(ran(repo)).toBe('lefthook run pre-commit\n')
  })
})
