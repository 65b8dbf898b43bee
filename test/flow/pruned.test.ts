import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture/capture.ts'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { land } from '../../src/flow/land/land.ts'
import { propose } from '../../src/flow/propose.ts'
import { readPairs } from '../../src/flow/show.ts'
import { undo } from '../../src/flow/undo/undo.ts'
import type { World } from '../../src/flow/world.ts'
import { changeId } from '../../src/model/ids.ts'
import { readChange } from '../../src/store/change-log.ts'
import { repackWhenDue } from '../../src/store/repack.ts'
import { revisionObjects } from '../../src/store/revision-objects.ts'
import { batch } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { landNew, openFor, stage, storeOf, write } from './gc-world.ts'

/** Ids that the store would miss if the user's repository were empty. */
function missingAlone(repo: TestRepo, ids: Iterable<string>): readonly string[] {
  const alone = join(repo.home, 'alone.git')
  rmSync(alone, { recursive: true, force: true })
  cpSync(storeOf(repo), alone, { recursive: true })
  rmSync(join(alone, 'objects/info/alternates'))
  const input = [...ids].map((id) => `${id}\n`).join('')
  const args = ['--git-dir', alone, 'cat-file', '--batch-check']
  const said = execFileSync('git', args, { env: repo.env, input, encoding: 'utf8' })
  return said.split('\n').filter((line) => line.endsWith(' missing'))
}

async function neededFor(world: World, id: string): Promise<ReadonlySet<string>> {
  const reader = await world.reader()
  const { change } = await readChange(await world.store(), reader, changeId(id))
  const all = await Promise.all(change.revisions.map((revision) => revisionObjects(reader, revision)))
  return new Set(all.flatMap((ids) => [...ids]))
}

/** What a user's git does by itself after some weeks. */
function prune(repo: TestRepo): void {
  repo.git('reflog', 'expire', '--expire=now', '--all')
  repo.git('gc', '-q', '--prune=now')
}

const DAY_OF_WORK = 'a day of work\n'

interface Kind {
  readonly name: string
  /** Makes the change and gives its id; the user's repository holds all of its bytes. */
  readonly make: (repo: TestRepo, world: World) => Promise<string>
  /** The user clears away what the change holds. */
  readonly clear: (repo: TestRepo) => void
}

const stagedWork = (repo: TestRepo) => {
  repo.write('deep/er/new.txt', DAY_OF_WORK)
  repo.git('add', '.')
}

const kinds: readonly Kind[] = [
  {
    name: 'a capture of what is staged',
    make: async (repo, world) => {
      stagedWork(repo)
      return (await capture(world, { staged: true })).change.id
    },
    clear: (repo) => repo.git('reset', '-q', '--hard'),
  },
  {
    name: 'a capture by name of what was committed, packed, and taken back',
    make: async (repo, world) => {
      stagedWork(repo)
      repo.git('commit', '-q', '-m', 'try')
      repo.git('gc', '-q')
      repo.git('reset', '-q', 'HEAD~1')
      return (await capture(world, { paths: ['deep'] })).change.id
    },
    clear: (repo) => rmSync(join(repo.dir, 'deep/er/new.txt')),
  },
  {
    name: 'an edit whose result the user had packed',
    make: async (repo, world) => {
      stagedWork(repo)
      repo.git('commit', '-q', '-m', 'try')
      repo.git('gc', '-q')
      repo.git('reset', '-q', '--hard', 'HEAD~1')
      return (await stage(world, [write('deep/er/new.txt', DAY_OF_WORK)])).id
    },
    clear: () => undefined,
  },
  {
    name: 'a change on a commit that was amended',
    make: async (repo, world) => {
      repo.write('other.txt', 'o\n')
      repo.commit('second')
      return (await stage(world, [write('deep/er/new.txt', DAY_OF_WORK), { op: 'delete', path: 'a.txt' }])).id
    },
    clear: (repo) => repo.git('commit', '-q', '--amend', '-m', 'second, better'),
  },
  {
    name: 'the upper one of two stacked changes',
    make: async (_, world) => {
      const below = await stage(world, [write('below.txt', 'b\n')])
      const { id } = await stage(world, [write('deep/er/new.txt', DAY_OF_WORK)], { base: below.id })
      await approve(world, { id: below.id, via: 'cli' })
      await land(world, { id: below.id })
      return id
    },
    clear: (repo) => repo.git('commit', '-q', '--amend', '-m', 'below, better'),
  },
  {
    name: 'an undo',
    make: async (repo, world) => {
      repo.write('deep/er/new.txt', DAY_OF_WORK)
      repo.commit('work')
      const { id } = await landNew(world, [{ op: 'delete', path: 'deep/er/new.txt' }])
      return (await undo(world, { target: id })).change.id
    },
    clear: (repo) => repo.git('commit', '-q', '--amend', '-m', 'removed, in other words'),
  },
  {
    name: 'a revision that a check made',
    make: async (repo, world) => {
      const run = ['cp', 'done.txt', 'new.txt']
      repo.write('done.txt', DAY_OF_WORK)
      repo.write('.galley.json', JSON.stringify({ checks: [{ name: 'format', run }] }))
      repo.commit('policy')
      return (await stage(world, [write('new.txt', 'draft\n')])).id
    },
    clear: (repo) => repo.git('commit', '-q', '--amend', '-m', 'policy, better'),
  },
]

describe("whatever the user's git prunes, there stays in full, is shown and lands", () => {
  test.each(kinds)('$name', async ({ make, clear }) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'deep/er/old.txt': 'o\n' } })
    let id: string
    {
      await using open = await openFor(repo)
      id = await make(repo, open.world)
      expect(missingAlone(repo, await neededFor(open.world, id))).toEqual([])
      await collectGarbage(open.world, { dryRun: false })
      expect(missingAlone(repo, await neededFor(open.world, id))).toEqual([])
    }
    clear(repo)
    prune(repo)
    await using later = await openFor(repo)
    const { world } = later
    await collectGarbage(world, { dryRun: false })
    const texts = (await readPairs(world, id)).map(({ after }) => Buffer.from(after?.bytes ?? '').toString())
    expect(texts).toContain(DAY_OF_WORK)
    await approve(world, { id, via: 'cli' })
    await land(world, { id })
    const paths = repo
      .git('ls-files')
      .split('\n')
      .filter((path) => path.endsWith('new.txt'))
    expect(paths.map((path) => repo.read(path))).toEqual([DAY_OF_WORK])
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
  })
})

test('the work that a landing took along is in its backup, however the store is packed and the user prunes', async () => {
  using repo = makeRepo({ files: { 'a.txt': '1\n2\n3\n' } })
  const mine = 'a day of work\n2\n3\n'
  repo.write('a.txt', mine)
  repo.git('add', 'a.txt')
  repo.git('gc', '-q')
  const blob = repo.git('hash-object', 'a.txt')
  await using open = await openFor(repo)
  const { world } = open
  const edit = { op: 'replace', path: 'a.txt', old: 'a day of work', new: 'of the agent' }
  const taking = { batch: Buffer.from(JSON.stringify(batch([edit]))), includeUncommitted: true }
  const { id } = (await propose(world, taking)).change
  await approve(world, { id, via: 'terminal' })
  await land(world, { id })
  expect(missingAlone(repo, [blob])).toEqual([])
  await collectGarbage(world, { dryRun: false })
  prune(repo)
  expect(missingAlone(repo, [blob])).toEqual([])
})

test('many packs are rolled up with all that they hold, whether or not the user has it, and nothing twice', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n' } })
  await using open = await openFor(repo)
  const { world } = open
  const ids: string[] = []
  for (let n = 0; n < 41; n++)
    ids.push(
      (await stage(world, [write(`d/f${n}.txt`, `${n}\n`), write('d/b.txt', `${n}\n`)], {}, 'later')).id,
    )
  const store = await world.store()
  await repackWhenDue(store, world.clock)
  const counts = () => repo.git('--git-dir', storeOf(repo), 'count-objects', '-v')
  expect(counts()).toMatch(/^count: \d\b/)
  expect(counts()).toContain('prune-packable: 0')
  for (const id of ids) expect(missingAlone(repo, await neededFor(world, id))).toEqual([])
})

test('what the store has is not written again: a second change on the same base adds what it changes alone', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'd/c.txt': 'c\n' } })
  repo.git('gc', '-q')
  await using open = await openFor(repo)
  const loose = () =>
    Number(/^count: (\d+)/.exec(repo.git('--git-dir', storeOf(repo), 'count-objects', '-v'))?.[1])
  await stage(open.world, [write('d/b.txt', 'B\n')], {}, 'later')
  // The base, its root, its directory and the old file.
  expect(loose()).toBe(4)
  await stage(open.world, [write('d/c.txt', 'C\n')], {}, 'later')
  expect(loose()).toBe(5)
})
