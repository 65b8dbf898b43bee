import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { Clock } from '../sys/clock.ts'
import {
  type Acquisition,
  acquireExclusiveFile,
  type Holder,
  readHolder,
  removeIfHolderIsDead,
  removeNobodys,
} from '../sys/exclusive-file.ts'
import { standsAt } from '../sys/plain-file.ts'
import { hasLine, joinLine } from '../sys/waiting-line.ts'

/** The locks that the running task already has: what it calls may ask for them again. */
const heldHere = new AsyncLocalStorage<ReadonlySet<string>>()

/** Who is next looks often, and less so the longer one landing takes; who stands further back has time. */
const pauseMs = (ahead: number, looks: number): number =>
  ahead === 0 ? Math.min(10 + looks, 60) : Math.min(50 * ahead, 200)
/** Holders on other machines are judged by the age of their file. */
const TOUCH_EVERY_MS = 10_000

export const landingLockFile = (galleyDir: string): string => join(galleyDir, 'landing.lock')

/**
 * Runs `task` while no other landing or recovery of this repository runs, in this process or any other.
 *
 * Those who wait get it in the order in which they came. A task that has the lock may ask for it again. A lock whose holder is dead (by process number and start
 * time, or by a later start of the system) is taken over. Leaves no file behind.
 *
 * @throws GalleyError `busy`, if the same holder had it for `limits.landingLockWaitMs`, or the line took longer than
 * `limits.landingLineWaitMs`; data: `{ file, by }`.
 */
export async function withLandingLock<T>(
  galleyDir: string,
  clock: Clock,
  label: string,
  task: () => Promise<T>,
): Promise<T> {
  if (holdsLandingLock(galleyDir)) return task()
  const held = await waitForLock(galleyDir, clock, label)
  return runWith(galleyDir, held, task)
}

/** As `withLandingLock`, without waiting: `null` when somebody alive holds it. */
export async function tryLandingLock<T>(
  galleyDir: string,
  clock: Clock,
  label: string,
  task: () => Promise<T>,
): Promise<T | null> {
  if (holdsLandingLock(galleyDir)) return task()
  const tried = acquireExclusiveFile(landingLockFile(galleyDir), newHolder(clock, label), clock.now())
  return tried.kind === 'held' ? runWith(galleyDir, tried, task) : null
}

/**
 * Removes a landing lock that names nobody, once it is older than five minutes: whoever holds one touches it more often.
 *
 * @returns Whether it was removed.
 */
export const removeNobodysLock = (galleyDir: string, clock: Clock): boolean =>
  removeNobodys(landingLockFile(galleyDir), newHolder(clock, 'recover'), clock.now())

/** Whether the running task has the landing lock. */
export const holdsLandingLock = (galleyDir: string): boolean =>
  heldHere.getStore()?.has(landingLockFile(galleyDir)) === true

async function runWith<T>(
  galleyDir: string,
  held: Acquisition & { kind: 'held' },
  task: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(held.touch, TOUCH_EVERY_MS)
  timer.unref()
  const locks = new Set([...(heldHere.getStore() ?? []), landingLockFile(galleyDir)])
  try {
    return await heldHere.run(locks, task)
  } finally {
    clearInterval(timer)
    held.release()
  }
}

/**
 * First come, first served: whoever waits stands in a line, and nobody passes those in front. So one waits for as
 * many landings as there were waiters before, and not for luck.
 */
async function waitForLock(
  galleyDir: string,
  clock: Clock,
  label: string,
): Promise<Acquisition & { kind: 'held' }> {
  const file = landingLockFile(galleyDir)
  const acquire = () => acquireExclusiveFile(file, newHolder(clock, label), clock.now())
  // What is no file is no holder that will ever be done.
  if (!['absent', 'file'].includes(standsAt(file))) refuseBusy(galleyDir, null)
  const tried = hasLine(file, clock.now()) ? null : acquire()
  if (tried?.kind === 'held') return tried
  const end = clock.elapsedMs() + limits.landingLineWaitMs
  const place = joinLine(file, newHolder(clock, label), clock.now())
  try {
    for (let until = 0, looks = 0, seen: string | null = null; ; looks++) {
      const ahead = place.ahead(clock.now())
      const again = ahead === 0 ? acquire() : null
      if (again?.kind === 'held') return again
      const by = holderOf(file)
      // As long as the line moves on, waiting leads somewhere.
      if (`${ahead} ${by?.token}` !== seen) {
        until = Math.min(clock.elapsedMs() + limits.landingLockWaitMs, end)
        looks = 0
      }
      seen = `${ahead} ${by?.token}`
      if (clock.elapsedMs() >= until) refuseBusy(galleyDir, by)
      await clock.sleep(pauseMs(ahead, looks))
    }
  } finally {
    place.leave()
  }
}

function holderOf(file: string): Holder | null {
  const found = readHolder(file)
  return found === 'absent' ? null : found
}

function newHolder(clock: Clock, label: string): Omit<Holder, 'process'> {
  const token = Buffer.from(clock.random(12)).toString('hex')
  return { token, label, since: new Date(clock.now()).toISOString() }
}

function refuseBusy(galleyDir: string, by: Holder | null): never {
  const file = landingLockFile(galleyDir)
  const who =
    by === null
      ? `a holder that ${file} does not name`
      : `process ${by.process.pid} on ${by.process.host} (${by.label})`
  refuse('busy', `another landing holds the lock since ${by?.since ?? 'an unknown time'}: ${who}`, {
    file,
    by,
  })
}

/**
 * Removes what killed holders and killed waiters left beside the lock. Only while this task has the lock:
 * then no right to take over an older one means anything any more.
 */
export function sweepLockFiles(galleyDir: string, names: readonly string[]): void {
  if (!holdsLandingLock(galleyDir)) return
  for (const name of names.filter(isStrayLockFile)) removeIfHolderIsDead(join(galleyDir, name))
}

export const isLockFile = (name: string): boolean => name.startsWith('landing.lock')

const isStrayLockFile = (name: string): boolean => name.startsWith('landing.lock.')
