import { spawn } from 'node:child_process'
import { beforeAll, expect, inject, test } from 'vitest'
import { listQueue } from '../../src/flow/queue/queue.ts'
import { runQueue } from '../../src/flow/queue/run-queue.ts'
import { builtProgram } from '../helpers/galley.ts'
import { makeClones, put, within } from '../helpers/queue-clones.ts'
import type { TestRepo } from '../helpers/repo.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const CLONES = Number(process.env['GALLEY_CLONES'] ?? 3)
const EACH = Number(process.env['GALLEY_CHANGES'] ?? 3)

async function fill(all: readonly TestRepo[]): Promise<void> {
  for (const [n, repo] of all.entries())
    for (let i = 0; i < EACH; i++) await put(repo, `${n}.${i}`, { [`${n}-${i}.txt`]: `${n} ${i}\n` })
}

function expectStraight(server: TestRepo): void {
  const titles = server.git('log', '--format=%s %P', 'main').split('\n')
  expect(titles.length).toBe(CLONES * EACH + 1)
  expect(new Set(titles.map((line) => line.split(' ')[0])).size).toBe(titles.length)
  expect(titles.every((line) => line.split(' ').length <= 2)).toBe(true)
}

test('several landers at once land each change once, in a straight line', async () => {
  using clones = makeClones(CLONES)
  await fill(clones.all)
  const runs = await Promise.all(clones.all.map((repo) => within(repo, (world) => runQueue(world, {}))))
  const landed = runs.flatMap(({ steps }) => steps.map(({ kind, id }) => `${kind} ${id}`))
  expect(landed.every((line) => line.startsWith('landed '))).toBe(true)
  expect(new Set(landed).size).toBe(CLONES * EACH)
  expectStraight(clones.server)
}, 600_000)

test('a lander that is killed again and again loses nothing, and lands nothing twice', async () => {
  using clones = makeClones(CLONES)
  await fill(clones.all)
  const [first] = clones.all as [TestRepo]
  const waiting = async () => (await within(first, (world) => listQueue(world, {}))).entries.length
  for (let kills = 0; kills < 8 && (await waiting()) > 1; kills++) {
    const child = spawn(process.execPath, [builtProgram, 'queue', 'run'], {
      cwd: first.dir,
      env: { ...first.env },
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await new Promise((resolve) => setTimeout(resolve, 700 + kills * 400))
    child.kill('SIGKILL')
    await ended
  }
  // The claims of the dead run out; here, by a clock that is ahead.
  const later = { now: () => Date.now() + 3_600_000 }
  for (const repo of clones.all)
    await within(repo, (world) => runQueue({ ...world, clock: { ...world.clock, ...later } }, {}))
  expect(await waiting()).toBe(0)
  expectStraight(clones.server)
}, 600_000)
