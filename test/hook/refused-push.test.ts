import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { guardMain, landChange } from '../flow/verify-world.ts'
import { cli } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { asPerson, galley, makeServer } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

test('a commit by hand that a server refuses becomes a change, as the hint says, and is taken then', () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
  using server = makeServer(repo)
  repo.write('a.txt', 'by hand\n')
  repo.commit('By hand')
  const refused = asPerson(repo, 'push', 'origin', 'main')
  expect(refused.out).toMatch(
    /unapproved: .*\n.*a\.txt.*\n.*hint: .*`git reset --soft [0-9a-f]{12}\^`.*`galley capture --staged`/,
  )
  repo.git('reset', '--quiet', '--soft', 'HEAD~1')
  const { id } = cli(repo, ['capture', '--staged', '-m', 'By hand', '--json']).json.change
  expect(cli(repo, ['land', id, '--approve', '--json']).code).toBe(0)
  galley(repo, 'push', 'origin', '--with-branch', 'main')
  expect(server.git('rev-parse', 'main')).toBe(repo.git('rev-parse', 'main'))
})

test('a landed change whose approval the server lacks is refused, and goes through as the hint says', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
  using server = makeServer(repo)
  const { commit } = await landChange(repo, 'Two', { 'a.txt': 'two\n' })
  const refused = asPerson(repo, 'push', 'origin', 'main')
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('`galley push` takes it there')])
  galley(repo, 'push', 'origin')
  expect(asPerson(repo, 'push', '--quiet', 'origin', 'main').code).toBe(0)
  expect(server.git('rev-parse', 'main')).toBe(commit)
})

test('a server with the update hook too takes a branch together with its approvals, and no other', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
  using server = makeServer(repo, ['--update'])
  const { commit } = await landChange(repo, 'Two', { 'a.txt': 'two\n' })
  galley(repo, 'push', 'origin', '--with-branch', 'main')
  expect(server.git('rev-parse', 'main')).toBe(commit)
  repo.write('a.txt', 'by hand\n')
  repo.commit('By hand')
  expect(asPerson(repo, 'push', 'origin', 'main').out).toMatch(/galley: unapproved/)
  // git runs no hook that is not executable: then `update` has to judge.
  chmodSync(join(server.dir, 'hooks/pre-receive'), 0o644)
  expect(asPerson(repo, 'push', 'origin', 'main').out).toMatch(/galley: unapproved/)
  expect(server.git('rev-parse', 'main')).toBe(commit)
})
