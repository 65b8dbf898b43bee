import { parseCommit } from '../git/commit.ts'
import type { Change, ChangeEvent } from '../model/change.ts'
import { changeId, isChangeId } from '../model/ids.ts'
import { appendEvents, readChange } from '../store/change-log.ts'
import { readChangeRefs } from '../store/change-refs.ts'
import type { Store } from '../store/open-store.ts'
import type { World } from './world.ts'

/** The change that a commit says it came from; null for a commit that is not galley's. */
export async function changeOfCommit(
  world: World,
  store: Store,
  commit: Parameters<typeof parseCommit>[1],
): Promise<Change | null> {
  const { message } = await parseCommit(await world.reader(), commit)
  const id = /^Galley-Change: (g[0-9a-z]{9})$/m.exec(message)?.[1] ?? ''
  if (!isChangeId(id)) return null
  const { log } = await readChangeRefs(store, changeId(id))
  return log === null ? null : (await readChange(store, await world.reader(), changeId(id))).change
}

/** When an undo has landed, the changes that it undid say so; what a redo brought back is landed again. */
export async function markUndone(world: World, store: Store, landed: Change): Promise<void> {
  const identity = await world.identity()
  const by = `${identity.name} <${identity.email}>`
  for (const commit of landed.undoes) {
    const undone = await changeOfCommit(world, store, commit)
    if (undone === null || undone.state !== 'landed') continue
    const logged = await readChange(store, await world.reader(), undone.id)
    const event: ChangeEvent = { kind: 'undone', at: world.now(), by, commit, undoneBy: landed.id }
    await appendEvents(store, logged, [{ event }], identity)
  }
}
