import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approve } from '../../src/flow/approve.ts'
import { capture } from '../../src/flow/capture/capture.ts'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { land } from '../../src/flow/land/land.ts'
import { propose } from '../../src/flow/propose.ts'
import { readFile } from '../../src/flow/read.ts'
import { reject } from '../../src/flow/reject.ts'
import { showChange } from '../../src/flow/show.ts'
import { listLog, status } from '../../src/flow/status.ts'
import { verify } from '../../src/flow/verify/verify.ts'
import { batch, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import {
  DAY_MS,
  everythingOf,
  galleyFiles,
  inStore,
  landNew,
  openFor,
  refsOf,
  stage,
  write,
} from './gc-world.ts'

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
    const sameBatch = batch([write('f0.txt', '0\n')], {
      title: 'Change 0',
      key: 'k0',
      agent: { name: 'robot', session: 's-0' },
    })
    const again = await propose(fresh.world, { batch: Buffer.from(JSON.stringify(sameBatch)) })
    expect(again).toMatchObject({ repeated: true, change: { id: ids[0] } })
    const { commits } = await verify(fresh.world, { range: `${first}..HEAD` })
    expect(commits.map((c) => c.verdict)).toEqual(ids.map(() => 'approved'))
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('')
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
})

describe('what lies around', () => {
  test('work that a run left is kept for thirty days from then, however old its commits say that they are', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using open = await openFor(repo)
    await stage(open.world, [write('b.txt', 'b\n')])
    const old = { ...repo.env, GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' }
    const commit = execFileSync('git', ['commit-tree', '-m', 'old', 'HEAD^{tree}'], {
      cwd: repo.dir,
      env: old,
      encoding: 'utf8',
    }).trim()
    inStore(repo, 'update-ref', 'refs/galley/left/some-run/ref-1', commit)
    const isKept = () => refsOf(repo).includes('refs/galley/left/some-run/ref-1')
    for (const [days, kept] of [
      [0, true],
      [29, true],
      [31, false],
    ] as const) {
      await using later = await openFor(repo, days)
      await collectGarbage(later.world, { dryRun: true })
      const { refs } = await collectGarbage(later.world, { dryRun: false })
      expect([days, isKept(), refs]).toEqual([days, kept, kept ? [] : ['refs/galley/left/some-run/ref-1']])
    }
  })

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
})
