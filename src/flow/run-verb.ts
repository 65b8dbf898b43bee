import { asSystemRefusal, cameMidway } from '../model/errno.ts'
import type { World } from './world.ts'

/**
 * Runs one verb of a caller that keeps its world open and may ask for several at once. What the system refuses in the middle of it (no
 * space, no permission) gets its code like any other refusal.
 */
export async function runVerb<T>(
  world: Pick<World, 'noteFailure' | 'whileRunning'>,
  verb: () => Promise<T>,
): Promise<T> {
  try {
    return await world.whileRunning(verb)
  } catch (error) {
    if (cameMidway(error)) world.noteFailure()
    throw asSystemRefusal(error)
  }
}
