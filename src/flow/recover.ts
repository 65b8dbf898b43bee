import { recover } from '../landing/recover.ts'
import { findStore, galleyDirectory } from '../store/open-store.ts'
import type { World } from './world.ts'

/** What a killed landing left, and what was done about it. */
export type Recovered = Awaited<ReturnType<typeof recover>>

/** Finishes or rolls back a landing that was killed. Every verb that writes does this first; it costs one look. */
export async function finishInterrupted(world: World): Promise<Recovered | null> {
  if ((await findStore(world.repository)) === null) return null
  return recover(world.repository, galleyDirectory(world.repository), world.clock)
}
