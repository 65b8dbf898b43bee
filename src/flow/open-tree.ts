import { ensureScratch } from '../store/scratch.ts'
import { currentRevision } from './check.ts'
import { loadChange, refuseLostBase } from './logged-change.ts'
import { finishInterrupted } from './recover.ts'
import type { World } from './world.ts'

/** Makes the full scratch tree of a change, if need be, and gives its path. It belongs to the store, not to the user's tree. */
export async function openTree(
  world: World,
  id: string,
): Promise<{ readonly id: string; readonly path: string; readonly commit: string }> {
  await finishInterrupted(world)
  const store = await world.store()
  const logged = await loadChange(world, store, id)
  await refuseLostBase(world, store, logged)
  const revision = currentRevision(logged)
  const request = {
    id: logged.change.id,
    commit: revision.commit,
    paths: revision.manifest.map((t) => t.path),
    form: 'full',
  } as const
  const tree = await ensureScratch(world.repository, store, request)
  return { id: logged.change.id, path: tree.path, commit: revision.commit }
}
