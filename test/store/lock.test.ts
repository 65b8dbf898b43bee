import { AsyncLocalStorage } from 'node:async_hooks'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { landingLockFile, sweepLockFiles, tryLandingLock, withLandingLock } from '../../src/store/lock.ts'
import { type Clock, systemClock } from '../../src/sys/clock.ts'
import { ownIdentity, type ProcessIdentity } from '../../src/sys/process-identity.ts'
import { bundleProgram } from '../helpers/bundle-program.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'galley-lock-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Time passes only where somebody waits; the clock is set by `leapMs` each time. */
function stillClock(leapMs = 0): Clock {
  let [now, elapsed] = [Date.now(), 0]
  return {
    ...systemClock,
    now: () => now,
    elapsedMs: () => elapsed,
    sleep: async (ms) => {
      elapsed += ms
      now += ms + leapMs
      if (elapsed > 3_600_000) throw new Error('this wait has no end')
    },
  }
}

function leaveLock(process: Partial<ProcessIdentity>, token = 'abc123'): void {
  const holder = {
    process: { ...ownIdentity(), ...process },
    token,
    label: 'an old one',
    since: 'then',
  }
  writeFileSync(landingLockFile(directory), JSON.stringify(holder))
}

/** The number of a process that has just ended. */
const deadPid = (): number => spawnSync('true').pid

/** Runs a task as if nobody had called it. */
const outside = AsyncLocalStorage.snapshot() as <T>(task: () => T) => T

async function untilWaiting(count: number): Promise<void> {
  const isThere = () => readdirSync(directory).filter((name) => name.includes('.wait-')).length === count
  for (let n = 0; n < 500 && !isThere(); n++) await systemClock.sleep(2)
}

const attempt = () => tryLandingLock(directory, systemClock, 'me', async () => 'done')

describe('the landing lock', () => {
  test('lets one in after the other and leaves no file', async () => {
    const order: string[] = []
    const task = (name: string) => async () => {
      order.push(`${name} in`)
      await systemClock.sleep(5)
      order.push(`${name} out`)
    }
    await Promise.all(
      ['a', 'b', 'c'].map((name) => withLandingLock(directory, systemClock, name, task(name))),
    )
    expect(order.map((entry) => entry.slice(2))).toEqual(['in', 'out', 'in', 'out', 'in', 'out'])
    expect(readdirSync(directory)).toEqual([])
  })

  test('goes to those who wait in the order in which they came', async () => {
    const order: number[] = []
    const waiting: Promise<void>[] = []
    await withLandingLock(directory, systemClock, 'first', async () => {
      for (let n = 0; n < 6; n++) {
        // A task of its own each time: what runs inside may ask for the lock again.
        waiting.push(
          outside(() => withLandingLock(directory, systemClock, `${n}`, async () => void order.push(n))),
        )
        await untilWaiting(n + 1)
        // Who comes in the same millisecond comes at the same time.
        await systemClock.sleep(2)
      }
    })
    await Promise.all(waiting)
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
    expect(readdirSync(directory)).toEqual([])
  })

  test('does not wait for one in the line who was killed', async () => {
    const name = `landing.lock.wait-${'0'.repeat(15)}-abc`
    writeFileSync(
      join(directory, name),
      JSON.stringify({ process: { ...ownIdentity(), pid: deadPid() }, token: 'abc' }),
    )
    utimesSync(join(directory, name), new Date(0), new Date(0))
    await withLandingLock(directory, systemClock, 'me', async () =>
      sweepLockFiles(directory, readdirSync(directory)),
    )
    expect(readdirSync(directory)).toEqual([])
  })

  test('is given back when the task fails', async () => {
    const failing = withLandingLock(directory, systemClock, 'a', async () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect(await attempt()).toBe('done')
  })

  test('may be asked for again by the task that has it, and by nobody else', async () => {
    await withLandingLock(directory, systemClock, 'outer', async () => {
      expect(await withLandingLock(directory, systemClock, 'inner', async () => 'in')).toBe('in')
      expect(readdirSync(directory)).toEqual(['landing.lock'])
    })
    let inner: Promise<string | null> | null = null
    const other = new Promise<void>((resolve) => setTimeout(resolve, 1)).then(() => {
      inner = attempt()
    })
    await withLandingLock(directory, systemClock, 'outer', () => systemClock.sleep(10))
    await other
    expect(await inner).toBeNull()
  })

  test('is refused as busy, naming the holder, after the longest wait', async () => {
    await withLandingLock(directory, systemClock, 'the first', async () => undefined)
    leaveLock({})
    const waiting = withLandingLock(directory, stillClock(), 'second', async () => undefined)
    await expect(waiting).rejects.toMatchObject({ code: 'busy', data: { by: { label: 'an old one' } } })
  })

  test.each([
    ['back', -1000],
    ['forth', 3_600_000],
  ])('is waited for no longer and no shorter where the clock is set %s meanwhile', async (_, leapMs) => {
    leaveLock({})
    const clock = stillClock(leapMs)
    const waiting = withLandingLock(directory, clock, 'second', async () => undefined)
    await expect(waiting).rejects.toMatchObject({ code: 'busy' })
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(limits.landingLockWaitMs)
    expect(clock.elapsedMs()).toBeLessThan(limits.landingLockWaitMs + 1000)
  })

  test('is waited for as long as it goes from one to the next', async () => {
    let now = Date.now()
    const landings = Array.from({ length: 8 }, (_, n) => ({
      until: now + 20_000 * (n + 1),
      token: `token${n}`,
    }))
    const clock: Clock = {
      ...systemClock,
      now: () => now,
      elapsedMs: () => now,
      sleep: async (ms) => {
        now += Math.max(ms, 1000)
        const at = landings.find(({ until }) => now < until)
        if (at === undefined) rmSync(landingLockFile(directory), { force: true })
        else leaveLock({}, at.token)
      },
    }
    leaveLock({}, 'token0')
    expect(await withLandingLock(directory, clock, 'me', async () => 'done')).toBe('done')
    expect(now).toBeGreaterThanOrEqual(landings.at(-1)?.until ?? 0)
  })

  test.each([
    ['a process that has ended', () => ({ pid: deadPid() })],
    ['a process whose number another one has now', () => ({ startTime: '1' })],
    ['an earlier start of the system', () => ({ boot: 'earlier' })],
  ])('is taken over from %s', async (_, process) => {
    leaveLock(process())
    expect(await attempt()).toBe('done')
    expect(readdirSync(directory)).toEqual([])
  })

  test.each([
    ['a living process', () => ({})],
    ['another host that shows signs of life', () => ({ host: 'elsewhere', boot: 'theirs', pid: 1 })],
    ['another container on this host', () => ({ namespace: 'pid:[1]', pid: deadPid() })],
  ])('is not taken from %s', async (_, process) => {
    leaveLock(process())
    expect(await attempt()).toBeNull()
    expect(readFileSync(landingLockFile(directory), 'utf8')).toContain('abc123')
  })

  test('is taken over from another host that has been silent for long', async () => {
    leaveLock({ host: 'elsewhere', boot: 'theirs' })
    utimesSync(landingLockFile(directory), new Date(Date.now() - 600_000), new Date(Date.now() - 600_000))
    expect(await attempt()).toBe('done')
  })

  test('is never taken when its file is none of ours', async () => {
    writeFileSync(landingLockFile(directory), 'something')
    expect(await attempt()).toBeNull()
  })

  test('counts right among processes, of which some are killed while they have it', async () => {
    const { program, remove } = await bundleProgram('test/store/lock-child.ts')
    writeFileSync(join(directory, 'counter'), '0')
    leaveLock({ pid: deadPid() })
    const start = (diesAt: number) =>
      new Promise((resolve) =>
        spawn(process.execPath, [program, directory, '10', String(diesAt)]).on('close', resolve),
      )
    await Promise.all([start(-1), start(3), start(-1), start(7), start(0), start(-1)])
    remove()
    expect(readFileSync(join(directory, 'counter'), 'utf8')).toBe(String(3 * 10 + 3 + 7 + 0))
    await tryLandingLock(directory, systemClock, 'me', async () =>
      sweepLockFiles(directory, readdirSync(directory)),
    )
    expect(readdirSync(directory)).toEqual(['counter'])
  })
})
