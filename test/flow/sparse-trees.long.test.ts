import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { land } from '../../src/flow/land/land.ts'
import { openTree } from '../../src/flow/open-tree.ts'
import { run } from '../../src/flow/run/run.ts'
import type { RunOutcome, RunRequest } from '../../src/flow/run/run-work.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { scratchHome } from '../../src/store/scratch-home.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function openFor(repo: TestRepo) {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

const shell = (world: World, script: string, more: Partial<RunRequest> = {}): Promise<RunOutcome> =>
  run(world, { command: ['sh', '-ec', script], ...more })

const manifestOf = ({ changes }: RunOutcome) =>
  changes.flatMap((change) => change.files.map((f) => [f.path, f.newMode === '000000' ? 'gone' : 'there']))

const FILES = {
  'root.txt': 'r\n',
  'in/a.txt': 'a\n',
  'in/deep/b.txt': 'b\n',
  'out/c.txt': 'c\n',
  'out/d.txt': 'd\n',
}

/** `out/` is left out. */
function makeSparse(how: readonly string[], policy?: string): TestRepo {
  const repo = makeRepo({ files: policy === undefined ? FILES : { ...FILES, '.galley.json': policy } })
  repo.git('sparse-checkout', 'set', ...how)
  return repo
}

const KINDS = [
  ['a cone', ['--cone', '--no-sparse-index', 'in']],
  ['a cone with a sparse index', ['--cone', '--sparse-index', 'in']],
  ['patterns', ['--no-cone', '/*', '!/out/']],
] as const

describe.each(KINDS)('a tree where the user has %s', (_, how) => {
  test('holds what theirs does, and what is made outside of it is in the change and lands', async () => {
    using repo = makeSparse(how)
    await using open = await openFor(repo)
    const { world } = open
    const outcome = await shell(
      world,
      `test ! -e out; test -f in/deep/b.txt; test -f root.txt; test -z "$(git status --porcelain)"
       test "$(git ls-files -t out/c.txt)" = 'S out/c.txt'; git sparse-checkout list >/dev/null
       mkdir out; echo new > out/new.txt; echo more >> in/a.txt`,
    )
    expect(outcome.exitCode).toBe(0)
    expect(manifestOf(outcome)).toEqual([
      ['in/a.txt', 'there'],
      ['out/new.txt', 'there'],
    ])
    const id = outcome.changes[0]?.id ?? ''
    await approve(world, { id, via: 'cli' })
    await land(world, { id })
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD', 'out')).toBe('out/c.txt\nout/d.txt\nout/new.txt')
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(existsSync(join(repo.dir, 'out/c.txt'))).toBe(false)
    // The next run in the same tree finds nothing of this one outside.
    expect((await shell(world, 'test ! -e out; test -z "$(git status --porcelain)"')).exitCode).toBe(0)
  })

  test('merges and removes what does not stand in it: the index there tells', async () => {
    using repo = makeSparse(how)
    repo.git('checkout', '-q', '-b', 'side')
    repo.git('update-index', '--cacheinfo', `100644,${repo.git('hash-object', '-w', 'root.txt')},out/c.txt`)
    repo.git('commit', '-q', '-m', 'side')
    repo.git('checkout', '-q', 'main')
    await using open = await openFor(repo)
    const picked = await shell(open.world, 'git cherry-pick side; test ! -e out')
    expect([picked.exitCode, manifestOf(picked)]).toEqual([0, [['out/c.txt', 'there']]])
    const removed = await shell(open.world, 'git rm -q --sparse out/d.txt; git commit -qm gone')
    expect([removed.exitCode, manifestOf(removed)]).toEqual([0, [['out/d.txt', 'gone']]])
    const opened = await shell(open.world, 'git sparse-checkout disable; rm out/c.txt; echo d2 > out/d.txt')
    expect([opened.exitCode, manifestOf(opened)]).toEqual([
      0,
      [
        ['out/c.txt', 'gone'],
        ['out/d.txt', 'there'],
      ],
    ])
    const broken = await shell(open.world, 'rm .git/index; echo x > in/a.txt')
    expect(manifestOf(broken)).toEqual([['in/a.txt', 'there']])
    expect((await shell(open.world, 'test ! -e out; test -f in/a.txt')).exitCode).toBe(0)
  })

  test('shows a check in a full tree all, and whoever opens it the files that the change touches outside', async () => {
    const sees = 'test -f out/c.txt && test -e out/d.txt && grep -q two out/c.txt'
    const mends = 'grep -q mended out/c.txt || echo mended >> out/c.txt'
    const policy = JSON.stringify({
      checks: [
        { name: 'sees', run: sees, tree: 'full' },
        { name: 'mends', run: mends, tree: 'full' },
      ],
    })
    using repo = makeSparse(how, policy)
    await using open = await openFor(repo)
    const { world } = open
    const outcome = await shell(world, 'mkdir out; echo two > out/c.txt')
    const [change] = outcome.changes
    expect(change?.checks.map((c) => c.outcome)).toEqual(['passed', 'passed'])
    const { path } = await openTree(world, change?.id ?? '')
    expect(readFileSync(join(path, 'out/c.txt'), 'utf8')).toBe('two\nmended\n')
    expect(readdirSync(join(path, 'out'))).toEqual(['c.txt'])
  })
})

test('a tree of the pool follows the user’s sparse rules when those change', async () => {
  using repo = makeRepo({ files: FILES })
  await using open = await openFor(repo)
  const listed = async () => {
    const { world } = open
    await shell(world, 'true')
    const tree = join(scratchHome(world.repository), 'pool-1.idle')
    return readdirSync(tree, { recursive: true, withFileTypes: true })
      .flatMap((f) => (f.isFile() ? [f.name] : []))
      .sort()
  }
  const all = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'root.txt']
  expect(await listed()).toEqual(all)
  repo.git('sparse-checkout', 'set', '--cone', 'in')
  expect(await listed()).toEqual(['a.txt', 'b.txt', 'root.txt'])
  repo.git('sparse-checkout', 'set', '--cone', 'out')
  expect(await listed()).toEqual(['c.txt', 'd.txt', 'root.txt'])
  repo.git('sparse-checkout', 'disable')
  expect(await listed()).toEqual(all)
})
