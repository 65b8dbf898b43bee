import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture/capture.ts'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { land } from '../../src/flow/land/land.ts'
import { openTree } from '../../src/flow/open-tree.ts'
import { readFile } from '../../src/flow/read.ts'
import { reject } from '../../src/flow/reject.ts'
import { run } from '../../src/flow/run/run.ts'
import { readPairs, showChange } from '../../src/flow/show.ts'
import { listLog, status } from '../../src/flow/status.ts'
import { redo } from '../../src/flow/undo/redo.ts'
import { undo } from '../../src/flow/undo/undo.ts'
import { openWorld } from '../../src/flow/world.ts'
import { scratchHome } from '../../src/store/scratch-home.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo } from '../helpers/repo.ts'
import { everythingOf, inStore, landNew, openFor, refsOf, stage, storeOf, write } from './gc-world.ts'

describe('what landed', () => {
  test('can be undone from the archive and brought back, each undone one counted once, and is archived again', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    const { world } = open
    const one = await landNew(world, [write('one.txt', '1\n')], { agent: { name: 'x', session: 's' } })
    const two = await landNew(world, [write('two.txt', '2\n')])
    await collectGarbage(world, { dryRun: false })
    const undone = await undo(world, { session: 's' })
    await approve(world, { id: undone.change.id, via: 'cli' })
    await land(world, { id: undone.change.id })
    expect(existsSync(join(repo.dir, 'one.txt'))).toBe(false)
    expect((await showChange(world, one.id)).change).toMatchObject({
      state: 'undone',
      undoneBy: undone.change.id,
    })
    expect(await status(world)).toMatchObject({ landed: 3 })
    expect((await listLog(world, {})).map((c) => c.state)).toEqual(['landed', 'landed', 'undone'])
    expect((await collectGarbage(world, { dryRun: false })).archived).toHaveLength(2)
    expect(refsOf(repo)).toHaveLength(1)
    expect(await status(world)).toMatchObject({ landed: 3 })
    const redone = await redo(world, { target: one.id })
    await approve(world, { id: redone.change.id, via: 'cli' })
    await land(world, { id: redone.change.id })
    expect(repo.read('one.txt')).toBe('1\n')
    expect((await showChange(world, one.id)).change.state).toBe('landed')
    expect((await showChange(world, two.id)).change.state).toBe('landed')
  })

  test('is there still when the mark that keeps its objects was lost', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    const one = await landNew(open.world, [write('one.txt', '1\n')])
    await collectGarbage(open.world, { dryRun: false })
    const before = await everythingOf(open.world, one.id)
    const packs = join(storeOf(repo), 'objects/pack')
    for (const name of readdirSync(packs).filter((n) => n.endsWith('.keep'))) rmSync(join(packs, name))
    await using later = await openFor(repo, 3)
    await landNew(later.world, [write('two.txt', '2\n')])
    await collectGarbage(later.world, { dryRun: false })
    await collectGarbage(later.world, { dryRun: false })
    await using fresh = await openFor(repo, 6)
    await collectGarbage(fresh.world, { dryRun: false })
    expect(await everythingOf(fresh.world, one.id)).toEqual(before)
    expect(inStore(repo, 'cat-file', '-t', before.change.approvals[0]?.tag ?? '')).toBe('tag')
  })

  test.each(['sha256', 'linked'] as const)('in a repository of another kind: %s', async (kind) => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n' },
      objectFormat: kind === 'sha256' ? 'sha256' : 'sha1',
    })
    const dir = join(repo.home, 'linked')
    if (kind === 'linked') repo.git('worktree', 'add', '-q', '-b', 'side', dir)
    const world = await openWorld(kind === 'linked' ? dir : repo.dir, { env: repo.env, clock: systemClock })
    const outcome = await run(world, { command: ['sh', '-c', 'echo b > b.txt'] })
    await approve(world, { id: outcome.changes[0]?.id ?? '', via: 'cli' })
    await land(world, { id: outcome.changes[0]?.id ?? '' })
    writeFileSync(join(kind === 'linked' ? dir : repo.dir, 'a.txt'), 'changed\n')
    const { change } = await capture(world, {})
    await approve(world, { id: change.id, via: 'cli' })
    await land(world, { id: change.id })
    const before = await everythingOf(world, change.id)
    expect((await collectGarbage(world, { dryRun: false })).archived).toHaveLength(2)
    await world.close()
    await using fresh = await openFor(repo)
    expect(await everythingOf(fresh.world, change.id)).toEqual(before)
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('is shown as far as something waits on it when the user dropped its commits, and the collection does not fail', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    const { world } = open
    repo.git('checkout', '-qb', 'side')
    repo.write('side.txt', 'mine\n')
    repo.commit('side')
    const landed = await landNew(world, [write('x.txt', 'x\n')])
    const pending = await stage(world, [write('y.txt', 'y\n')])
    await collectGarbage(world, { dryRun: false })
    repo.git('checkout', '-q', 'main')
    repo.git('branch', '-qD', 'side')
    rmSync(join(repo.dir, '.git/logs'), { recursive: true })
    repo.git('gc', '-q', '--prune=now')
    await using fresh = await openFor(repo, 2)
    await landNew(fresh.world, [write('z.txt', 'z\n')], { onto: 'main' })
    await collectGarbage(fresh.world, { dryRun: false })
    expect((await showChange(fresh.world, landed.id)).change.state).toBe('landed')
    // The one that waits was staged on it.
    expect((await readPairs(fresh.world, landed.id))[0]?.after?.bytes.toString()).toBe('x\n')
    expect((await showChange(fresh.world, pending.id)).change.state).toBe('staged')
    expect((await readPairs(fresh.world, pending.id))[0]?.after?.bytes.toString()).toBe('y\n')
  })
})

describe('what waits for a decision', () => {
  test('stays where it was rejected less than thirty days ago', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    const { id } = await stage(open.world, [write('b.txt', '1\n')])
    await reject(open.world, { id, reason: 'no' })
    await using later = await openFor(repo, 29)
    expect((await collectGarbage(later.world, { dryRun: false })).expired).toEqual([])
    expect((await showChange(later.world, id)).change.rejection).toBe('no')
  })
})

describe('what lies around', () => {
  test('trees of decided and unknown changes go, unless somebody worked in them; those of pending ones stay', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    const { world } = open
    const home = scratchHome(world.repository)
    const pending = await stage(world, [write('p.txt', '1\n')])
    const rejected = await stage(world, [write('r.txt', '1\n')])
    const worked = await stage(world, [write('w.txt', '1\n')])
    const unknown = await stage(world, [write('u.txt', '1\n')])
    await openTree(world, rejected.id)
    const tree = await openTree(world, worked.id)
    writeFileSync(join(tree.path, 'notes.txt'), 'a thought')
    await reject(world, { id: rejected.id, reason: '' })
    await reject(world, { id: worked.id, reason: '' })
    for (const ref of refsOf(repo).filter((name) => name.includes(unknown.id)))
      inStore(repo, 'update-ref', '-d', ref)
    const collected = await collectGarbage(world, { dryRun: false })
    const kept = ['repository', pending.id, `${worked.id}-full`, `${worked.id}-full.given.json`]
    expect(readdirSync(home).sort()).toEqual(kept.sort())
    const reason = 'somebody worked in it: notes.txt; `galley gc --force` removes it'
    expect(collected.kept).toEqual([{ what: tree.path, reason }])
    expect(inStore(repo, 'worktree', 'list')).not.toContain(rejected.id)
    expect(repo.git('-C', join(home, pending.id), 'status', '--porcelain')).toBe('')
  })

  test('sessions, passing files, trees and leftovers that are old go', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    const { world } = open
    const galley = join(repo.dir, '.git/galley')
    await readFile(world, { path: 'a.txt', session: 'old' })
    const outcome = await run(world, { command: ['sh', '-c', 'ln -s / out; echo 2 > a.txt'] })
    expect(outcome.left).toHaveLength(1)
    await landNew(world, [write('b.txt', 'b\n')])
    mkdirSync(join(galley, 'tmp/left'), { recursive: true })
    mkdirSync(join(galley, 'store-half-made'))
    await using later = await openFor(repo, 31)
    await collectGarbage(later.world, { dryRun: false })
    expect(readdirSync(galley).sort()).toEqual(['at-work', 'done', 'sessions', 'store.git', 'tmp'])
    expect(readdirSync(join(galley, 'done'))).toEqual([])
    expect(readdirSync(join(galley, 'sessions'))).toEqual([])
    expect(readdirSync(join(galley, 'tmp'))).toEqual([])
    expect(refsOf(repo).filter((ref) => ref.startsWith('refs/galley/left/'))).toEqual([])
    expect(readdirSync(scratchHome(world.repository)).filter((name) => name.startsWith('pool-'))).toEqual([])
    expect(existsSync('/bin')).toBe(true)
  })

  test('the work of a run whose galley was killed is collected, once its processes have ended', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const program = join(import.meta.dirname, '../../dist/galley.js')
    const script = `git commit -q --allow-empty -m Mine; echo work > a.txt; echo new > new.txt; echo $$ > ${repo.home}/pid; mv ${repo.home}/pid ${repo.home}/ready; sleep 300`
    const galley = spawn(process.execPath, [program, 'run', '--', 'sh', '-c', script], {
      cwd: repo.dir,
      env: repo.env,
      stdio: 'ignore',
    })
    while (!existsSync(join(repo.home, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 20))
    const ended = new Promise((resolve) => galley.on('exit', resolve))
    galley.kill('SIGKILL')
    await ended
    await using open = await openFor(repo)
    const early = await collectGarbage(open.world, { dryRun: false })
    expect(early.kept[0]?.reason).toMatch(/still goes on/)
    expect(early.salvaged).toEqual([])
    // A run of one's own takes another tree meanwhile.
    expect((await run(open.world, { command: ['cat', 'a.txt'] })).changes).toEqual([])
    process.kill(-Number(readFileSync(join(repo.home, 'ready'), 'utf8')), 'SIGKILL')
    const late = await collectGarbage(open.world, { dryRun: false })
    const ref = late.salvaged[0]?.ref ?? ''
    expect(inStore(repo, 'show', `${ref}:a.txt`)).toBe('work')
    expect(inStore(repo, 'show', `${ref}:new.txt`)).toBe('new')
    expect(inStore(repo, 'log', '--format=%s', '-2', ref).split('\n')[1]).toBe('Mine')
    expect((await run(open.world, { command: ['cat', 'a.txt'] })).exitCode).toBe(0)
    expect(repo.git('status', '--porcelain')).toBe('')
  })
})
