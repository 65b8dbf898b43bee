import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRepository } from '../../src/git/open-repository.ts'
import { withIndexHeld } from '../../src/landing/hold-index.ts'
import { landCommit } from '../../src/landing/land-commit.ts'
import { preflight } from '../../src/landing/preflight.ts'
import { type RecoveryReport, recover } from '../../src/landing/recover.ts'
import { tryLandingLock, withLandingLock } from '../../src/store/lock.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo } from '../helpers/repo.ts'
import {
  bundleLanding,
  copyScene,
  ended,
  recoverAndCheck,
  type Scene,
  setScene,
  startLanding,
} from './kill-harness.ts'
import { land, leftovers, refusalOf, stageChange } from './stage-change.ts'

const FILES = { 'a.txt': 'a\n', 'gone.txt': 'gone\n' }
const CHANGES = { 'a.txt': 'A\n', 'gone.txt': null, 'new.txt': 'new\n' }

let program = ''
let removeProgram: () => void = () => undefined
let scene: Scene

beforeAll(async () => {
  const bundled = await bundleLanding()
  program = bundled.program
  removeProgram = bundled.remove
  scene = await setScene(FILES, CHANGES)
})

afterAll(() => {
  removeProgram()
  scene.repo[Symbol.dispose]()
})

const recoverIn = async (of: Scene): Promise<RecoveryReport> =>
  recover(await openRepository(of.repo.dir, of.repo.env), join(of.repo.dir, '.git/galley'), systemClock)

async function killedAt(point: string): Promise<Scene & Disposable> {
  const copy = copyScene(scene)
  expect(await ended(startLanding(program, copy, point))).toMatchObject({
    signal: 'SIGKILL',
    said: 'ready\n',
  })
  return copy
}

/** What the user sees: HEAD, index and files. */
function stateOf({ repo }: Scene) {
  const names = readdirSync(repo.dir, { withFileTypes: true }).filter((entry) => entry.isFile())
  return {
    head: repo.git('rev-parse', 'HEAD'),
    status: repo.git('status', '--porcelain', '--branch'),
    index: repo.git('ls-files', '--stage'),
    files: names.map(({ name }) => [name, repo.read(name)]),
  }
}

describe('recovering a landing that was cut off', () => {
  test('before the ref moved: files that the user changed since stay theirs, the rest goes back', async () => {
    using copy = await killedAt('all-placed')
    copy.repo.write('a.txt', 'mine\n')
    copy.repo.write('gone.txt', 'mine again\n')
    const report = await recoverIn(copy)
    const [landing] = report.landings
    expect(landing).toMatchObject({ outcome: 'rolled-back', ref: 'refs/heads/main' })
    expect(landing?.left.map(({ path }) => path).sort()).toEqual(['a.txt', 'gone.txt'])
    expect(copy.repo.read('a.txt') + copy.repo.read('gone.txt')).toBe('mine\nmine again\n')
    expect(copy.repo.tryGit('ls-files', '--others', 'new.txt').out).toBe('')
    expect(leftovers(copy.repo)).toEqual([])
    // What was displaced is kept.
    const kept = readdirSync(join(copy.repo.dir, '.git/galley/done'), { recursive: true, encoding: 'utf8' })
    expect(kept.filter((name) => name.includes('/old/'))).toHaveLength(2)
  })

  test('before the ref moved and the user took the lock away and committed: says that the commit may hold half of it', async () => {
    using copy = await killedAt('all-placed')
    for (const lock of ['index.lock', 'HEAD.lock', 'refs/heads/main.lock'])
      rmSync(join(copy.repo.dir, '.git', lock), { force: true })
    copy.repo.git('commit', '--quiet', '-am', 'half')
    const { landings } = await recoverIn(copy)
    expect(landings).toMatchObject([{ outcome: 'rolled-back' }])
    expect(landings[0]?.remarks.join()).toContain('refs/heads/main has moved since')
  })

  test('after the ref moved: files that the user changed since stay theirs, index and locks are put right', async () => {
    using copy = await killedAt('committed')
    copy.repo.write('a.txt', 'mine\n')
    rmSync(join(copy.repo.dir, 'new.txt'))
    const report = await recoverIn(copy)
    expect(report.landings).toMatchObject([{ outcome: 'finished' }])
    expect(report.landings[0]?.left.map(({ path }) => path).sort()).toEqual(['a.txt', 'new.txt'])
    const status = copy.repo.git('status', '--porcelain').split('\n')
    expect(status).toEqual(expect.arrayContaining([' M a.txt', ' D new.txt']))
    expect(leftovers(copy.repo)).toEqual([])
  })

  test('after the ref moved and the user took the lock away and staged something: entry by entry', async () => {
    using copy = await killedAt('committed')
    rmSync(join(copy.repo.dir, '.git/index.lock'))
    copy.repo.write('also.txt', 'also\n')
    copy.repo.git('add', 'also.txt')
    await recoverIn(copy)
    const status = copy.repo.git('status', '--porcelain').split('\n')
    expect(status).toContain('A  also.txt')
    expect(status.filter((line) => /a\.txt|gone|new/.test(line))).toEqual([])
    expect(copy.repo.git('diff', '--cached', '--name-only', 'HEAD')).toBe('also.txt\nstaged.txt')
  })

  test('after the ref moved and power was lost: names that did not reach the device are put there again', async () => {
    using copy = await killedAt('committed')
    const land = join(copy.repo.dir, '.git/galley/land')
    const journal = join(land, readdirSync(land)[0] ?? '', 'journal.json')
    // The rename of one file and the link of another were not on the device yet.
    renameSync(join(dirname(journal), 'old/1'), join(copy.repo.dir, 'a.txt'))
    rmSync(join(copy.repo.dir, 'new.txt'))
    const earlier = JSON.parse(readFileSync(journal, 'utf8')) as { owner: object; refProcess: object }
    const restarted = {
      ...earlier,
      owner: { ...earlier.owner, boot: 'earlier' },
      refProcess: { ...earlier.refProcess, boot: 'earlier' },
    }
    writeFileSync(journal, JSON.stringify(restarted))
    const report = await recoverIn(copy)
    expect(report.landings).toMatchObject([{ outcome: 'finished', left: [] }])
    expect(copy.repo.read('a.txt') + copy.repo.read('new.txt')).toBe('A\nnew\n')
    expect(copy.repo.git('status', '--porcelain', 'a.txt', 'new.txt', 'gone.txt')).toBe('')
  })

  test.each<readonly [string, (repo: Scene['repo']) => void]>([
    ['went to another branch', (repo) => repo.git('checkout', '-q', '-f', '-b', 'other', 'HEAD~1')],
    ['amended the commit', (repo) => repo.git('commit', '-q', '--amend', '-m', 'amended')],
    ['took the change back', (repo) => repo.git('reset', '-q', '--hard', 'HEAD~1')],
    [
      'reverted the commit',
      (repo) => {
        repo.git('reset', '-q', '--hard')
        repo.git('revert', '--no-edit', 'HEAD')
      },
    ],
  ])('once the index was in place, and the user %s: all stays as they have it', async (_, goOn) => {
    using copy = await killedAt('unlocked')
    goOn(copy.repo)
    const before = stateOf(copy)
    expect((await recoverIn(copy)).landings).toMatchObject([{ outcome: 'finished', left: [] }])
    expect(stateOf(copy)).toEqual(before)
    expect(leftovers(copy.repo)).toEqual([])
  })

  test('after the ref moved and the user took the lock away and went to another branch: that branch stays as it is', async () => {
    using copy = await killedAt('committed')
    rmSync(join(copy.repo.dir, '.git/index.lock'))
    copy.repo.git('checkout', '-q', '-f', '-b', 'other', 'HEAD~1')
    const before = stateOf(copy)
    expect((await recoverIn(copy)).landings).toMatchObject([{ outcome: 'finished' }])
    expect(stateOf(copy)).toEqual(before)
    expect(copy.repo.git('diff', '--cached', '--name-only')).toBe('')
    expect(leftovers(copy.repo)).toEqual([])
  })

  test('after the ref moved and a collection that knew nothing of the new index: every entry has its object', async () => {
    const lines = '2\n3\n4\n5\n6\n7\n8\n'
    const own = await setScene({ 'm.txt': `1\n${lines}9\n` }, { 'm.txt': `ONE\n${lines}9\n` })
    using _ = own.repo
    using copy = copyScene(own)
    copy.repo.write('m.txt', `1\n${lines}STAGED\n`)
    copy.repo.git('add', 'm.txt')
    await ended(startLanding(program, copy, 'committed'))
    copy.repo.git('gc', '-q', '--prune=now')
    await recoverIn(copy)
    expect(copy.repo.git('write-tree')).toMatch(/^[0-9a-f]{40}$/)
    expect(copy.repo.git('show', ':m.txt')).toBe(`ONE\n${lines}STAGED`)
    expect(leftovers(copy.repo)).toEqual([])
  })

  test("in the middle of git's refresh: the lock of that goes too", async () => {
    using copy = await killedAt('unlocked')
    copy.repo.write('.git/index.lock', readFileSync(join(copy.repo.dir, '.git/index')))
    expect((await recoverIn(copy)).landings).toMatchObject([{ outcome: 'finished', left: [] }])
    expect(leftovers(copy.repo)).toEqual([])
  })

  test.each([
    ['from there', true, false],
    ['from another work tree', false, false],
    ['from there, another one in its old place', true, true],
    ['from another work tree, another one in its old place', false, true],
  ])('in a work tree that was moved since: %s, where it is now', async (_, isThere, isTaken) => {
    await using repo = makeRepo({ files: FILES })
    const [tree, moved] = [join(repo.home, 'linked'), join(repo.home, 'moved')]
    repo.git('worktree', 'add', '-q', tree, '-b', 'side')
    const { ref, before, after, manifest } = await stageChange(repo, CHANGES, { from: tree })
    const plan = { env: repo.env, ref, before, after, manifest }
    const planFile = join(repo.home, 'plan.json')
    writeFileSync(planFile, JSON.stringify(plan))
    const there = { repo: { ...repo, dir: tree }, planFile, plan, changes: CHANGES }
    expect(await ended(startLanding(program, there, 'all-placed'))).toMatchObject({ signal: 'SIGKILL' })
    repo.git('worktree', 'move', tree, moved)
    if (isTaken) repo.git('worktree', 'add', '-q', tree, '-b', 'another')
    const repository = await openRepository(isThere ? moved : repo.dir, repo.env)
    const report = await recover(repository, join(repo.dir, '.git/galley'), systemClock)
    expect(report.landings).toMatchObject([{ outcome: 'rolled-back', left: [] }])
    expect(repo.git('-C', moved, 'status', '--porcelain')).toBe('')
    if (isTaken) expect(repo.git('-C', tree, 'status', '--porcelain')).toBe('')
    expect(leftovers(repo)).toEqual([])
  })

  test('in a work tree that was moved away from its git directory since: where it is now', async () => {
    await using repo = makeRepo({ files: FILES })
    const [gitDir, moved] = [join(repo.home, 'git-dir'), join(repo.home, 'moved')]
    repo.git('init', '-q', `--separate-git-dir=${gitDir}`)
    const { ref, before, after, manifest } = await stageChange(repo, CHANGES)
    const plan = { env: repo.env, ref, before, after, manifest }
    const planFile = join(repo.home, 'plan.json')
    writeFileSync(planFile, JSON.stringify(plan))
    const ends = await ended(startLanding(program, { repo, planFile, plan, changes: CHANGES }, 'all-placed'))
    expect(ends).toMatchObject({ signal: 'SIGKILL' })
    renameSync(repo.dir, moved)
    const report = await recover(await openRepository(moved, repo.env), join(gitDir, 'galley'), systemClock)
    expect(report.landings).toMatchObject([{ outcome: 'rolled-back', left: [] }])
    mkdirSync(repo.dir)
    expect(repo.git('-C', moved, 'status', '--porcelain')).toBe('')
  })

  test.each(['moved-away-0', 'all-placed', 'committed'] as const)(
    'in a repository that was copied since, killed at %s: each for itself, the copy first',
    async (point) => {
      using copy = await killedAt(point)
      const { repo } = copy
      const dir = join(dirname(repo.dir), 'copied')
      cpSync(repo.dir, dir, { recursive: true, verbatimSymlinks: true })
      const original = [stateOf(copy), leftovers(repo)]
      for (const here of [dir, repo.dir]) {
        const repository = await openRepository(here, repo.env)
        const report = await recover(repository, join(here, '.git/galley'), systemClock)
        const outcome = point === 'committed' ? 'finished' : 'rolled-back'
        expect(report.landings).toMatchObject([{ outcome, left: [] }])
        expect(scene.repo.git('-C', here, 'status', '--porcelain')).toBe(
          scene.repo.git('status', '--porcelain'),
        )
        expect(leftovers({ ...repo, dir: here })).toEqual([])
        if (here === dir) expect([stateOf(copy), leftovers(repo)]).toEqual(original)
      }
    },
  )

  test('in a repository that was moved since: where it is now', async () => {
    using copy = await killedAt('all-placed')
    const { repo } = copy
    const dir = join(dirname(repo.dir), 'elsewhere')
    renameSync(repo.dir, dir)
    const report = await recover(await openRepository(dir, repo.env), join(dir, '.git/galley'), systemClock)
    expect(report.landings).toMatchObject([{ outcome: 'rolled-back', left: [] }])
    expect(scene.repo.git('-C', dir, 'status', '--porcelain')).toBe(scene.repo.git('status', '--porcelain'))
    expect(leftovers({ ...repo, dir })).toEqual([])
  })

  test('is not done to a landing that the same task has only begun', async () => {
    using copy = copyScene(scene)
    const repository = await openRepository(copy.repo.dir, copy.repo.env)
    const galleyDir = join(copy.repo.dir, '.git/galley')
    const request = { repository, galleyDir, label: 'gtest00000', clock: systemClock }
    await withLandingLock(galleyDir, systemClock, 'test', () =>
      withIndexHeld(request, async () => {
        const held = leftovers(copy.repo)
        expect(held).toContain('.git/index.lock')
        expect(await recoverIn(copy)).toEqual({ landings: [] })
        expect(leftovers(copy.repo)).toEqual(held)
      }),
    )
    expect(leftovers(copy.repo)).toEqual([])
  })

  test('the index is held for nobody who has not the landing lock', async () => {
    using copy = copyScene(scene)
    const repository = await openRepository(copy.repo.dir, copy.repo.env)
    const galleyDir = join(copy.repo.dir, '.git/galley')
    const request = { repository, galleyDir, label: 'gtest00000', clock: systemClock }
    await expect(withIndexHeld(request, async () => undefined)).rejects.toThrow('has the landing lock')
    expect(leftovers(copy.repo)).toEqual([])
  })

  test.each(['index-held', 'planned', 'journaled', 'all-placed', 'committed', 'unlocked'])(
    'with the index held from the start, at %s',
    async (point) => {
      using copy = await killedAt(`held:${point}`)
      const landed = ['committed', 'unlocked'].includes(point)
      expect(await recoverAndCheck(copy)).toBe(landed ? 'new' : 'old')
    },
  )

  test.each([
    ['are empty', ''],
    ['are not whole', '{"indexFile":'],
    ['are something else', '"x"'],
  ])(
    'after a loss of power whose notes %s: the lock on the index goes by what it holds',
    async (_, notes) => {
      using copy = await killedAt('held:planned')
      const land = join(copy.repo.dir, '.git/galley/land')
      writeFileSync(join(land, readdirSync(land)[0] ?? '', 'traces.json'), notes)
      expect(await recoverAndCheck(copy)).toBe('old')
    },
  )

  test('leaves locks that are not provably ours', async () => {
    using copy = await killedAt('ref-prepared')
    copy.repo.write('.git/index.lock', 'somebody else\n')
    copy.repo.write('.git/refs/heads/main.lock', `${'1'.repeat(40)}\n`)
    await recoverIn(copy)
    expect(leftovers(copy.repo)).toEqual(['.git/index.lock', '.git/refs/heads/main.lock'])
  })

  test('does nothing while another process lands', async () => {
    using copy = await killedAt('all-placed')
    rmSync(join(copy.repo.dir, '.git/galley/landing.lock'))
    const galleyDir = join(copy.repo.dir, '.git/galley')
    let waiting: Promise<RecoveryReport> | null = null
    await Promise.all([
      tryLandingLock(galleyDir, systemClock, 'other', () => systemClock.sleep(150)),
      systemClock.sleep(20).then(() => {
        waiting = recoverIn(copy)
      }),
    ])
    expect(await waiting).toEqual({ landings: [] })
    expect(readdirSync(join(galleyDir, 'land'))).toHaveLength(1)
  })

  test('costs one look and changes nothing when there is nothing to do', async () => {
    await using repo = makeRepo({ files: FILES })
    const before = repo.snapshot()
    const repository = await openRepository(repo.dir, repo.env)
    expect(await recover(repository, join(repo.dir, '.git/galley'), systemClock)).toEqual({ landings: [] })
    expect(repo.snapshot()).toEqual(before)
  })
})

describe('after a landing', () => {
  const later = { ...systemClock, now: () => Date.now() + 13 * 3600_000 }

  test('displaced files are kept for hours, then deleted; one that was saved to late is kept and told of', async () => {
    await using repo = makeRepo({ files: { ...FILES, 'late.txt': 'late\n' } })
    await land(repo, { 'a.txt': 'A\n', 'late.txt': 'L\n' })
    const done = join(repo.dir, '.git/galley/done')
    expect(readdirSync(done)).toHaveLength(1)
    const late = join(done, readdirSync(done)[0] ?? '', 'old/1')
    expect(readFileSync(late, 'utf8')).toBe('late\n')
    const again = await stageChange(repo, { 'a.txt': 'AA\n' })
    await landCommit(again)
    expect(readdirSync(done)).toHaveLength(2)
    repo.write(late.slice(repo.dir.length + 1), 'saved late\n')
    const third = await stageChange(repo, { 'a.txt': 'AAA\n' })
    const report = await landCommit({ ...third, clock: later })
    expect(report.remarks.join()).toContain(
      `late.txt was saved by a program that had the old file open; those bytes are in ${late}`,
    )
    expect(readdirSync(done)).toHaveLength(2)
  })

  test('a file that was made in a directory when that had made way is kept and told of', async () => {
    await using repo = makeRepo({ files: { ...FILES, 'swap/deep/inner.txt': 'i\n' } })
    const galleyDir = join(repo.dir, '.git/galley')
    const inAside = (name: string): string => {
      const [id = ''] = readdirSync(join(galleyDir, 'land'))
      return join(galleyDir, 'land', id, 'directories/0', name)
    }
    const request = await stageChange(repo, { 'swap/deep/inner.txt': null, swap: 'a file now\n' })
    const report = await landCommit({
      ...request,
      reach: (point) => {
        if (point === 'checked') writeFileSync(inAside('deep/late.txt'), 'late\n')
      },
    })
    expect(repo.read('swap')).toBe('a file now\n')
    const done = join(galleyDir, 'done')
    const late = join(done, readdirSync(done)[0] ?? '', 'directories/0/deep/late.txt')
    const remark = `swap/deep/late.txt was made by another program when its directory had made way for a file; it is in ${late}`
    expect(report.remarks).toEqual([remark])
    const next = await stageChange(repo, { 'a.txt': 'A\n' })
    expect((await landCommit({ ...next, clock: later })).remarks).toEqual([remark])
    expect(readFileSync(late, 'utf8')).toBe('late\n')
  })

  test('one that was made before the branch moved is back in its directory, and nothing has landed', async () => {
    await using repo = makeRepo({ files: { ...FILES, 'swap/inner.txt': 'i\n' } })
    const galleyDir = join(repo.dir, '.git/galley')
    const request = await stageChange(repo, { 'swap/inner.txt': null, swap: 'a file now\n' })
    const landing = landCommit({
      ...request,
      reach: (point) => {
        if (point !== 'all-placed') return
        const [id = ''] = readdirSync(join(galleyDir, 'land'))
        writeFileSync(join(galleyDir, 'land', id, 'directories/0/late.txt'), 'late\n')
      },
    })
    expect(await refusalOf(landing)).toBe('would-overwrite')
    expect(repo.read('swap/late.txt') + repo.read('swap/inner.txt')).toBe('late\ni\n')
    expect(repo.git('status', '--porcelain')).toBe('?? swap/late.txt')
  })

  test('one whose directory cannot come back is kept too', async () => {
    await using repo = makeRepo({ files: FILES })
    mkdirSync(join(repo.dir, 'swap'))
    const galleyDir = join(repo.dir, '.git/galley')
    const request = await stageChange(repo, { swap: 'a file now\n' })
    const landing = landCommit({
      ...request,
      reach: (point) => {
        if (point !== 'all-placed') return
        const [id = ''] = readdirSync(join(galleyDir, 'land'))
        writeFileSync(join(galleyDir, 'land', id, 'directories/0/late.txt'), 'late\n')
        rmSync(join(repo.dir, 'swap'))
        repo.write('swap', 'mine\n')
      },
    })
    await refusalOf(landing)
    expect(repo.read('swap')).toBe('mine\n')
    const kept = readdirSync(join(galleyDir, 'done'), { recursive: true, encoding: 'utf8' })
    expect(kept.filter((name) => name.endsWith('/late.txt'))).toHaveLength(1)
  })

  test('what stood uncommitted in a merged file can be had from a ref of the store', async () => {
    await using repo = makeRepo({ files: { 'a.txt': '1\n2\n3\n4\n5\n6\n' } })
    repo.write('a.txt', '1\n2\n3\n4\n5\nSTAGED\n')
    repo.git('add', 'a.txt')
    repo.write('a.txt', '1\n2\n3\nMINE\n5\nSTAGED\n')
    const refs = repo.git('for-each-ref')
    const report = await land(repo, { 'a.txt': 'ONE\n2\n3\n4\n5\n6\n' })
    expect(report.remarks.join()).toContain('merged beneath')
    const [backup = ''] = report.backups
    const store = `--git-dir=${join(repo.dir, '.git/galley/store.git')}`
    expect(backup).toMatch(/^refs\/galley\/backup\/gtest00000\/\d+-[0-9a-f]+$/)
    expect(repo.git(store, 'show', `${backup}:working/a.txt`)).toBe('1\n2\n3\nMINE\n5\nSTAGED')
    expect(repo.git(store, 'show', `${backup}:index/a.txt`)).toBe('1\n2\n3\n4\n5\nSTAGED')
    expect(repo.git(store, 'show', `${backup}:merged/a.txt`)).toBe('ONE\n2\n3\nMINE\n5\nSTAGED')
    expect(repo.git('for-each-ref').replace(/^[0-9a-f]+/gm, '')).toBe(refs.replace(/^[0-9a-f]+/gm, ''))
    // The store keeps them by itself, whatever the user's own collection drops.
    expect(repo.git(store, '-c', 'core.bare=true', 'rev-list', '--objects', backup)).toContain('index/a.txt')
  })

  test("conflicts name the lines of the user's file", async () => {
    await using repo = makeRepo({ files: { 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n' } })
    repo.write('a.txt', 'zero\n1\n2\n3\n4\n5\nMINE\n7\n8\n')
    const landing = land(repo, { 'a.txt': '1\n2\n3\n4\n5\nSIX\n7\n8\n' })
    await expect(landing).rejects.toMatchObject({
      code: 'overlaps-uncommitted',
      message: 'a.txt has uncommitted changes at lines that the change touches: line 7',
      data: { paths: [{ path: 'a.txt', lines: [{ from: 7, to: 7 }] }] },
    })
  })
})

describe('a preflight', () => {
  test('refuses what a landing would refuse, and changes nothing', async () => {
    await using repo = makeRepo({ files: FILES })
    repo.write('a.txt', 'mine\n')
    const request = await stageChange(repo, { 'a.txt': 'A\n' })
    const before = repo.snapshot()
    expect(await refusalOf(preflight(request))).toBe('overlaps-uncommitted')
    const fine = await stageChange(repo, { 'gone.txt': null })
    await preflight(fine)
    expect(repo.snapshot()).toEqual(before)
    expect(readdirSync(join(request.galleyDir, 'tmp'))).toEqual([])
  })
})

describe('dangerous paths', () => {
  test.each(['.git/hooks/x', 'sub/.GIT/x', '../x', 'a//b', 'git~1/x', '.git\u200c/x'])(
    '%s is never written',
    async (path) => {
      await using repo = makeRepo({ files: FILES })
      const request = await stageChange(repo, { 'fine.txt': 'x\n' })
      const manifest = request.manifest.map((t) => ({ ...t, path }))
      const before = repo.snapshot()
      expect(await refusalOf(landCommit({ ...request, manifest }))).toBe('path-invalid')
      expect(repo.snapshot()).toEqual(before)
    },
  )
})
