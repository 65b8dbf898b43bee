import { status } from '../flow/status.ts'
import type { World } from '../flow/world.ts'

/** Changes that wait for a decision, oldest first. */
export async function waiting(world: World): Promise<readonly string[]> {
  const { pending } = await status(world)
  return [...pending].sort((a, b) => (a.proposedAt < b.proposedAt ? -1 : 1)).map(({ id }) => id)
}
