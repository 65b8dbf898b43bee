import { isPending } from '../model/change.ts'
import { type ChangeSummary, listChanges } from '../store/change-log.ts'
import { findStore } from '../store/open-store.ts'
import type { World } from './world.ts'

export type { ChangeSummary }

export interface Status {
  /** Newest first. */
  readonly pending: readonly ChangeSummary[]
  readonly landed: number
  readonly rejected: number
}

/** What waits for a decision. Writes nothing, takes no lock, and costs one git process beyond finding the repository. */
export async function status(world: Pick<World, 'repository'>): Promise<Status> {
  const store = await findStore(world.repository)
  const all = store === null ? [] : await listChanges(store)
  return {
    pending: all.filter((c) => isPending(c.state)),
    landed: all.filter((c) => c.state === 'landed' || c.state === 'undone').length,
    rejected: all.filter((c) => c.state === 'rejected').length,
  }
}

export interface LogFilter {
  readonly session?: string
  readonly agent?: string
  readonly state?: string
  readonly limit?: number
}

/** Every change, newest first, by filter. */
export async function listLog(
  world: Pick<World, 'repository'>,
  filter: LogFilter,
): Promise<readonly ChangeSummary[]> {
  const store = await findStore(world.repository)
  const all = store === null ? [] : await listChanges(store)
  const wanted = all.filter(
    (c) =>
      (filter.session === undefined || c.session === filter.session) &&
      (filter.agent === undefined || c.agent === filter.agent) &&
      (filter.state === undefined || c.state === filter.state),
  )
  return wanted.slice(0, filter.limit ?? wanted.length)
}
