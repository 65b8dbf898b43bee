import { randomBytes, randomUUID } from 'node:crypto'

/** Time and randomness, handed to whoever needs them, so that tests can hold them still. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly random: (count: number) => Uint8Array
  readonly sleep: (ms: number) => Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: (count) => randomBytes(count),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

export const randomName = (): string => randomUUID()
