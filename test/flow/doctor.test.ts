import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Examined, examine } from '../../src/flow/doctor/doctor.ts'
import { shimsOf } from '../../src/flow/hooks/hook-shims.ts'
import { openWorld } from '../../src/flow/world.ts'
import { withLandingLock } from '../../src/store/lock.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { cli, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import {
  bundleLanding,
  copyScene,
  ended,
  type Scene,
  setScene,
  startLanding,
} from '../landing/kill-harness.ts'

const program = join(import.meta.dirname, '../../dist/galley.js')

async function doctor(repo: TestRepo, fix = false): Promise<Examined> {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  try {
    return await examine(world, { shims: await shimsOf(program, execPath), fix })
  } finally {
    await world.close()
  }
}

/** Everything that is not simply good, as `state about: text`. */
const said = ({ findings }: Examined) =>
  findings.filter(({ state }) => state !== 'good').map((f) => `${f.state} ${f.about}: ${f.text}`)

const noHooks = expect.stringMatching(/^note hooks: none of galley's are installed/)

describe('the doctor', () => {
  test('finds a plain repository healthy and makes no store in it', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const before = repo.snapshot()
    const found = await doctor(repo)
    expect(found.healthy).toBe(true)
    expect(said(found)).toEqual([noHooks])
    expect(repo.snapshot()).toEqual(before)
    expect(existsSync(join(repo.dir, '.git/galley'))).toBe(false)
  })

  const faults: readonly (readonly [what: string, make: (repo: TestRepo) => void, finding: RegExp])[] = [
    [
      'a merge that waits',
      (repo) => repo.write('.git/MERGE_HEAD', `${repo.git('rev-parse', 'HEAD')}\n`),
      /repository: a merge waits.*in-progress/,
    ],
    [
      'a lock on the index',
      (repo) => repo.write('.git/index.lock', ''),
      /repository: .*index\.lock stands there since \d+ seconds.*locked/,
    ],
    ['unmerged paths', conflict, /repository: 1 paths are unmerged, first "a\.txt".*unmerged/],
    ['a policy that cannot be read', badPolicy, /policy: .*invalid-policy/],
    ['nobody to commit as', (repo) => repo.git('config', 'user.name', ''), /identity: .*no-identity/],
    [
      'a lock of somebody else in our folder',
      foreignLock,
      /landing: .*landing\.lock is not a lock that galley wrote/,
    ],
    ['a folder that others may read', openFolder, /store: .* can be read or written by others/],
  ]
  test.each(faults)('names %s, and what puts it right, and changes nothing', async (_, make, finding) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    make(repo)
    const before = repo.snapshot()
    const found = await doctor(repo)
    expect(found.healthy).toBe(false)
    const problems = found.findings.filter(({ state }) => state === 'problem')
    expect(problems.map((f) => `${f.about}: ${f.text}`)).toContainEqual(expect.stringMatching(finding))
    for (const { advice } of problems) expect(advice).not.toBeNull()
    expect(repo.snapshot()).toEqual(before)
  })

  test('gives the way out of what git is in the middle of, in git’s own words', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git('bisect', 'start')
    const [found] = (await doctor(repo)).findings.filter(({ state }) => state === 'problem')
    expect(found?.advice).toBe('Finish it, or end it: git bisect reset.')
    repo.git('bisect', 'reset')
    expect((await doctor(repo)).healthy).toBe(true)
  })

  test('calls nothing of a landing that is going on a wreck', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const galleyDir = join(repo.dir, '.git/galley')
    mkdirSync(galleyDir, { mode: 0o700 })
    await withLandingLock(galleyDir, systemClock, 'test', async () => {
      repo.write('.git/galley/land/g1-abc/traces.json', '{}')
      repo.write('.git/index.lock', 'galley g1-abc\n')
      const found = await doctor(repo)
      expect(found.healthy).toBe(true)
      expect(said(found)).toEqual([
        expect.stringMatching(/^note landing: .*index\.lock belongs to the landing g1-abc/),
        expect.stringMatching(/^note landing: a landing is going on: process/),
        'note landing: the landing g1-abc is being prepared',
        noHooks,
      ])
    })
    expect((await doctor(repo)).healthy).toBe(false)
  })

  test('writes out what would draw on the terminal, and every line feed', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.write('.git/galley/land/x\n\u001b[2Jok/traces.json', '{}')
    const { stdout } = cli(repo, ['doctor'])
    expect(stdout).toContain('x\\n\\u{1B}[2Jok')
    expect(stdout).not.toContain('\u001b')
  })

  test('names a change whose log cannot be read', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: {
        version: 1,
        title: 'x',
        edits: [{ op: 'write', path: 'new.txt', content: 'n\n', mode: 'create' }],
      },
    })
    const store = `--git-dir=${join(repo.dir, '.git/galley/store.git')}`
    repo.git(store, 'update-ref', `refs/galley/log/${change.id}`, repo.git('rev-parse', 'HEAD'))
    expect(said(await doctor(repo))).toContainEqual(
      expect.stringMatching(new RegExp(`^problem store: .*${change.id}.*\\(forged\\)`)),
    )
  })

  test('notes programs that git would run on contents of tracked files, and no others', async () => {
    const attributes = 'a.txt diff=word merge=ours\n*.key filter=crypt\n*.bin filter=lfs\n'
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.key': 'b\n', '.gitattributes': attributes } })
    repo.git('config', 'filter.lfs.clean', 'false')
    repo.git('config', 'filter.crypt.clean', 'false')
    repo.git('config', 'diff.word.textconv', 'false')
    repo.git('config', 'merge.ours.driver', 'true')
    const found = await doctor(repo)
    expect(found.healthy).toBe(true)
    expect(said(found)).toEqual([
      expect.stringContaining('filter drivers: "crypt";'),
      expect.stringContaining('diff drivers: "word"'),
      expect.stringContaining('merge drivers: "ours"'),
      noHooks,
    ])
  })

  test('puts a displaced hook back when it is asked to', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const hook = join(repo.dir, '.git/hooks/pre-commit')
    expect(cli(repo, ['hooks', 'install']).code).toBe(0)
    const shim = readFileSync(hook)
    expect((await doctor(repo)).healthy).toBe(true)
    rmSync(hook)
    const found = await doctor(repo)
    expect(said(found)).toEqual([expect.stringMatching(/^problem hooks: pre-commit/)])
    const fixed = await doctor(repo, true)
    expect(fixed.repaired).toEqual(['the hook pre-commit was put in place again'])
    expect([fixed.healthy, readFileSync(hook)]).toEqual([true, shim])
  })

  test('ends with code 1 where something is to be put right, with one JSON value', () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    expect(cli(repo, ['doctor']).code).toBe(0)
    repo.write('.git/index.lock', '')
    const { code, json } = cli(repo, ['doctor', '--json'])
    expect([code, json.healthy, json.ok]).toEqual([1, false, true])
  })
})

function conflict(repo: TestRepo): void {
  repo.git('checkout', '-qb', 'other')
  repo.write('a.txt', 'theirs\n')
  repo.commit('theirs')
  repo.git('checkout', '-q', 'main')
  repo.write('a.txt', 'mine\n')
  repo.commit('mine')
  repo.tryGit('merge', 'other')
  rmSync(join(repo.dir, '.git/MERGE_HEAD'))
}

function badPolicy(repo: TestRepo): void {
  repo.write('.galley.json', '{')
  repo.commit('policy')
}

function foreignLock(repo: TestRepo): void {
  repo.write('.git/galley/landing.lock', 'mine\n')
}

function openFolder(repo: TestRepo): void {
  expect(
    cli(repo, ['propose', '-'], {
      input: '{"version":1,"title":"x","edits":[{"op":"write","path":"n","content":"n","mode":"create"}]}',
    }).code,
  ).toBe(0)
  chmodSync(join(repo.dir, '.git/galley'), 0o755)
}

describe('a landing that was cut off', () => {
  let bundled: Awaited<ReturnType<typeof bundleLanding>>
  let scene: Scene
  beforeAll(async () => {
    bundled = await bundleLanding()
    scene = await setScene({ 'a.txt': 'a\n' }, { 'a.txt': 'A\n' })
  })
  afterAll(() => {
    bundled.remove()
    scene.repo[Symbol.dispose]()
  })

  test.each([
    ['all-placed', 'has not moved: its 1 files go back', 'rolled-back', 'a\n'],
    ['committed', 'has moved: its 1 files are brought to the new commit', 'finished', 'A\n'],
  ])('at %s is explained, and settled with --fix', async (point, explained, outcome, content) => {
    using copy = copyScene(scene)
    await ended(startLanding(bundled.program, copy, point))
    const before = copy.repo.snapshot()
    const found = await doctor(copy.repo)
    expect(copy.repo.snapshot()).toEqual(before)
    expect(said(found)).toContainEqual(expect.stringContaining(explained))
    const fixed = await doctor(copy.repo, true)
    expect(fixed.repaired).toEqual([expect.stringContaining(`was ${outcome}`)])
    expect([fixed.healthy, copy.repo.read('a.txt')]).toEqual([true, content])
    expect(copy.repo.git('status', '--porcelain', 'a.txt')).toBe('')
  })
})
