import { describe, expect, test } from 'vitest'
import { plainIdentity, readConfig } from '../../src/git/config.ts'
import { hooksPath } from '../../src/git/hooks-path.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { headOf } from '../../src/git/refs.ts'
import { makeRepo } from '../helpers/repo.ts'

const config = (...pairs: readonly (readonly [string, string])[]) => new Map(pairs)

describe('who the user is, without asking git', () => {
  test.each([
    ['user.*', {}, config(['user.name', 'Ann O’Neil'], ['user.email', 'a@b.c']), 'Ann O’Neil <a@b.c>'],
    [
      'committer.* goes before',
      {},
      config(['user.name', 'A'], ['user.email', 'a@b'], ['committer.name', 'C']),
      'C <a@b>',
    ],
    [
      'the environment goes before all',
      { GIT_COMMITTER_NAME: 'E', GIT_COMMITTER_EMAIL: 'e@e' },
      config(['user.name', 'A'], ['user.email', 'a@b']),
      'E <e@e>',
    ],
    ['a missing part is git’s to find', {}, config(['user.name', 'A']), null],
    [
      'an empty variable is git’s to refuse',
      { GIT_COMMITTER_NAME: '' },
      config(['user.name', 'A'], ['user.email', 'a@b']),
      null,
    ],
    ['what git cuts off is cut by git', {}, config(['user.name', 'A. B.'], ['user.email', 'a@b']), null],
    ['an angle bracket goes through git', {}, config(['user.name', 'A <x> B'], ['user.email', 'a@b']), null],
    [
      'what is not UTF-8 goes through git',
      {},
      config(['user.name', 'A\ufffdB'], ['user.email', 'a@b']),
      null,
    ],
  ])('%s', (_, env, values, expected) => {
    const who = plainIdentity(env, values)
    expect(who === null ? null : `${who.name} <${who.email}>`).toBe(expected)
  })
})

test('the configuration is read anew when a file that it came from, or could come from, has changed', async () => {
  using repo = makeRepo({ files: { a: 'a\n' } })
  repo.git('config', 'include.path', '../extra')
  repo.git('config', 'includeIf.onbranch:other.path', '../other')
  repo.write('other', '[x]\n\ty = other\n')
  const { door } = await openRepository(repo.dir, repo.env)
  const value = async () => (await readConfig(door)).get('x.y')
  expect(await value()).toBe(undefined)
  repo.git('config', 'x.y', 'local')
  expect(await value()).toBe('local')
  repo.git('config', '--unset', 'x.y')
  repo.git('config', '--global', 'x.y', 'global')
  expect(await value()).toBe('global')
  repo.write('extra', '[x]\n\ty = extra\n')
  expect(await value()).toBe('extra')
  repo.git('switch', '-q', '-c', 'other')
  expect(await value()).toBe('other')
})

test.each([
  ['hooks', '/hooks'],
  ['/elsewhere/hooks', '/elsewhere/hooks'],
  ['~/hooks', '/hooks'],
])('core.hooksPath %s leads where git says', async (set, end) => {
  using repo = makeRepo({ files: { a: 'a\n' } })
  repo.git('config', 'core.hooksPath', set)
  const repository = await openRepository(repo.dir, repo.env)
  const found = await hooksPath(repository)
  expect(found).toEqual({
    directory: repo.git('rev-parse', '--path-format=absolute', '--git-path', 'hooks'),
    scope: 'local',
  })
  expect(found.directory).toContain(end)
})

test('HEAD is told as git tells it: born, unborn, detached, and beside a branch that is itself called HEAD', async () => {
  using repo = makeRepo({})
  const { door } = await openRepository(repo.dir, repo.env)
  expect(await headOf(door)).toEqual({ branch: 'refs/heads/main', tip: null })
  repo.write('a', 'a\n')
  const tip = repo.commit('one')
  expect(await headOf(door)).toEqual({ branch: 'refs/heads/main', tip })
  repo.git('update-ref', 'refs/heads/HEAD', 'HEAD')
  expect(await headOf(door)).toEqual({ branch: 'refs/heads/main', tip })
  repo.git('update-ref', '-d', 'refs/heads/HEAD')
  repo.git('checkout', '-q', '--detach')
  expect(await headOf(door)).toEqual({ branch: null, tip })
})
