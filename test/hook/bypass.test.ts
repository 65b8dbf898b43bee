import * as fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { copyOf, mainOf, makeGuarded, ONE_OF_EACH_KIND, rows, testWays } from '../helpers/bypass-ways.ts'
import { asPerson, galley, makeServer } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

testWays(rows.filter(({ name }) => ONE_OF_EACH_KIND.includes(name)))

describe('push', () => {
  test('is stopped by pre-push, and with --no-verify by the server alone', async () => {
    using repo = copyOf('plain')
    using server = makeServer(repo)
    galley(repo, 'hooks', 'install')
    const before = mainOf(server)
    const polite = asPerson(repo, 'push', 'origin', 'side:main')
    expect(polite.code).not.toBe(0)
    expect(polite.out).toMatch(/^galley: unapproved: pushing to main/m)
    const forced = asPerson(repo, 'push', '--no-verify', 'origin', 'side:main')
    expect(forced.out).toMatch(/remote: galley: unapproved: the push to main/)
    expect(mainOf(server)).toBe(before)
    // To a branch that nothing guards it may go.
    expect(asPerson(repo, 'push', 'origin', 'side').code).toBe(0)
  })

  test('from a branch that nothing guards does not carry it into a guarded one', () => {
    using repo = copyOf('plain')
    using server = makeServer(repo)
    expect(asPerson(repo, 'push', 'origin', 'side').code).toBe(0)
    expect(asPerson(repo, 'push', 'origin', 'side:main').code).not.toBe(0)
    expect(asPerson(repo, 'push', 'origin', ':main').code).not.toBe(0)
    expect(asPerson(repo, 'push', '--force', 'origin', 'main~1:main').code).not.toBe(0)
    expect(mainOf(server)).toBe(mainOf(repo))
  })

  test('the update hook says no too', () => {
    using repo = copyOf('plain')
    using server = makeServer(repo, ['--update'])
    server.git('config', 'core.hooksPath', 'only-update')
    fs.mkdirSync(join(server.dir, 'only-update'))
    fs.copyFileSync(join(server.dir, 'hooks/update'), join(server.dir, 'only-update/update'))
    const pushed = asPerson(repo, 'push', 'origin', 'side:main')
    expect(pushed.out).toMatch(/remote: galley: unapproved/)
    expect(pushed.code).not.toBe(0)
  })
})

describe('symbolic-ref', () => {
  test('moves no commit into main, and what comes after is judged as main', () => {
    using repo = makeGuarded()
    galley(repo, 'hooks', 'install')
    repo.git('checkout', '--quiet', 'side')
    const before = mainOf(repo)
    asPerson(repo, 'symbolic-ref', 'HEAD', 'refs/heads/main')
    expect(mainOf(repo)).toBe(before)
    expect(asPerson(repo, 'commit', '-m', 'Evil').out).toMatch(/galley: unapproved/)
    expect(mainOf(repo)).toBe(before)
  })
})

describe('what moves no branch passes every layer:', () => {
  test.each([
    ['tag', ['tag', 'v1', 'side']],
    ['an annotated tag', ['tag', '-a', '-m', 'Version', 'v1', 'side']],
    ['notes', ['notes', 'add', '-m', 'Note', 'side']],
    ['stash', ['stash', 'push', '--quiet']],
  ])('%s', (_, args) => {
    using repo = copyOf('transaction', 'hooks', 'install', '--reference-transaction')
    const before = mainOf(repo)
    repo.write('a.txt', 'uncommitted\n')
    expect(asPerson(repo, ...args)).toEqual({ code: 0, out: '' })
    expect(repo.git('for-each-ref', '--format=%(refname)', 'refs/tags', 'refs/notes', 'refs/stash')).not.toBe(
      '',
    )
    expect(mainOf(repo)).toBe(before)
  })
})
