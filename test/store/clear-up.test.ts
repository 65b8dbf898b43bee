import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRepository } from '../../src/git/open-repository.ts'
import { clearUpAfterKilled } from '../../src/store/clear-up.ts'
import { scratchHome } from '../../src/store/scratch-home.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { openGalley } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

/** Clears up after one that was killed; `meanwhile` is done while it is asked who is at work. */
async function clearUp(repo: ReturnType<typeof makeRepo>, meanwhile: () => void = () => undefined) {
  const repository = await openRepository(repo.dir, repo.env)
  let asked = 0
  const others = async () => {
    if (++asked === 2) meanwhile()
    return { alive: 0, unknown: 0, dead: ['x'], mayHoldLocks: true }
  }
  const nothing = async () => undefined
  const atWork = {
    others,
    renew: nothing,
    markUnlocked: nothing,
    forget: () => undefined,
    end: async () => undefined,
  }
  await clearUpAfterKilled(repository, join(repo.dir, '.git/galley'), atWork, systemClock)
}

function register(repo: ReturnType<typeof makeRepo>, name: string, head: string): string {
  const registration = join(repo.dir, '.git/galley/store.git/worktrees', name)
  mkdirSync(registration, { recursive: true })
  writeFileSync(join(registration, 'HEAD'), head)
  return registration
}

const HALF = `${'0'.repeat(40)}\n`

test('a tree that another one begins to make meanwhile stays', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  await using galley = await openGalley(repo)
  await galley.read({ path: 'a.txt', session: 's' })
  const left = register(repo, 'left', HALF)
  let begun = ''
  await clearUp(repo, () => {
    begun = register(repo, 'begun', HALF)
  })
  expect([left, begun].map((path) => existsSync(path))).toEqual([false, true])
})

test.each(['', HALF])(
  'a tree with files in it is not half made, though its HEAD is lost: %j',
  async (head) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    await galley.read({ path: 'a.txt', session: 's' })
    const registration = register(repo, 'opened', head)
    const path = join(scratchHome(await openRepository(repo.dir, repo.env)), 'opened')
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, 'work.txt'), 'work\n')
    await clearUp(repo)
    expect([registration, join(path, 'work.txt')].map((file) => existsSync(file))).toEqual([true, true])
  },
)
