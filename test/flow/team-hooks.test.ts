import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installHooks } from '../../src/flow/hooks/hooks.ts'
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
    ['a file', "sed -i 's/two/TWO/' a.txt", ['a.txt']],
    ['a file and the index', "sed -i 's/two/TWO/' a.txt; git add a.txt", ['a.txt']],
    ['a new file in the index', 'echo new > new.txt; git add new.txt', ['a.txt', 'new.txt']],
    ['a file of another directory', 'echo far > far/b.txt', ['a.txt', 'far/b.txt']],
  ])('that change %s make the next revision, on which they pass', async (_, lines, paths) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', 'far/b.txt': 'b\n' } })
    hook(repo, 'pre-commit', lines)
    const before = repo.snapshot()
    const { change, checks } = await proposeTwo(repo)
    expect(checks).toEqual(['hooks/pre-commit passed'])
    expect([change.revision, change.state, change.files.map((f) => f.path)]).toEqual([2, 'staged', paths])
    expect(repo.snapshot()).toEqual(before)
    await using galley = await openGalley(repo)
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.git('diff', '--name-only', 'HEAD~1').split('\n')).toEqual(paths)
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('that mend a file and fail are asked once more on what they wrote, as a person would', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(
      repo,
      'pre-commit',
      'echo "$(git show :a.txt)" >> "$out"; grep -q TWO a.txt || { echo TWO > a.txt; exit 1; }',
    )
    const { change, checks } = await proposeTwo(repo)
    expect([change.revision, ...checks]).toEqual([2, 'hooks/pre-commit passed'])
    expect(ran(repo)).toBe('two\nTWO\nTWO\n')
  })

  test('that write something and go on failing block, and what they wrote is nowhere', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'pre-commit', 'echo junk >> a.txt; echo "no $(wc -l < a.txt)"; exit 1')
    const { change, checks } = await proposeTwo(repo)
    expect([change.revision, ...checks]).toEqual([1, 'hooks/pre-commit failed'])
    expect(change.checks[0]?.summary).toBe('no 2')
    await using galley = await openGalley(repo)
    const { outputs } = await galley.show(change.id)
    expect(outputs[0]?.output).toMatch(/^no 2\n\nasked again, on what it wrote:\nno 3\n/)
  })

  test.each([
    [
      'takes the change out of the index',
      'git restore --staged --worktree a.txt',
      'nothing is left of the change',
    ],
    ['commits', 'git -c user.name=x -c user.email=x commit -q --no-verify -m sneaky', 'moved HEAD'],
  ])('block where one %s', async (_, lines, why) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'pre-commit', lines)
    const before = repo.snapshot()
    const { change, checks } = await proposeTwo(repo)
    expect([change.revision, ...checks]).toEqual([1, 'hooks/pre-commit failed'])
    expect(change.checks[0]?.summary).toContain(why)
    expect(repo.snapshot()).toEqual(before)
  })

  test('that add a trailer to the message make the next revision, whose message has it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const add =
      'git interpret-trailers --in-place --if-exists doNothing --trailer "Change-Id: I$(date +%N)" "$1"'
    hook(repo, 'commit-msg', `${add} && sed -i '1s/^Two/T-1: Two/' "$1"`)
    const { change, checks } = await proposeTwo(repo)
    expect([change.revision, change.title, ...checks]).toEqual([2, 'T-1: Two', 'hooks/commit-msg passed'])
    await using galley = await openGalley(repo)
    await galley.approve({ id: change.id })
    await galley.land({ id: change.id })
    expect(repo.git('log', '-1', '--format=%s|%(trailers:keyonly,separator=%x2C)')).toBe(
      'T-1: Two|Change-Id,Galley-Change',
    )
    expect(repo.git('log', '-1', '--format=%b')).toMatch(
      /^Why not\n\nChange-Id: I\d+\nGalley-Change: g\w+\n*$/,
    )
  })

  test.each([
    ['so that it leads to no change', 'sed -i /^Galley-/d "$1"', /Galley-Change: g\w+" is gone/],
    ['so that it claims another', 'echo "Galley-Change: g000000000" >> "$1"', /is not a hook's to write/],
    ['to nothing but ours', 'printf "\\n\\n%s\\n" "$(grep Galley- "$1")" > "$1"', /nothing is left of it/],
    ['in bytes that are no UTF-8', 'printf "caf\\351\\n" >> "$1"', /message that is not UTF-8/],
    ['with what nobody sees', 'printf \'\\342\\200\\256%s\\n\' "$(cat "$1")" > "$1"', /U\+202E/],
  ])('block when they rewrite the message %s', async (_, lines, why) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    hook(repo, 'commit-msg', lines)
    const { change, checks } = await proposeTwo(repo)
    expect(checks).toEqual(['hooks/commit-msg failed'])
    expect(change.checks[0]?.summary).toMatch(why)
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

describe('a landing asks them', () => {
  const two = batch([{ op: 'write', path: 'a.txt', content: 'two\n' }])

  test.each([
    ['where nobody asked for checks', true],
    ['where they came after the proposal', false],
  ])('%s', async (_, isThere) => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const stop = () => hook(repo, 'pre-commit', 'echo "no two, please"; exit 1')
    if (isThere) stop()
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: two, checks: 'later' })
    await galley.approve({ id: change.id })
    stop()
    const before = repo.snapshot()
    const refused = await refusal(() => galley.land({ id: change.id }))
    expect([refused.code, refused.message]).toEqual([
      'checks-failed',
      expect.stringMatching(/no two, please/),
    ])
    expect(repo.snapshot()).toEqual(before)
  })

  test('on the very commit that lands, also of each of several', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    // Each is good alone, and the second is not on top of the first.
    hook(repo, 'pre-commit', '[ ! -e b.txt ] || [ ! -e c.txt ]')
    await using galley = await openGalley(repo)
    const ids: string[] = []
    for (const path of ['b.txt', 'c.txt']) {
      const { change } = await galley.propose({ batch: batch([{ op: 'write', path, content: 'x\n' }]) })
      await galley.approve({ id: change.id })
      ids.push(change.id)
    }
    const { landed, refused } = await galley.landAll()
    expect(landed.map((one) => one.change.id)).toEqual(ids.slice(0, 1))
    expect(refused).toMatchObject([{ id: ids[1], refusal: { code: 'checks-failed' } }])
    expect(existsSync(join(repo.dir, 'c.txt'))).toBe(false)
  })
})
