import { refuse } from '../model/error.ts'
import { listChanges } from '../store/change-log.ts'
import { findStore } from '../store/open-store.ts'
import type { World } from './world.ts'

/** The id of the change that was proposed last: what `--last` names. */
export async function newestChange(world: World): Promise<string> {
  const store = await findStore(world.repository)
  const [newest] = store === null ? [] : await listChanges(store)
  if (newest === undefined) refuse('unknown-change', 'there is no change yet', {})
  return newest.id
}
