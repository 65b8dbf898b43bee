import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { dequeue, enqueue, listQueue } from '../../src/flow/queue/queue.ts'
import { runQueue } from '../../src/flow/queue/run-queue.ts'
import { openWorld } from '../../src/flow/world.ts'
import { changeId } from '../../src/model/ids.ts'
import { applyQueueEvent, emptyQueue, type QueueEvent } from '../../src/model/queue.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { refusal } from '../helpers/galley.ts'
import { makeClones, put, within } from '../helpers/queue-clones.ts'
import type { TestRepo } from '../helpers/repo.ts'
import { asPerson } from '../hook/hook-world.ts'
import { linesOf, verifyRange } from './verify-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

describe('a queue as a value', () => {
  const [a, b] = [changeId('gaaaaaaaaa'), changeId('gbbbbbbbbb')]
  const at = '2026-12-01T10:00:00.000Z'
  const events: readonly QueueEvent[] = [
    { kind: 'enqueued', id: a, at, by: 'ada' },
    { kind: 'enqueued', id: b, at, by: 'bob' },
    { kind: 'claimed', id: a, at, by: 'l1', until: '2026-12-01T10:15:00.000Z' },
  ]
  const three = events.reduce((state, event) => applyQueueEvent(state, event) ?? state, emptyQueue)

  test.each<[string, QueueEvent, readonly string[] | null]>([
    ['a second enqueueing', { kind: 'enqueued', id: a, at, by: 'x' }, null],
    ['a claim of what is claimed', { kind: 'claimed', id: a, at, by: 'l2', until: at }, null],
    [
      'a claim that ran out',
      { kind: 'claimed', id: a, at: '2026-12-01T10:15:01.000Z', by: 'l2', until: '2026-12-01T11:00:00.000Z' },
      [a, b],
    ],
    [
      'its own claim again',
      { kind: 'claimed', id: a, at, by: 'l1', until: '2026-12-01T10:30:00.000Z' },
      [a, b],
    ],
    ['a landing', { kind: 'landed', id: a, at, by: 'l1', commit: 'c' }, [b]],
    [
      'a landing of what is not there',
      { kind: 'landed', id: changeId('gccccccccc'), at, by: 'l1', commit: 'c' },
      null,
    ],
    ['a drop', { kind: 'dropped', id: b, at, by: 'l1', reason: 'red' }, [a]],
  ])('%s', (_name, event, waiting) => {
    expect(applyQueueEvent(three, event)?.entries.map(({ id }) => id) ?? null).toEqual(waiting)
  })
})

describe('a queue on a guarded remote', () => {
  test('lands in order, each with its approval; what conflicts is dropped, and the rest goes on; nothing of the user moves', async () => {
    using clones = makeClones(2)
    const [ada, bob] = clones.all as [TestRepo, TestRepo]
    await put(ada, 'One', { '1.txt': 'one\n' })
    await put(bob, 'Other', { '1.txt': 'other\n' })
    const last = await put(bob, 'Two', { '2.txt': 'two\n' })
    const before = ada.snapshot()
    const done = await within(ada, (world) => runQueue(world, {}))
    expect(done.steps.map(({ kind }) => kind)).toEqual(['landed', 'dropped', 'landed'])
    expect(done.steps[1]).toMatchObject({ code: 'conflict' })
    expect(clones.server.git('log', '--format=%s', 'main').split('\n')).toEqual(['Two', 'One', 'first'])
    expect(ada.snapshot()).toEqual(before)
    expect(await within(bob, (world) => listQueue(world, {}))).toMatchObject({
      entries: [],
      landed: 2,
      dropped: 1,
    })
    bob.git('fetch', '-q')
    await within(bob, async (world) =>
      (await import('../../src/flow/exchange/fetch.ts')).fetchChanges(world, {}),
    )
    expect(linesOf(await verifyRange(bob, 'origin/main~2..origin/main'))).toEqual([
      'approved One',
      'approved Two',
    ])
    expect(last).toBe(done.steps[2]?.id)
  })

  test('is left by what somebody takes out, and entered by what is approved alone', async () => {
    using clones = makeClones(1)
    const [ada] = clones.all as [TestRepo]
    const id = await put(ada, 'One', { '1.txt': 'one\n' })
    expect((await refusal(() => within(ada, (world) => enqueue(world, { id })))).code).toBe('exists')
    expect(
      (await within(ada, (world) => dequeue(world, { id: id.slice(0, 5), reason: 'later' }))).entries,
    ).toEqual([])
    expect((await refusal(() => within(ada, (world) => dequeue(world, { id, reason: 'x' })))).code).toBe(
      'unknown-change',
    )
    expect((await within(ada, (world) => enqueue(world, { id }))).place).toBe(1)
  })

  test('survives a claim whose lander died, and passes over one that lives', async () => {
    using clones = makeClones(2)
    const [ada, bob] = clones.all as [TestRepo, TestRepo]
    const id = await put(ada, 'One', { '1.txt': 'one\n' })
    const dead = { ...systemClock, now: () => systemClock.now() - 3_600_000 }
    const world = await openWorld(ada.dir, { env: ada.env, clock: dead })
    const { openQueue } = await import('../../src/flow/queue/queue-side.ts')
    const queue = await openQueue(world, {})
    const claim = (minutes: number, clock: typeof dead) =>
      queue.append({
        kind: 'claimed',
        id: changeId(id),
        at: new Date(clock.now()).toISOString(),
        by: 'gone',
        until: new Date(clock.now() + minutes * 60_000).toISOString(),
      })
    await claim(90, dead)
    expect(await within(bob, (w) => runQueue(w, {}))).toMatchObject({ steps: [], waiting: 1 })
    await claim(15, dead)
    expect(await within(bob, (w) => runQueue(w, {}))).toMatchObject({
      steps: [{ kind: 'landed', id }],
      waiting: 0,
    })
    await world.close()
  })

  test('moves forward only, and holds nothing but a queue', async () => {
    using clones = makeClones(1)
    const [ada] = clones.all as [TestRepo]
    await put(ada, 'One', { '1.txt': 'one\n' })
    await put(ada, 'Two', { '2.txt': 'two\n' })
    const before = clones.server.git('for-each-ref')
    ada.git('fetch', '-q', 'origin', 'refs/galley/queue/main')
    for (const what of [
      '+FETCH_HEAD~1:refs/galley/queue/main',
      ':refs/galley/queue/main',
      'HEAD:refs/galley/queue/other',
    ]) {
      const { code, out } = asPerson(ada, 'push', 'origin', what)
      expect([what, code, /galley: forged/.test(out)]).toEqual([what, 1, true])
    }
    expect(clones.server.git('for-each-ref')).toBe(before)
  })

  test('needs a remote that takes several refs as one', async () => {
    using clones = makeClones(1)
    const [ada] = clones.all as [TestRepo]
    const id = await put(ada, 'One', { '1.txt': 'one\n' })
    clones.server.git('config', 'receive.advertiseAtomic', 'false')
    expect((await refusal(() => within(ada, (world) => runQueue(world, {})))).code).toBe(
      'unsupported-repository',
    )
    expect((await within(ada, (world) => listQueue(world, {}))).entries.map((entry) => entry.id)).toEqual([
      id,
    ])
  })
})

test('the place to land in, whose lander was killed, is removed a day later', async () => {
  using clones = makeClones(1)
  const [ada] = clones.all as [TestRepo]
  await put(ada, 'One', { '1.txt': 'one\n' })
  const [home = ''] = readdirSync(join(ada.home, 'cache/galley'))
  const place = join(ada.home, 'cache/galley', home, `lander-${'0'.repeat(16)}.git`)
  mkdirSync(place)
  await within(ada, (world) => collectGarbage(world, { dryRun: false }))
  expect(existsSync(place)).toBe(true)
  utimesSync(place, 0, 0)
  await within(ada, (world) => collectGarbage(world, { dryRun: false }))
  expect(existsSync(place)).toBe(false)
})
