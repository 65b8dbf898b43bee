import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture/capture.ts'
import { land } from '../../src/flow/land/land.ts'
import { redo } from '../../src/flow/undo/redo.ts'
import { undo } from '../../src/flow/undo/undo.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

export async function openFor(repo: TestRepo) {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

export const link = (repo: TestRepo, path: string, target: string) => {
  rmSync(join(repo.dir, path), { recursive: true, force: true })
  symlinkSync(target, join(repo.dir, path))
}

export const SUBMODULE = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet']

/** A repository with a file, a directory, two links, and a submodule that is checked out. */
function repoWithLinks(inner: TestRepo): TestRepo {
  const repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'd/c.txt': 'c\n' } })
  link(repo, 'link', 'a.txt')
  link(repo, 'dirlink', 'd')
  repo.git(...SUBMODULE, 'add', inner.dir, 'sub')
  repo.git('add', '.')
  repo.commit('links')
  return repo
}

export const approved = async (world: World, id: string) => {
  await approve(world, { id, via: 'cli' })
  return land(world, { id })
}

const entries = (repo: TestRepo) => repo.git('ls-files', '-s')
export const status = (repo: TestRepo) => repo.git('--no-optional-locks', 'status', '--porcelain', '-uall')

/** What is done in the work tree, and what `git status` says when it is committed and a submodule's own files stay behind. */
export const changes: readonly (readonly [name: string, act: (repo: TestRepo) => void, stays: string])[] = [
  ['a link turned', (r) => link(r, 'link', 'd/b.txt'), ''],
  ['a link removed', (r) => rmSync(join(r.dir, 'link')), ''],
  ['a link moved', (r) => r.git('mv', 'link', 'd/link2'), ''],
  [
    'a new link, beside an edit',
    (r) => {
      link(r, 'd/new', '../a.txt')
      r.write('a.txt', 'A\n')
    },
    '',
  ],
  ['a link to nothing', (r) => link(r, 'link', 'nowhere/at/all'), ''],
  [
    'a file that becomes a directory',
    (r) => {
      rmSync(join(r.dir, 'a.txt'))
      r.write('a.txt/x.txt', 'x\n')
    },
    '',
  ],
  ['a file that becomes a link', (r) => link(r, 'a.txt', 'd/b.txt'), ''],
  [
    'a link that becomes a file',
    (r) => {
      rmSync(join(r.dir, 'link'))
      r.write('link', 'a file\n')
    },
    '',
  ],
  [
    'a directory that becomes a link',
    (r) => {
      r.git('mv', 'd', 'e')
      link(r, 'd', 'e')
    },
    '',
  ],
  [
    'a link that becomes a directory',
    (r) => {
      rmSync(join(r.dir, 'dirlink'))
      r.write('dirlink/x.txt', 'x\n')
    },
    '',
  ],
  ['a submodule moved on', (r) => r.git('-C', 'sub', 'commit', '-q', '--allow-empty', '-m', 'on'), ' M sub'],
  [
    'a submodule that becomes a file',
    (r) => {
      rmSync(join(r.dir, 'sub'), { recursive: true })
      r.write('sub', 'a file\n')
    },
    '',
  ],
]

/** Takes what `act` did through capture, landing, undo and redo, each on a work tree as the commit before it has it. */
export async function thereAndBack(act: (repo: TestRepo) => void, stays: string): Promise<void> {
  using inner = makeRepo({ files: { 'i.txt': 'i\n' } })
  using repo = repoWithLinks(inner)
  const before = entries(repo)
  act(repo)
  repo.git('add', '-A')
  const after = entries(repo)
  await using open = await openFor(repo)
  const { change } = await capture(open.world, { staged: true })
  repo.git('reset', '-q', '--hard')
  const isReplaced = change.files.some((f) => f.oldMode === '160000' && f.newMode === '100644')
  repo.git('submodule', '--quiet', ...(isReplaced ? ['deinit', '-f', 'sub'] : ['update', '--force']))
  await approved(open.world, change.id)
  expect(entries(repo)).toBe(after)
  expect(status(repo)).toBe(stays)
  const back = await undo(open.world, { target: change.id })
  await approved(open.world, back.change.id)
  expect(entries(repo)).toBe(before)
  expect(status(repo)).toBe('')
  const again = await redo(open.world, { target: change.id })
  await approved(open.world, again.change.id)
  expect([entries(repo), status(repo)]).toEqual([after, stays])
}

/** Captures what `act` did as it stands, and lands it where it stands. */
export async function asItStands(act: (repo: TestRepo) => void): Promise<void> {
  using inner = makeRepo({ files: { 'i.txt': 'i\n' } })
  using repo = repoWithLinks(inner)
  act(repo)
  await using open = await openFor(repo)
  const files = repo.snapshot().files
  const { change } = await capture(open.world, { paths: [''] })
  await approved(open.world, change.id)
  expect(status(repo)).toBe('')
  expect(repo.snapshot().files).toEqual(files)
}
