import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { land, leftovers, refusalOf } from '../landing/stage-change.ts'

/** The user's hook, which ends the git that called it while that holds the locks of a ref. */
function addKiller(repo: TestRepo): string {
  const hook = join(repo.dir, repo.git('rev-parse', '--git-path', 'hooks/reference-transaction'))
  writeFileSync(hook, '#!/bin/sh\ncat > /dev/null\n[ "$1" = prepared ] && kill -9 "$PPID"\nexit 0\n')
  chmodSync(hook, 0o755)
  return hook
}

test('the locks of a git that was killed while it took them are gone, and the next landing lands', async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([{ op: 'append', path: 'a.txt', content: 'b\n' }]) })
  await galley.approve({ id: change.id, digest: change.digest })
  const hook = addKiller(repo)
  const before = repo.snapshot()
  expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('io-error')
  expect(leftovers(repo)).toEqual([])
  expect(repo.snapshot()).toEqual(before)
  rmSync(hook)
  await galley.land({ id: change.id })
  expect(repo.read('a.txt')).toBe('a\nb\n')
})

test("a lock on HEAD that was there before is somebody's, and stays", async () => {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([{ op: 'append', path: 'a.txt', content: 'b\n' }]) })
  await galley.approve({ id: change.id, digest: change.digest })
  repo.write('.git/HEAD.lock', '')
  expect((await refusal(() => galley.land({ id: change.id }))).code).toBe('locked')
  expect(existsSync(join(repo.dir, '.git/HEAD.lock'))).toBe(true)
})

test('the same in a bare repository, where the ref alone moves', async () => {
  await using source = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using repo = makeRepo({ bare: true })
  repo.git('fetch', '-q', source.dir, 'main:main')
  const tip = repo.git('rev-parse', 'main')
  const hook = addKiller(repo)
  const changes = { 'a.txt': 'A\n' }
  expect(await refusalOf(land(repo, changes, { ref: 'refs/heads/main', before: tip }))).toBe('io-error')
  expect(leftovers(repo)).toEqual([])
  rmSync(hook)
  await land(repo, changes, { ref: 'refs/heads/main', before: tip })
  expect(repo.git('show', 'main:a.txt')).toBe('A')
})
