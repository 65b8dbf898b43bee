import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { land } from '../../src/flow/land/land.ts'
import { openWorld } from '../../src/flow/world.ts'
import { type Clock, systemClock } from '../../src/sys/clock.ts'
import { makeClones } from '../helpers/clones.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const LINES = 'one\n2\n3\n4\nlast\n'
const EDIT = { op: 'replace', path: 'a.txt', old: 'one', new: 'ONE' }

/** Says whether the user's index is locked while a command runs. */
const ask = (repo: TestRepo): string =>
  `[ -e '${repo.dir}/.git/index.lock' ] && echo held >> '${repo.home}/ran' || echo free >> '${repo.home}/ran'`

const ran = (repo: TestRepo): string => {
  const file = join(repo.home, 'ran')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

const addHook = (repo: TestRepo): void => {
  const path = join(repo.dir, '.git/hooks/pre-commit')
  writeFileSync(path, `#!/bin/sh\n${ask(repo)}\n`)
  chmodSync(path, 0o755)
}

const addPolicy = (repo: TestRepo): void => {
  repo.write(
    '.galley.json',
    `${JSON.stringify({ checks: [{ name: 'ask', run: ask(repo), required: false }] })}\n`,
  )
}

/** Somebody commits each time that a landing gets its name: so it finds the branch moved, until there is no more to come. */
function committing(repo: TestRepo, works: readonly (() => void)[]): Clock {
  const left = [...works]
  const random = (count: number) => {
    const work = count === 6 ? left.shift() : undefined
    if (work !== undefined) {
      work()
      repo.git('add', '--all')
      repo.git('commit', '--quiet', '--no-verify', '--allow-empty', '--message', 'in between')
    }
    return systemClock.random(count)
  }
  return { ...systemClock, random }
}

async function landAmidst(repo: TestRepo, id: string, second: () => void): Promise<void> {
  const clock = committing(repo, [() => undefined, second])
  const world = await openWorld(repo.dir, { env: repo.env, clock })
  try {
    await land(world, { id })
  } finally {
    await world.close()
  }
}

async function approved(repo: TestRepo): Promise<string> {
  await using galley = await openGalley(repo)
  const { id } = (await galley.propose({ batch: batch([EDIT]) })).change
  await galley.approve({ id })
  return id
}

/** From the third try on the index is locked first. */
test.each([
  ["hooks of the team's", addHook],
  ['checks of the new tip', addPolicy],
])('the index is not locked while %s run that came in between', async (_, add) => {
  using repo = makeRepo({ files: { 'a.txt': LINES } })
  const id = await approved(repo)
  await landAmidst(repo, id, () => add(repo))
  expect(ran(repo)).toBe('free\n')
  expect(repo.read('a.txt')).toBe(LINES.replace('one', 'ONE'))
  expect(repo.git('status', '--porcelain')).toBe('')
})

test('the index is not locked while a merge is checked', async () => {
  using repo = makeRepo({ files: { 'a.txt': LINES } })
  const id = await approved(repo)
  const landing = landAmidst(repo, id, () => {
    addHook(repo)
    repo.write('a.txt', LINES.replace('last', 'LAST'))
  })
  expect(await refusal(() => landing)).toMatchObject({ code: 'not-approved', data: { revision: 2 } })
  expect(ran(repo)).toBe('free\n')
})

test('the index is not locked while the checks of a fetched change run', async () => {
  using made = makeClones(2, { files: { 'a.txt': LINES } })
  const [annRepo, benRepo] = made.clones
  if (annRepo === undefined || benRepo === undefined) throw new Error('two clones')
  await using ann = await openGalley(annRepo)
  const id = await approved(annRepo)
  await ann.push()
  await using ben = await openGalley(benRepo)
  await ben.fetch()
  await landAmidst(benRepo, id, () => addPolicy(benRepo))
  expect(ran(benRepo).split('\n')).toContain('free')
  expect(ran(benRepo)).not.toContain('held')
  expect(benRepo.read('a.txt')).toBe(LINES.replace('one', 'ONE'))
})
