import { lstatSync, mkdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture/capture.ts'
import { land } from '../../src/flow/land/land.ts'
import { readPairs } from '../../src/flow/show.ts'
import { undo } from '../../src/flow/undo/undo.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import {
  approved,
  asItStands,
  changes,
  link,
  openFor,
  SUBMODULE,
  status,
  thereAndBack,
} from './link-world.ts'

const some = changes.filter(([name]) => ['a link moved', 'a submodule moved on'].includes(name))

describe('links and submodules are transitions like others', () => {
  test.each(some)('%s is captured, landed, undone and redone', (_, act, stays) => thereAndBack(act, stays))

  test('a link moved is captured as it stands, and landing leaves it so', () =>
    asItStands((r) => r.git('mv', 'link', 'd/link2')))

  test('a submodule that comes gets its directory, and one that goes leaves what is checked out', async () => {
    using inner = makeRepo({ files: { 'i.txt': 'i\n' } })
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.git(...SUBMODULE, 'add', inner.dir, 'sub')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { staged: true })
    repo.git('rm', '-q', '--cached', 'sub', '.gitmodules')
    rmSync(join(repo.dir, 'sub'), { recursive: true })
    rmSync(join(repo.dir, '.gitmodules'))
    const landed = await approved(open.world, change.id)
    expect([lstatSync(join(repo.dir, 'sub')).isDirectory(), status(repo)]).toEqual([true, ''])
    expect(landed.remarks.join()).toContain('sub is a submodule: its entry moved')
    repo.git(...SUBMODULE, 'update', '--init')
    const back = await undo(open.world, { target: change.id })
    const gone = await approved(open.world, back.change.id)
    expect(repo.read('sub/i.txt')).toBe('i\n')
    expect(gone.remarks.join()).toContain('sub is no submodule any more')
  })

  test('a link that stayed inside is refused where a move lets it lead out', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n' } })
    link(repo, 'd/up', '../a.txt')
    repo.commit('link')
    repo.git('mv', 'd/up', 'up')
    const before = repo.snapshot()
    await using open = await openFor(repo)
    const refused = await refusal(() => capture(open.world, { staged: true }))
    expect([refused.code, refused.data['failures']]).toMatchObject(['symlink', [{ path: 'up' }]])
    expect(repo.snapshot()).toEqual(before)
  })

  test('they always need a person, and are shown with their targets', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', '.galley.json': '{"autoApprove":{"paths":["**"]}}\n' },
    })
    link(repo, 'link', 'a.txt')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, { paths: ['link'] })
    expect(change).toMatchObject({ state: 'staged', files: [{ path: 'link', newMode: '120000' }] })
    const [pair] = await readPairs(open.world, change.id)
    expect(Buffer.from(pair?.after?.bytes ?? []).toString()).toBe('a.txt')
    expect((await refusal(() => land(open.world, { id: change.id }))).code).toBe('not-approved')
  })

  test('a work tree that holds another link is refused, and nothing has moved', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } })
    link(repo, 'link', 'a.txt')
    repo.commit('link')
    link(repo, 'link', 'b.txt')
    await using open = await openFor(repo)
    const { change } = await capture(open.world, {})
    await approve(open.world, { id: change.id, via: 'cli' })
    link(repo, 'link', 'nowhere')
    const before = repo.snapshot()
    expect((await refusal(() => land(open.world, { id: change.id }))).code).toBe('overlaps-uncommitted')
    expect(repo.snapshot()).toEqual(before)
  })
})

describe('a link out of the repository', () => {
  const ways: readonly (readonly [string, Readonly<Record<string, string>>, boolean])[] = [
    ['absolute', { new: '/etc/hosts' }, false],
    ['up and out', { 'd/new': '../../beside' }, false],
    ['into the git directory', { new: 'd/../.git/config' }, false],
    ['into a git directory by another spelling', { new: 'sub/.GIT/hooks' }, false],
    ['through another new link', { up: 'd/e/..', new: 'up/../../beside' }, false],
    ['through a link that makes `..` mean something else', { here: '.', new: 'here/../a.txt' }, false],
    ['up and not out', { 'd/new': '../a.txt', 'd/e/new': '../../d/./b.txt' }, true],
    ['through a link that stays', { up: 'd/e', new: 'up/../b.txt' }, true],
    ['round and round', { new: 'other', other: 'new' }, true],
  ]
  test.each(ways)('%s', async (_, links, stays) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'd/e/c.txt': 'c\n' } })
    for (const [path, target] of Object.entries(links)) link(repo, path, target)
    await using open = await openFor(repo)
    const paths = Object.keys(links)
    if (stays) {
      expect((await capture(open.world, { paths })).change.files).toHaveLength(paths.length)
      return
    }
    const before = repo.snapshot()
    expect((await refusal(() => capture(open.world, { paths }))).code).toBe('symlink')
    expect(repo.snapshot()).toEqual(before)
    repo.write('a.txt', 'A\n')
    const found = await capture(open.world, { paths: [''] })
    expect(found.change.files.map((f) => f.path)).not.toContain('new')
    expect(found.leftOut.join()).toContain('new')
  })

  test('may be turned, moved and removed where it led out before, and an undo brings it back', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    link(repo, 'data', '/srv/data')
    repo.commit('data')
    await using open = await openFor(repo)
    mkdirSync(join(repo.dir, 'd'))
    repo.git('mv', 'data', 'd/data')
    const moved = await capture(open.world, { staged: true })
    await approved(open.world, moved.change.id)
    rmSync(join(repo.dir, 'd/data'))
    const gone = await capture(open.world, {})
    await approved(open.world, gone.change.id)
    const back = await undo(open.world, { target: gone.change.id })
    await approved(open.world, back.change.id)
    expect(readlinkSync(join(repo.dir, 'd/data'))).toBe('/srv/data')
  })
})

describe('what a capture finds and cannot take', () => {
  test('is left out with a note beside the rest', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    repo.write('a.txt', 'A\n')
    repo.write('inner/x', 'x\n')
    repo.git('init', '-q', 'inner')
    repo.write('aux.txt', 'no name for Windows\n')
    await using open = await openFor(repo)
    const { change, leftOut } = await capture(open.world, { paths: [''] })
    expect(change.files.map((f) => f.path)).toEqual(['a.txt'])
    expect(leftOut).toEqual([
      expect.stringContaining('"aux.txt" was left out'),
      expect.stringContaining('"inner/" was left out: it is a repository of its own'),
    ])
    repo.git('checkout', '-q', '.')
    expect((await refusal(() => capture(open.world, { paths: ['inner'] }))).code).toBe('no-change')
  })
})
