import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { examineTrees } from '../../src/flow/doctor/doctor-store.ts'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { land } from '../../src/flow/land/land.ts'
import { openTree } from '../../src/flow/open-tree.ts'
import { run } from '../../src/flow/run/run.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { scratchHome } from '../../src/store/scratch-home.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { stage, write } from './gc-world.ts'

const CHECKED = {
  files: { 'a.txt': 'a\n', '.galley.json': '{"checks":[{"name":"x","run":"true","tree":"touched"}]}' },
}

async function openWith(repo: TestRepo, cache: string, dir = repo.dir) {
  const env = { ...repo.env, XDG_CACHE_HOME: cache }
  const world = await openWorld(dir, { env, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

const gc = (world: World) => collectGarbage(world, { dryRun: false })

test.each([
  ['in its place', 'no'],
  ['above it', 'no/deeper/cache'],
])(
  'a cache folder that cannot be made, as a file stands %s: named in a refusal, and what was staged goes on later',
  async (_, place) => {
    using repo = makeRepo(CHECKED)
    writeFileSync(join(repo.home, 'no'), 'a file')
    const cache = join(repo.home, place)
    let id = ''
    {
      await using blocked = await openWith(repo, cache)
      const { world } = blocked
      id = (await stage(world, [write('b.txt', 'b\n')], {}, 'later')).id
      const verbs = [
        () => openTree(world, id),
        () => run(world, { command: ['true'] }),
        () => stage(world, [write('c.txt', 'c\n')]),
      ]
      for (const verb of verbs) {
        const { code, message, hint } = await refusal(verb)
        expect(code).toBe('io-error')
        expect(message).toContain(cache)
        expect(hint).toMatch(/XDG_CACHE_HOME|Mend that/)
      }
      await gc(world)
    }
    await using mended = await openWith(repo, join(repo.home, 'cache'))
    expect(existsSync((await openTree(mended.world, id)).path)).toBe(true)
  },
)

test('a cache folder in the work tree is ignored by git, and by what galley takes from there', async () => {
  using repo = makeRepo(CHECKED)
  await using open = await openWith(repo, join(repo.dir, '.cache'))
  const { world } = open
  const { id } = await stage(world, [write('b.txt', 'b\n')])
  await openTree(world, id)
  const outcome = await run(world, { command: ['sh', '-c', 'echo c > c.txt'] })
  expect(outcome.changes.map(({ files }) => files.map((file) => file.path))).toEqual([['c.txt']])
  repo.git('add', '-A')
  expect(repo.git('status', '--porcelain')).toBe('')
  expect(existsSync(join(scratchHome(world.repository), '..', '.gitignore'))).toBe(true)
})

test('a cache folder outside gets no rules of git', async () => {
  using repo = makeRepo(CHECKED)
  await using open = await openWith(repo, join(repo.home, 'cache'))
  await stage(open.world, [write('b.txt', 'b\n')])
  expect(readdirSync(join(repo.home, 'cache/galley'))).not.toContain('.gitignore')
})

test('folders of a repository that was moved, or is gone, are reclaimed by the next gc, but for trees that hold work: those are named', async () => {
  using repo = makeRepo(CHECKED)
  const cache = join(repo.home, 'cache')
  const homes = () => readdirSync(join(cache, 'galley'))
  let tree = ''
  let id = ''
  {
    await using open = await openWith(repo, cache)
    id = (await stage(open.world, [write('b.txt', 'b\n')])).id
    tree = (await openTree(open.world, id)).path
    writeFileSync(join(tree, 'notes.txt'), 'a day of work')
  }
  const moved = `${repo.dir}-moved`
  renameSync(repo.dir, moved)
  {
    await using open = await openWith(repo, cache, moved)
    await approve(open.world, { id, via: 'cli' })
    await land(open.world, { id })
    const { kept } = await gc(open.world)
    expect(kept).toMatchObject([{ what: dirname(tree) }])
    expect(kept[0]?.reason).toContain('notes.txt')
    const findings = await examineTrees(open.world)
    expect(JSON.stringify(findings)).toContain(dirname(tree))
    rmSync(join(tree, 'notes.txt'))
    expect((await gc(open.world)).removed).toContain(dirname(tree))
    expect(homes().filter((name) => name === dirname(tree).split('/').at(-1))).toEqual([])
    await stage(open.world, [write('d.txt', 'd\n')])
  }
  const [lost] = homes()
  rmSync(moved, { recursive: true })
  using other = makeRepo(CHECKED)
  await using living = await openWith(other, cache)
  await stage(living.world, [write('b.txt', 'b\n')])
  expect((await gc(living.world)).removed).toContain(join(cache, 'galley', lost ?? ''))
  expect(homes()).toEqual([scratchHome(living.world.repository).split('/').at(-1)])
})
