import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openWorld, type World } from '../../src/flow/world.ts'
import { commitId, type RefName } from '../../src/model/ids.ts'
import { planOwnRepository, writeOwnRepository } from '../../src/store/own-repository.ts'
import { type FullTree, POOL_MAX, slotNames, takeFullTree } from '../../src/store/pool.ts'
import { readSlotState, writeSlotState } from '../../src/store/pool-slot.ts'
import { viewIndex } from '../../src/store/scratch.ts'
import { scratchHome } from '../../src/store/scratch-home.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function openFor(repo: TestRepo) {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

async function take(world: World, commit: string): Promise<FullTree> {
  const store = await world.store()
  const tree = await takeFullTree(world.repository, store, {
    commit: commitId(commit),
    rules: null,
    purpose: { kind: 'check' },
    reader: await world.reader(),
    clock: world.clock,
  })
  const onto = 'refs/heads/main' as RefName
  const own = await planOwnRepository(world.repository, store, { onto, who: await world.identity() })
  await writeOwnRepository(tree.slot, own, { head: tree.commit, index: viewIndex(tree.slot) })
  return tree
}

/** Files and links of a tree, with their bytes and executable bits. */
function contentsOf(root: string): Record<string, string> {
  const found: Record<string, string> = {}
  const walk = (path: string) => {
    for (const name of readdirSync(join(root, path))) {
      const child = path === '' ? name : `${path}/${name}`
      if (child === '.git') continue
      const stat = lstatSync(join(root, child))
      if (stat.isDirectory()) walk(child)
      else if (stat.isSymbolicLink()) found[child] = `link ${readlinkSync(join(root, child))}`
      else found[child] = `${stat.mode & 0o111 ? 'x' : '-'} ${readFileSync(join(root, child), 'latin1')}`
    }
  }
  walk('')
  return found
}

/** What git says of a tree that is as it should be: nothing. */
function expectTrue(repo: TestRepo, path: string, commit: string): void {
  expect(repo.git('-C', path, 'diff-index', 'HEAD')).toBe('')
  expect(repo.git('-C', path, 'status', '--porcelain', '--ignored', '--untracked-files=all')).toBe('')
  expect(repo.git('-C', path, 'rev-parse', 'HEAD')).toBe(commit)
  expect(repo.git('-C', path, 'write-tree')).toBe(repo.git('rev-parse', `${commit}^{tree}`))
}

describe('a full tree of the pool', () => {
  test('is what git would check out, whichever commit it comes from and goes to', async () => {
    const name = fc.constantFrom(
      'a',
      'b.txt',
      'd/a',
      'd/b',
      'd/e/a',
      'd',
      'd/e',
      'ü/x',
      'c.txt',
      'sub/.gitattributes',
    )
    const what = fc.constantFrom('one\n', 'two\r\n', 'x\ny\n', '#!\n', 'link', 'gone')
    const commits = fc.array(fc.dictionary(name, what, { maxKeys: 4 }), { minLength: 2, maxLength: 4 })
    const attributes = fc.boolean()
    await fc.assert(
      fc.asyncProperty(
        commits,
        attributes,
        fc.array(fc.nat(), { maxLength: 3 }),
        async (all, hasEol, order) => {
          using repo = makeRepo({
            files: hasEol ? { '.gitattributes': '*.txt text eol=crlf\n' } : { z: 'z\n' },
          })
          const ids = all.map((files) => {
            for (const [path, content] of Object.entries(files)) put(repo.dir, path, content)
            return repo.commit('next')
          })
          await using open = await openFor(repo)
          for (const n of [0, ...order, ids.length - 1]) {
            const commit = ids[n % ids.length] ?? ''
            const tree = await take(open.world, commit)
            expectTrue(repo, tree.slot.path, commit)
            const plain = join(repo.home, `plain-${Math.random()}`)
            repo.git('-c', 'core.autocrlf=false', 'worktree', 'add', '-q', '--detach', plain, commit)
            expect(contentsOf(tree.slot.path)).toEqual(contentsOf(plain))
            await tree.release(null)
          }
          expect(await slotNames(open.world.repository)).toEqual(['pool-1'])
        },
      ),
      { numRuns: 5 },
    )
  })

  const put = (root: string, path: string, content: string) => {
    const file = join(root, path)
    const folders = path.split('/').slice(0, -1)
    // From above: what stands in the place of a folder goes before its contents are asked for.
    folders.forEach((_, depth) => {
      const above = join(root, ...folders.slice(0, depth + 1))
      if (lstatSync(above, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(above)
    })
    rmSync(file, { recursive: true, force: true })
    if (content === 'gone') return
    mkdirSync(dirname(file), { recursive: true })
    if (content === 'link') symlinkSync('somewhere', file)
    else writeFileSync(file, path.endsWith('.gitattributes') ? '* text\n' : content)
    if (content.startsWith('#!')) chmodSync(file, 0o755)
  }

  test('belongs to one at a time; more than are kept go when they are given back', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    const head = repo.git('rev-parse', 'HEAD')
    await using open = await openFor(repo)
    const held = await Promise.all(Array.from({ length: POOL_MAX + 2 }, () => take(open.world, head)))
    expect(new Set(held.map((tree) => tree.slot.path)).size).toBe(POOL_MAX + 2)
    await Promise.all(held.map((tree) => tree.release(null)))
    const kept = await slotNames(open.world.repository)
    expect(kept).toEqual(['pool-1', 'pool-2', 'pool-3'])
    const home = scratchHome(open.world.repository)
    expect(
      readdirSync(home)
        .filter((name) => /^pool-\d+\.idle$/.test(name))
        .sort(),
    ).toEqual(kept.map((name) => `${name}.idle`).sort())
    const store = join(repo.dir, '.git/galley/store.git')
    expect(repo.git('--git-dir', store, 'worktree', 'list').split('\n')).toHaveLength(kept.length + 1)
  })

  test('is clean again after whatever a check did in it, and after a check that was cut off', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'd/b.txt': '1\n', '.gitignore': 'out/\n' } })
    const first = repo.git('rev-parse', 'HEAD')
    repo.write('a.txt', '2\n')
    const second = repo.commit('second')
    await using open = await openFor(repo)
    const spoil = (path: string) => {
      writeFileSync(join(path, 'a.txt'), 'spoiled\n')
      rmSync(join(path, 'd'), { recursive: true })
      mkdirSync(join(path, 'out'))
      writeFileSync(join(path, 'out/x'), 'x')
      writeFileSync(join(path, 'left.txt'), 'x')
      mkdirSync(join(path, 'empty/er'), { recursive: true })
      repo.git('-C', path, 'update-index', '--assume-unchanged', 'a.txt')
    }
    const tree = await take(open.world, first)
    spoil(tree.slot.path)
    await tree.release(null)
    const again = await take(open.world, first)
    expectTrue(repo, again.slot.path, first)
    expect(existsSync(join(again.slot.path, 'empty'))).toBe(false)
    spoil(again.slot.path)
    again.abandon()
    const after = await take(open.world, second)
    expect(after.slot.path).toBe(tree.slot.path)
    expectTrue(repo, after.slot.path, second)
    expect(readFileSync(join(after.slot.path, 'a.txt'), 'utf8')).toBe('2\n')
    await after.release(null)
  })

  test('is made whole when it was cut off in the middle of a move, index and all', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n', 'b.txt': '1\n' } })
    const first = repo.git('rev-parse', 'HEAD')
    repo.write('a.txt', '2\n')
    const second = repo.commit('second')
    await using open = await openFor(repo)
    const { slot, release } = await take(open.world, first)
    await release(null)
    const state = await readSlotState(slot)
    expect(state?.phase).toBe('clean')
    renameSync(slot.idlePath, slot.path)
    await writeSlotState(slot, {
      commit: commitId(second),
      phase: 'moving',
      run: null,
      usedAt: 0,
      setup: null,
    })
    writeFileSync(join(slot.path, 'a.txt'), '2\n')
    writeFileSync(viewIndex(slot), 'torn')
    const tree = await take(open.world, first)
    expect(tree.slot.path).toBe(slot.path)
    expectTrue(repo, slot.path, first)
    await tree.release(null)
  })

  test('is out of reach while nobody has it: what is written to its path comes to nothing', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    const head = repo.git('rev-parse', 'HEAD')
    await using open = await openFor(repo)
    const { slot, release } = await take(open.world, head)
    await release(null)
    expect(existsSync(slot.path)).toBe(false)
    mkdirSync(slot.path)
    writeFileSync(join(slot.path, 'a.txt'), 'late\n')
    writeFileSync(join(slot.path, 'late.txt'), 'late\n')
    const next = await take(open.world, head)
    expect(next.slot.path).toBe(slot.path)
    expectTrue(repo, slot.path, head)
    await next.release(null)
  })

  test('is not kept for another while a process is in it', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    const head = repo.git('rev-parse', 'HEAD')
    await using open = await openFor(repo)
    const { slot, release } = await take(open.world, head)
    const sleeper = spawn('/bin/sleep', ['300'], { cwd: slot.path, stdio: 'ignore' })
    try {
      await release(null)
      expect([existsSync(slot.path), existsSync(slot.idlePath)]).toEqual([false, false])
      const next = await take(open.world, head)
      expectTrue(repo, next.slot.path, head)
      await next.release(null)
      expect(existsSync(next.slot.idlePath)).toBe(true)
    } finally {
      sleeper.kill('SIGKILL')
    }
  })

  test('is made anew when it or its registration has gone', async () => {
    using repo = makeRepo({ files: { 'a.txt': '1\n' } })
    const head = repo.git('rev-parse', 'HEAD')
    await using open = await openFor(repo)
    const { slot, release } = await take(open.world, head)
    await release(null)
    rmSync(slot.idlePath, { recursive: true })
    const second = await take(open.world, head)
    expectTrue(repo, second.slot.path, head)
    await second.release(null)
    rmSync(slot.door.gitDir, { recursive: true })
    const third = await take(open.world, head)
    expectTrue(repo, third.slot.path, head)
    await third.release(null)
  })
})
