import { refuse } from '../../model/error.ts'
import { changeId } from '../../model/ids.ts'
import type { QueueEntry } from '../../model/queue.ts'
import { pushChanges } from '../exchange/push.ts'
import { loadChange } from '../logged-change.ts'
import type { World } from '../world.ts'
import { openQueue, type QueueRequest, whoActs } from './queue-side.ts'

export interface QueueView {
  readonly remote: string
  readonly branch: string
  readonly entries: readonly QueueEntry[]
  readonly landed: number
  readonly dropped: number
}

/** What waits to land on a branch of a remote, first in line first. Writes nothing there. */
export async function listQueue(world: World, request: QueueRequest): Promise<QueueView> {
  const { side, branch, load } = await openQueue(world, request)
  const { entries, landed, dropped } = (await load()).state
  return { remote: side.name, branch, entries, landed, dropped }
}

/**
 * Gives an approved change to the remote and puts it at the end of the line for its branch.
 *
 * @returns Its place, from 1.
 * @throws GalleyError `not-approved`; `exists`, where it waits already; as `push`.
 */
export async function enqueue(
  world: World,
  { id, remote }: { readonly id: string; readonly remote?: string },
): Promise<QueueView & { readonly id: string; readonly place: number }> {
  const { change } = await loadChange(world, await world.store(), id)
  if (change.state !== 'approved')
    refuse(
      change.state === 'staged' ? 'not-approved' : 'wrong-state',
      `${change.id} is ${change.state}; what waits in a queue is approved`,
      {
        id: change.id,
        state: change.state,
      },
    )
  const named = remote === undefined ? {} : { remote }
  const queue = await openQueue(world, { ...named, branch: change.onto })
  await pushChanges(world, named)
  const by = await whoActs(world)
  const state = await queue.append({ kind: 'enqueued', id: change.id, at: world.now(), by })
  if (state === null) refuse('exists', `${change.id} waits in the queue already`, { id: change.id })
  const place = state.entries.findIndex((entry) => entry.id === change.id) + 1
  return { remote: queue.side.name, branch: queue.branch, ...state, id: change.id, place }
}

/** Takes a change out of the line. @throws GalleyError `unknown-change`, where it does not wait there. */
export async function dequeue(
  world: World,
  { id, reason, ...request }: QueueRequest & { readonly id: string; readonly reason: string },
): Promise<QueueView> {
  const queue = await openQueue(world, request)
  const { entries } = (await queue.load()).state
  const found = entries.filter((entry) => entry.id.startsWith(id))
  const [only] = found
  if (only === undefined || found.length > 1)
    refuse(
      'unknown-change',
      `${found.length === 0 ? 'no change' : 'more than one change'} called ${id.slice(0, 40)} waits in the queue of ${queue.branch}`,
      { id },
      'See `galley queue`.',
    )
  const state = await queue.append({
    kind: 'dropped',
    id: changeId(only.id),
    at: world.now(),
    by: await whoActs(world),
    reason,
  })
  if (state === null) refuse('unknown-change', `${only.id} waits no more`, { id: only.id })
  return { remote: queue.side.name, branch: queue.branch, ...state }
}
