import { type ChangeState, isPending } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import type { ChangeId } from '../model/ids.ts'
import { listChanges, readChange } from '../store/change-log.ts'
import { findStore } from '../store/open-store.ts'
import type { World } from './world.ts'

/** What `--last` looks for: any change, one that waits for a decision or for landing, one that has landed, or one that was undone. */
export type NewestOf = 'any' | 'pending' | 'landed' | 'undone'

const fits: Readonly<Record<NewestOf, (state: ChangeState) => boolean>> = {
  any: () => true,
  pending: isPending,
  landed: (state) => state === 'landed',
  undone: (state) => state === 'undone',
}

/** The id of the change that was proposed last, of those that the verb can work on: what `--last` names. */
export async function newestChange(world: World, of: NewestOf): Promise<string> {
  const store = await findStore(world.repository)
  const all = store === null ? [] : await listChanges(store)
  for (const { id, state } of all)
    if (fits[of](state) && (of !== 'undone' || !(await takesBack(world, id)))) return id
  refuse('unknown-change', of === 'any' ? 'there is no change yet' : `no change is ${of}`, {})
}

/** An undo that was itself undone is no change to be brought back: that would take back once more what stands again. */
async function takesBack(world: World, id: ChangeId): Promise<boolean> {
  const { change } = await readChange(await world.store(), await world.reader(), id)
  return change.undoes.length + change.undoesPartly.length > 0
}
