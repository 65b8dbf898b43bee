import { fetchObjects, listRemoteRefs, pushRefs, type RemoteUpdate } from '../../git/exchange.ts'
import { headBranch } from '../../git/refs.ts'
import { refuse } from '../../model/error.ts'
import { type CommitId, commitId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { nameAndEmail } from '../../model/person.ts'
import { applyQueueEvent, type QueueEvent, type QueueState } from '../../model/queue.ts'
import { queueRef, readQueue, writeQueueEvent } from '../../store/queue-chain.ts'
import { openRemote, type RemoteSide } from '../exchange/remote-side.ts'
import type { World } from '../world.ts'

export interface QueueRequest {
  /** Default: the one that git would push to. */
  readonly remote?: string
  /** Default: the branch that is checked out. */
  readonly branch?: string
}

/** The queue of one branch as a remote has it. */
export interface Queue {
  readonly tip: CommitId | null
  readonly state: QueueState
}

export interface QueueSide {
  readonly side: RemoteSide
  /** `refs/heads/main`. */
  readonly branch: string
  readonly ref: string
  readonly load: () => Promise<Queue>
  /** What an event does to the queue as it is; null where somebody was first. The commit is written, the ref is not moved. */
  readonly step: (
    queue: Queue,
    event: QueueEvent,
  ) => Promise<{ readonly update: RemoteUpdate; readonly state: QueueState } | null>
  /** Appends an event, looking again where a race was lost. null = it no longer applies. */
  readonly append: (event: QueueEvent) => Promise<QueueState | null>
}

/**
 * Opens the queue of a branch on a remote. The remote's ref is the queue; nothing of it is kept here but objects.
 *
 * @throws GalleyError `not-found`, `io-error`; `usage`, where no branch is checked out and none named; `forged`, for a ref that is no queue.
 */
export async function openQueue(world: World, request: QueueRequest): Promise<QueueSide> {
  const store = await world.store()
  const side = await openRemote(world, store, { ...request, direction: 'push' })
  const named = request.branch ?? (await headBranch(world.repository.door))
  if (named === null || /[\s~^:?*[\\\p{Cc}]|\.\./u.test(named))
    refuse('usage', 'which branch? Name one: its queue is meant', {}, 'For example: `galley queue main`.')
  const branch = named.startsWith('refs/heads/') ? named : `refs/heads/${named}`
  const ref = queueRef(branch)
  const load = async (): Promise<Queue> => {
    const [row] = (await listRemoteRefs(side.transport, [ref], (one) => one === ref)).rows
    if (row === undefined)
      return { tip: null, state: (await readQueue(await world.reader(), null)) as QueueState }
    const tip = commitId(row.object)
    const reader = await world.reader()
    if ((await reader.info(tip)) === null) await fetchObjects(side.transport, [ref])
    const state = await readQueue(reader, tip)
    if (state === null) refuse('forged', `${ref} of ${side.name} holds no queue`, { ref, object: tip })
    return { tip, state }
  }
  const step: QueueSide['step'] = async (queue, event) => {
    const state = applyQueueEvent(queue.state, event)
    if (state === null) return null
    const next = await writeQueueEvent(store, await world.identity(), queue.tip, { event, state })
    return { update: { ref, next, expected: queue.tip }, state }
  }
  const append = async (event: QueueEvent): Promise<QueueState | null> => {
    for (let tries = 1; ; tries++) {
      const done = await step(await load(), event)
      if (done === null) return null
      const [outcome] = await pushRefs(side.transport, [done.update], false)
      if (outcome?.kind === 'done') return done.state
      if (outcome?.kind === 'refused') refuseServer(side, ref, outcome.reason)
      if (tries >= limits.queueTries) refuse('busy', `${ref} of ${side.name} moves too fast`, { ref, tries })
      await world.clock.sleep(tries * 20 + (world.clock.random(1)[0] ?? 0))
    }
  }
  return { side, branch, ref, load, step, append }
}

export function refuseServer({ name }: RemoteSide, ref: string, reason: string): never {
  const isOld = reason.includes('--atomic')
  refuse(
    isOld ? 'unsupported-repository' : 'hook-refused',
    isOld ? `${name} cannot take several refs as one (atomic)` : `${name} refused ${ref}: ${reason}`,
    { ref, said: reason },
    isOld
      ? 'A queue needs a remote whose git takes atomic pushes; switch on `receive.advertiseAtomic` there.'
      : 'The server decides which refs it takes; its administrator may allow refs/galley/*.',
  )
}

/** How whoever acts on a queue is called in it. */
export const whoActs = async (world: World): Promise<string> => nameAndEmail(await world.identity())
