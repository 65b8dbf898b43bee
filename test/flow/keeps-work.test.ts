import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { purge } from '../../src/flow/gc/purge.ts'
import { land } from '../../src/flow/land/land.ts'
import { openTree } from '../../src/flow/open-tree.ts'
import { reject } from '../../src/flow/reject.ts'
import { leftDirectory } from '../../src/store/left-work.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { inStore, landNew, openFor, stage, write } from './gc-world.ts'

/** What a person does in a tree that was opened, and the word by which it is told. */
const works: readonly (readonly [
  name: string,
  work: (tree: string, repo: TestRepo) => void,
  told: string,
])[] = [
  ['a new file', (tree) => writeFileSync(join(tree, 'notes.txt'), 'a day of work'), 'notes.txt'],
  ['an edit', (tree) => writeFileSync(join(tree, 'a.txt'), 'a day of work'), 'a.txt'],
  ['an ignored file', (tree) => writeFileSync(join(tree, 'x.log'), 'a day of work'), 'x.log'],
  [
    'a file behind a flag of the index',
    (tree, repo) => {
      repo.git('-C', tree, 'update-index', '--assume-unchanged', 'a.txt')
      writeFileSync(join(tree, 'a.txt'), 'a day of work')
    },
    'a.txt',
  ],
  [
    'a commit',
    (tree, repo) =>
      repo.git(
        '-C',
        tree,
        '-c',
        'user.name=A',
        '-c',
        'user.email=a@b',
        'commit',
        '-q',
        '--allow-empty',
        '-m',
        'mine',
      ),
    'a commit',
  ],
  [
    'a stash',
    (tree, repo) => {
      writeFileSync(join(tree, 'a.txt'), 'a day of work')
      repo.git('-C', tree, '-c', 'user.name=A', '-c', 'user.email=a@b', 'stash', '-q')
    },
    'refs/stash',
  ],
]

async function opened(repo: TestRepo) {
  const open = await openFor(repo)
  const { id } = await stage(open.world, [write('b.txt', 'b\n')], {}, 'later')
  const { path } = await openTree(open.world, id)
  return { open, world: open.world, id, path }
}

const withIgnored = () => makeRepo({ files: { 'a.txt': 'a\n', '.gitignore': '*.log\n' } })

describe.each(works)('a tree that was opened, with %s', (_, work, told) => {
  test('stays when its change lands, when it is rejected and collected, and when galley is to be purged; all by force alone', async () => {
    using repo = withIgnored()
    const { open, world, id, path } = await opened(repo)
    await using _open = open
    const rejected = await stage(world, [write('c.txt', 'c\n')], {}, 'later')
    const other = await openTree(world, rejected.id)
    for (const tree of [path, other.path]) work(tree, repo)
    await reject(world, { id: rejected.id, reason: 'no' })
    await approve(world, { id, via: 'cli' })
    const { remarks } = await land(world, { id })
    expect(remarks.join('\n')).toContain(`the opened tree ${path} stays: somebody worked in it`)
    expect(remarks.join('\n')).toContain(told)
    const { kept } = await collectGarbage(world, { dryRun: false })
    expect(kept.map(({ what }) => what).sort()).toEqual([path, other.path].sort())
    expect(kept[0]?.reason).toContain(told)
    const refused = await refusal(() => purge(world, { force: false, dryRun: false }))
    expect(refused).toMatchObject({ code: 'wrong-state' })
    expect(refused.message).toContain(path)
    expect([path, other.path].map((tree) => existsSync(tree))).toEqual([true, true])
    const forced = await collectGarbage(world, { dryRun: false, force: true })
    expect(forced.lost.join('\n')).toContain(told)
    expect([path, other.path].map((tree) => existsSync(tree))).toEqual([false, false])
    expect((await purge(world, { force: false, dryRun: false })).remarks).toEqual([])
    expect(existsSync(join(repo.dir, '.git/galley'))).toBe(false)
  })
})

test('a tree in which nobody worked goes with the landing, and opening it twice gives one path', async () => {
  using repo = withIgnored()
  const { open, world, id, path } = await opened(repo)
  await using _open = open
  expect((await openTree(world, id)).path).toBe(path)
  await approve(world, { id, via: 'cli' })
  expect((await land(world, { id })).remarks).toEqual([])
  expect(existsSync(path)).toBe(false)
})

test('purge asks for what runs left, in refs and in folders, and names it; by force it goes and is told', async () => {
  using repo = withIgnored()
  await using open = await openFor(repo)
  const { world } = open
  await landNew(world, [write('b.txt', 'b\n')], {}, 'later')
  inStore(repo, 'update-ref', 'refs/galley/left/some-run/work', repo.git('rev-parse', 'HEAD'))
  const folder = leftDirectory(world.repository, 'some-run')
  mkdirSync(folder, { recursive: true })
  const held = [`work: ${folder}`, 'work: refs/galley/left/some-run/work']
  const { message } = await refusal(() => purge(world, { force: false, dryRun: false }))
  for (const place of [folder, 'refs/galley/left/some-run/work']) expect(message).toContain(place)
  const told = await purge(world, { force: false, dryRun: true })
  expect(told.remarks).toEqual(held.map((one) => `holds ${one}`))
  expect((await purge(world, { force: true, dryRun: false })).remarks).toEqual(
    held.map((one) => `held ${one}`),
  )
})

test('purge leaves everything as it is while another galley is at work, and goes past it by force', async () => {
  using repo = withIgnored()
  await using open = await openFor(repo)
  await landNew(open.world, [write('b.txt', 'b\n')], {}, 'later')
  await using other = await openFor(repo)
  await other.world.atWork()
  const files = () => readdirSync(join(repo.dir, '.git'), { recursive: true, encoding: 'utf8' }).sort()
  const before = files()
  expect((await refusal(() => purge(open.world, { force: false, dryRun: false }))).code).toBe('busy')
  expect(files()).toEqual(before)
  await purge(open.world, { force: true, dryRun: false })
  expect(readdirSync(join(repo.dir, '.git')).filter((name) => name.startsWith('galley'))).toEqual([])
  await stage(other.world, [write('c.txt', 'c\n')], {}, 'later')
})
