import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorld } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { ownIdentity } from '../../src/sys/process-identity.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const edit = (to: string) => batch([{ op: 'replace', path: 'a.txt', old: 'a', new: to }])
const place = (repo: TestRepo) => join(repo.dir, '.git/galley/at-work')
const those = (repo: TestRepo) => readdirSync(place(repo))

test('one that works for days says so again with each verb, also where its word was taken away', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using galley = await openGalley(repo)
  await galley.propose({ batch: edit('b') })
  const [own = ''] = those(repo)
  utimesSync(join(place(repo), own), 1, 1)
  await galley.propose({ batch: edit('c') })
  expect(statSync(join(place(repo), own)).mtimeMs).toBeGreaterThan(Date.now() - 60_000)
  rmSync(place(repo), { recursive: true })
  await galley.propose({ batch: edit('d') })
  expect(those(repo)).toEqual([own])
})

test('what is read in a session, and a preview, is work as well', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using first = await openGalley(repo)
  const { change } = await first.propose({ batch: edit('b') })
  await first.approve({ id: change.id })
  await first.land({ id: change.id })
  await using reading = await openGalley(repo)
  await reading.read({ path: 'a.txt' })
  expect(those(repo)).toHaveLength(1)
  await reading.read({ path: 'a.txt', session: 's' })
  expect(those(repo)).toHaveLength(2)
  await using looking = await openGalley(repo)
  await looking.previewUndo({ target: change.id })
  expect(those(repo)).toHaveLength(3)
})

test('beside one that stays at work, locks are looked for once after a kill', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using stays = await openGalley(repo)
  const changes = ['b', 'c', 'd'].map(async (to) => (await stays.propose({ batch: edit(to) })).change.id)
  const [first = '', second = '', third = ''] = await Promise.all(changes)
  const putLock = (id: string) =>
    writeFileSync(join(repo.dir, `.git/galley/store.git/refs/galley/log/${id}.lock`), '')
  const kill = (name: string) =>
    writeFileSync(join(place(repo), name), JSON.stringify({ ...ownIdentity(), startTime: '1' }))
  const reject = async (id: string) => {
    await using galley = await openGalley(repo)
    await galley.reject({ id, reason: 'x' })
  }
  kill('x')
  putLock(first)
  await reject(first)
  putLock(second)
  expect((await refusal(() => reject(second))).code).toBe('busy')
  kill('y')
  await reject(second)
  await stays.close()
  await reject(third)
  expect(those(repo)).toEqual([])
})

test('one that could not say so is asked again', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  mkdirSync(join(repo.dir, '.git/galley'))
  let isFull = true
  const random = (count: number) => {
    if (isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    return systemClock.random(count)
  }
  const world = await openWorld(repo.dir, { env: repo.env, clock: { ...systemClock, random } })
  await expect(world.store()).rejects.toThrow('no space')
  isFull = false
  expect((await world.store()).galleyDir).toBe(join(repo.dir, '.git/galley'))
  await world.close()
})

test('nothing is written where a link stands in the place of its folder', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  mkdirSync(join(repo.dir, '.git/theirs'))
  symlinkSync('theirs', join(repo.dir, '.git/galley'))
  await using galley = await openGalley(repo)
  const refused = await refusal(() => galley.read({ path: 'a.txt', session: 's' }))
  expect(refused.code).toBe('unsupported-repository')
  expect(readdirSync(join(repo.dir, '.git/theirs'))).toEqual([])
})
