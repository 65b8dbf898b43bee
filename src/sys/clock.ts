import { randomBytes, randomUUID } from 'node:crypto'

/** Time and randomness, handed to whoever needs them, so that tests can hold them still. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds since some moment: for how long something takes. Goes on evenly when the clock is set. */
  readonly elapsedMs: () => number
  readonly random: (count: number) => Uint8Array
  readonly sleep: (ms: number) => Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  random: (count) => randomBytes(count),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

export const randomName = (): string => randomUUID()
