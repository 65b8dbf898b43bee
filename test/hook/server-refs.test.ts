import { beforeAll, expect, inject, test } from 'vitest'
import { approveChange, guardMain } from '../flow/verify-world.ts'
import { cli } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { asPerson, galley, makeServer } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

test('a server takes no ref that would bar a folder of galley’s', () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
  using server = makeServer(repo)
  for (const ref of ['refs/galley', 'refs/galley/log', 'refs/galley/log/main', 'refs/Galley/x']) {
    const { code, out } = asPerson(repo, 'push', server.dir, `main:${ref}`)
    expect([ref, code]).toEqual([ref, 1])
    expect(out).toMatch(/remote: galley: path-invalid: refs\//)
  }
  expect(server.git('for-each-ref', 'refs/galley', 'refs/Galley')).toBe('')
})

test('where one is all the same, push names it, and the hint helps', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
  using server = makeServer(repo)
  server.git('update-ref', 'refs/galley/log', 'main')
  const { id } = await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
  const { code, json } = cli(repo, ['push', 'origin', '--json'])
  expect([code, json.error.code, json.error.data.id]).toEqual([1, 'exists', id])
  expect(json.error.hint).toContain('git push origin :refs/galley/log')
  expect(asPerson(repo, 'push', '--quiet', 'origin', ':refs/galley/log').code).toBe(0)
  galley(repo, 'push', 'origin')
})

test('one beneath a name bars its own change alone', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
  using server = makeServer(repo)
  const { id } = await approveChange(repo, 'One', { 'a.txt': 'last\n' })
  server.git('update-ref', `refs/galley/log/${id}/x`, 'main')
  const other = await approveChange(repo, 'Other', { 'a.txt': 'other\n' })
  const { json } = cli(repo, ['push', 'origin', '--json'])
  expect(json.error.message).toContain(
    `${id} was not pushed to origin: the remote has a ref refs/galley/log/${id}/x`,
  )
  expect(server.git('rev-parse', `refs/galley/log/${other.id}`)).not.toBe('')
})

test('a push of too many commits is refused, and its parts are taken; the owner of the server may allow more', () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
  using server = makeServer(repo)
  server.git('config', 'galley.maxPushedCommits', '3')
  for (let n = 1; n <= 5; n++) repo.commit(`commit ${n}`)
  const before = server.git('for-each-ref')
  const refused = asPerson(repo, 'push', 'origin', 'main')
  expect([refused.code, server.git('for-each-ref')]).toEqual([1, before])
  expect(refused.out).toContain('more than 3 commits')
  const words = refused.out.replace(/\s*remote: */g, ' ')
  const [, part = ''] = /git push (origin [0-9a-f]{12}:refs\/heads\/main)/.exec(words) ?? []
  expect(asPerson(repo, 'push', '--quiet', ...part.split(' ')).code).toBe(0)
  expect(repo.git('rev-list', '--count', 'origin/main..main')).toBe('2')
  expect(asPerson(repo, 'push', '--quiet', 'origin', 'main').code).toBe(0)
  for (let n = 1; n <= 5; n++) repo.commit(`commit ${n}`)
  server.git('config', 'galley.maxPushedCommits', '5')
  expect(asPerson(repo, 'push', '--quiet', 'origin', 'main').code).toBe(0)
})
