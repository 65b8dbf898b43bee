import { expect, test } from 'vitest'
import { run } from '../../src/flow/run/run.ts'
import { openWorld } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function openFor(repo: TestRepo) {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

test('a tree has the user’s sparse cone; what is made outside of it is in the change, and a check in a full tree sees all', async () => {
  const check = { name: 'sees', run: 'grep -q new out/new.txt && test -e out/c.txt', tree: 'full' }
  const policy = JSON.stringify({ checks: [check] })
  using repo = makeRepo({
    files: { '.galley.json': policy, 'in/a.txt': 'a\n', 'out/c.txt': 'c\n', 'out/d.txt': 'd\n' },
  })
  repo.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'in')
  await using open = await openFor(repo)
  const script = `test ! -e out && test -z "$(git status --porcelain)" && git rm -q --sparse out/d.txt &&
    mkdir out && echo new > out/new.txt`
  const { exitCode, changes } = await run(open.world, { command: ['sh', '-c', script] })
  expect(exitCode).toBe(0)
  expect(changes.flatMap((c) => c.files.map((f) => f.path))).toEqual(['out/d.txt', 'out/new.txt'])
  expect(changes.flatMap((c) => c.checks.map((found) => found.outcome))).toEqual(['passed'])
})
