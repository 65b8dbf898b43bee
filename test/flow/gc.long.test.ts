import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture.ts'
import { collectGarbage } from '../../src/flow/gc.ts'
import { land } from '../../src/flow/land.ts'
import { openTree } from '../../src/flow/open-tree.ts'
import { propose } from '../../src/flow/propose.ts'
import { readFile } from '../../src/flow/read.ts'
import { redo } from '../../src/flow/redo.ts'
import { reject } from '../../src/flow/reject.ts'
import { run } from '../../src/flow/run.ts'
import { readPairs, showChange } from '../../src/flow/show.ts'
import { listLog, status } from '../../src/flow/status.ts'
import { undo } from '../../src/flow/undo.ts'
import { verify } from '../../src/flow/verify.ts'
import { openWorld, type World } from '../../src/flow/world.ts'
import { scratchHome } from '../../src/store/scratch.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { batch, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const DAY_MS = 24 * 3_600_000

/** A world whose clock is ahead by some days. */
async function openFor(repo: TestRepo, days = 0) {
  const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS }
  const world = await openWorld(repo.dir, { env: repo.env, clock })
  return { world, [Symbol.asyncDispose]: () => world.close() }
}

const stage = async (
  world: World,
  edits: readonly object[],
  more: object = {},
  checks: 'now' | 'later' = 'now',
) => (await propose(world, { batch: Buffer.from(JSON.stringify(batch(edits, more))), checks })).change

async function landNew(
  world: World,
  edits: readonly object[],
  more: object = {},
  checks: 'now' | 'later' = 'now',
) {
  const { id } = await stage(world, edits, more, checks)
  await approve(world, { id, via: 'cli' })
  return (await land(world, { id })).change
}

const write = (path: string, content: string) => ({ op: 'write', path, content })

const storeOf = (repo: TestRepo) => join(repo.dir, '.git/galley/store.git')
const inStore = (repo: TestRepo, ...args: readonly string[]) => repo.git('--git-dir', storeOf(repo), ...args)
const refsOf = (repo: TestRepo) => inStore(repo, 'for-each-ref', '--format=%(refname)').split('\n')

/** Everything in galley's folder but its log and lock. */
const galleyFiles = (repo: TestRepo) =>
  readdirSync(join(repo.dir, '.git/galley'), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('galley.log'))
    .sort()

/** All that can be asked of a change. */
async function everythingOf(world: World, id: string) {
  const { change, log, outputs } = await showChange(world, id)
  return { change, log, outputs, pairs: await readPairs(world, id) }
}

describe('what landed', () => {
  test('is archived: one ref for all, and show, diff, log, status, verify, keys and prefixes as before', async () => {
    using repo = makeRepo({
      files: {
        'a.txt': 'a\n',
        '.galley.json':
          '{"checks":[{"name":"seen","run":["cat","a.txt"],"tree":"touched"}],"guard":["main"]}',
      },
    })
    const first = repo.git('rev-parse', 'HEAD')
    await using open = await openFor(repo)
    const { world } = open
    const ids: string[] = []
    for (let n = 0; n < 6; n++) {
      const agent = { name: 'robot', session: `s-${n % 2}` }
      ids.push(
        (await landNew(world, [write(`f${n}.txt`, `${n}\n`)], { title: `Change ${n}`, key: `k${n}`, agent }))
          .id,
      )
    }
    const before = await Promise.all(ids.map((id) => everythingOf(world, id)))
    const listed = await listLog(world, {})
    const counted = await status(world)
    const user = repo.snapshot()

    const collected = await collectGarbage(world, { dryRun: false })
    expect([...collected.archived].sort()).toEqual([...ids].sort())
    expect(refsOf(repo)).toHaveLength(1)
    expect(collected.after.bytes).toBeLessThan(collected.before.bytes)
    expect(repo.snapshot()).toEqual(user)

    await using fresh = await openFor(repo)
    expect(await Promise.all(ids.map((id) => everythingOf(fresh.world, id)))).toEqual(before)
    expect(await listLog(fresh.world, {})).toEqual(listed)
    expect(await listLog(fresh.world, { session: 's-1', path: 'f3.txt' })).toHaveLength(1)
    expect(await status(fresh.world)).toEqual(counted)
    expect((await showChange(fresh.world, ids[2]?.slice(0, 6) ?? '')).change.id).toBe(ids[2])
    expect((await refusal(() => showChange(fresh.world, 'gzzz'))).code).toBe('unknown-change')
    const again = await propose(fresh.world, {
      batch: Buffer.from(
        JSON.stringify(
          batch([write('f0.txt', 'x\n')], { key: 'k0', agent: { name: 'robot', session: 's-0' } }),
        ),
      ),
    })
    expect(again).toMatchObject({ repeated: true, change: { id: ids[0] } })
    const { commits } = await verify(fresh.world, { range: `${first}..HEAD` })
    expect(commits.map((c) => c.verdict)).toEqual(ids.map(() => 'approved'))
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

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

  test('is shown as far as it is there when the user dropped its commits, and the collection does not fail', async () => {
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
    expect((await refusal(() => readPairs(fresh.world, landed.id))).code).toBe('stale')
    expect((await showChange(fresh.world, pending.id)).change.state).toBe('staged')
    expect((await readPairs(fresh.world, pending.id))[0]?.after?.bytes.toString()).toBe('y\n')
  })
})

describe('what waits for a decision', () => {
  test('is never removed, however old it is: revisions, logs, approvals, working files, sessions that are in use', async () => {
    using repo = makeRepo({
      files: { 'a.txt': 'a\n', 'crlf.txt': 'one\n', '.gitattributes': 'crlf.txt text eol=crlf\n' },
    })
    repo.write('crlf.txt', 'one\r\ntwo\r\n')
    await using open = await openFor(repo)
    const { world } = open
    const staged = await stage(world, [write('staged.txt', '1\n')])
    const approved = await stage(world, [write('approved.txt', '1\n')])
    await approve(world, { id: approved.id, via: 'cli' })
    const stacked = await stage(world, [write('stacked.txt', '1\n')], { base: staged.id })
    const captured = await capture(world, { paths: ['crlf.txt'] })
    const base = await stage(world, [write('base.txt', '1\n')])
    const onRejected = await stage(world, [write('on.txt', '1\n')], { base: base.id })
    await reject(world, { id: base.id, reason: 'no' })
    const rejected = await stage(world, [write('rejected.txt', '1\n')])
    await reject(world, { id: rejected.id, reason: 'no' })
    await readFile(world, { path: 'a.txt', session: 'in use' })
    const journals = join(repo.dir, '.git/galley/sessions')
    const waiting = [staged, approved, stacked, captured.change, base, onRejected]
    const before = await Promise.all(waiting.map(({ id }) => everythingOf(world, id)))

    for (const name of readdirSync(journals)) {
      const soon = (Date.now() + 399 * DAY_MS) / 1000
      utimesSync(join(journals, name), soon, soon)
    }
    await using later = await openFor(repo, 400)
    const collected = await collectGarbage(later.world, { dryRun: false })
    expect(collected.expired).toEqual([rejected.id])
    expect((await refusal(() => showChange(later.world, rejected.id))).code).toBe('unknown-change')
    expect(readdirSync(journals)).toHaveLength(1)

    await using fresh = await openFor(repo)
    expect(await Promise.all(waiting.map(({ id }) => everythingOf(fresh.world, id)))).toEqual(before)
    for (const { id } of [staged, approved, stacked, captured.change]) {
      await approve(fresh.world, { id, via: 'cli' })
      await land(fresh.world, { id })
    }
    expect(repo.bytes('crlf.txt').toString()).toBe('one\r\ntwo\r\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

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
  test('a dry run says what would go and changes nothing', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    const { world } = open
    const landed = await landNew(world, [write('b.txt', 'b\n')])
    const gone = await stage(world, [write('c.txt', 'c\n')])
    await reject(world, { id: gone.id, reason: 'no' })
    mkdirSync(join(repo.dir, '.git/galley/tmp/left'), { recursive: true })
    const files = galleyFiles(repo)
    const refs = refsOf(repo)
    await using later = await openFor(repo, 31)
    const told = await collectGarbage(later.world, { dryRun: true })
    expect(told).toMatchObject({ dryRun: true, archived: [landed.id], expired: [gone.id] })
    expect(galleyFiles(repo)).toEqual(files)
    expect(refsOf(repo)).toEqual(refs)
    const done = await collectGarbage(later.world, { dryRun: false })
    expect({ ...done, before: null, after: null, dryRun: null }).toEqual({
      ...told,
      before: null,
      after: null,
      dryRun: null,
    })
  })

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
    expect(readdirSync(home).sort()).toEqual([pending.id, `${worked.id}-full`].sort())
    expect(collected.kept).toEqual([{ what: tree.path, reason: 'somebody worked in it: notes.txt' }])
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
    expect(readdirSync(galley).sort()).toEqual(['done', 'sessions', 'store.git', 'tmp'])
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

describe('after many landed changes', () => {
  const count = Number(process.env['GALLEY_TEST_CHANGES'] ?? 12)

  test(
    `${count} of them: the user's repository shows nothing but their commits, and its size is bounded`,
    async () => {
      const lines = Array.from({ length: 40 }, (_, n) => `line ${n}\n`)
      const files = Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [`src/f${n}.txt`, lines.map((l) => `${n} ${l}`).join('')]),
      )
      using repo = makeRepo({ files })
      await using open = await openFor(repo)
      for (let n = 0; n < count; n++) {
        const [file, line] = [n % 20, Math.floor(n / 20) % 40]
        const edit = {
          op: 'lines',
          path: `src/f${file}.txt`,
          from: line + 1,
          to: line + 1,
          content: `changed ${n}\n`,
        }
        const blob = repo.git('rev-parse', `HEAD:src/f${file}.txt`)
        await landNew(
          open.world,
          [{ ...edit, blob }],
          { title: `Change ${n}`, agent: { name: 'robot' } },
          'later',
        )
      }
      // Displaced files are kept for some hours.
      await using later = await openFor(repo, 2)
      const begun = performance.now()
      const { after } = await collectGarbage(later.world, { dryRun: false })
      const tookMs = performance.now() - begun
      repo.git('gc', '-q', '--prune=now')
      expect(repo.git('fsck', '--full', '--strict')).toBe('')
      expect(repo.git('log', '--all', '--format=%s').split('\n')).toHaveLength(count + 1)
      expect(repo.git('branch', '--all').split('\n')).toEqual(['* main'])
      expect(repo.git('tag')).toBe('')
      expect(repo.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
      expect(repo.bytes('.git/config').toString()).not.toMatch(/galley/)
      expect(after.refs).toBe(1)

      const plain = join(repo.home, 'plain')
      repo.git('clone', '-q', '--bare', repo.dir, plain)
      repo.git('--git-dir', plain, 'gc', '-q', '--prune=now')
      const [own, theirs] = [sizeOf(join(repo.dir, '.git')), sizeOf(plain)]
      if (process.env['GALLEY_TEST_CHANGES'] !== undefined) {
        const galley = sizeOf(join(repo.dir, '.git/galley'))
        process.stdout.write(
          `${count} changes: .git ${own} bytes, of which galley ${galley}; the same commits alone ${theirs}; gc ${tookMs.toFixed(0)} ms\n`,
        )
      }
      // What a change costs, beside what a repository costs that holds nothing.
      expect(own - theirs).toBeLessThan(600_000 + count * 6_000)
      expect((await listLog(later.world, { limit: 1 }))[0]?.title).toBe(`Change ${count - 1}`)
    },
    Math.max(60_000, count * 10_000),
  )
})

const sizeOf = (path: string): number => {
  const stat = statSync(path)
  const own = stat.blocks * 512
  return stat.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), own)
    : own
}
