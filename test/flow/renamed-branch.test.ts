import { expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture/capture.ts'
import { land } from '../../src/flow/land/land.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { openFor, stage, write } from './gc-world.ts'

interface Move {
  readonly name: string
  readonly before?: (repo: TestRepo) => void
  readonly after: (repo: TestRepo) => void
  readonly lands: string
}

const moves: readonly Move[] = [
  {
    name: 'the branch was renamed',
    after: (repo) => repo.git('branch', '-m', 'main', 'trunk'),
    lands: 'trunk',
  },
  {
    name: 'it was renamed twice, and has gone on since',
    after: (repo) => {
      repo.git('branch', '-m', 'main', 'trunk')
      repo.git('branch', '-m', 'trunk', 'release')
      repo.git('commit', '-q', '--allow-empty', '-m', 'on')
    },
    lands: 'release',
  },
  {
    name: 'it was renamed, and another one is checked out',
    after: (repo) => {
      repo.git('branch', '-m', 'main', 'trunk')
      repo.git('checkout', '-q', '-b', 'other')
    },
    lands: 'trunk',
  },
  {
    name: 'HEAD was detached, and is on its branch again',
    before: (repo) => repo.git('checkout', '-q', '--detach'),
    after: (repo) => repo.git('checkout', '-q', 'main'),
    lands: 'main',
  },
  {
    name: 'its branch was deleted, and the one checked out stands at the same commit',
    before: (repo) => repo.git('checkout', '-q', '-b', 'try'),
    after: (repo) => {
      repo.git('checkout', '-q', 'main')
      repo.git('branch', '-q', '-D', 'try')
    },
    lands: 'main',
  },
]

test.each(moves)('$name: the change lands on $lands, and says so', async ({ before, after, lands }) => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  before?.(repo)
  await using open = await openFor(repo)
  repo.write('new.txt', 'hours of work\n')
  const { change } = await capture(open.world, { paths: ['new.txt'] })
  after(repo)
  await approve(open.world, { id: change.id, via: 'cli' })
  const { landed, remarks } = await land(open.world, { id: change.id })
  expect(landed.ref).toBe(`refs/heads/${lands}`)
  expect(remarks.join()).toContain(`this is on refs/heads/${lands}`)
  expect(repo.git('show', `${lands}:new.txt`)).toBe('hours of work')
})

test('where its branch is gone and nothing tells what took its place, the hint names a way, and that lands it', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  repo.git('checkout', '-q', '-b', 'try')
  repo.write('b.txt', 'b\n')
  repo.commit('on try alone')
  await using open = await openFor(repo)
  const { world } = open
  const { id } = await stage(world, [write('new.txt', 'n\n')], {}, 'later')
  await approve(world, { id, via: 'cli' })
  expect((await refusal(() => land(world, { id, onto: 'main' }))).code).toBe('wrong-state')
  repo.git('checkout', '-q', 'main')
  repo.git('branch', '-q', '-D', 'try')
  const before = repo.snapshot()
  const { code, hint } = await refusal(() => land(world, { id }))
  expect(code).toBe('branch-moved')
  expect(hint).toContain(`galley land ${id} --onto main`)
  for (const onto of ['none', '-x', 'a..b', 'HEAD'])
    expect((await refusal(() => land(world, { id, onto }))).code).toBe('stale')
  expect(repo.snapshot()).toEqual(before)
  const { landed } = await land(world, { id, onto: 'main' })
  expect(landed.ref).toBe('refs/heads/main')
  expect(repo.git('show', 'main:new.txt')).toBe('n')
  expect(repo.tryGit('show', 'main:b.txt').code).not.toBe(0)
})
