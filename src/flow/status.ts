import { isPending } from '../model/change.ts'
import { matchesAny } from '../policy/judge.ts'
import { globFault } from '../policy/path-matcher.ts'
import { isDecided } from '../store/archive.ts'
import { type ChangeSummary, listChanges, listLiveChanges, readChanges } from '../store/change-log.ts'
import { findStore, type Store } from '../store/open-store.ts'
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
  if (store === null) return { pending: [], landed: 0, rejected: 0 }
  const { changes, archivedCount } = await listLiveChanges(store)
  return {
    pending: changes.filter((c) => isPending(c.state)),
    landed: changes.filter((c) => isDecided(c.state)).length + archivedCount,
    rejected: changes.filter((c) => c.state === 'rejected').length,
  }
}

export interface LogFilter {
  readonly session?: string
  readonly agent?: string
  readonly state?: string
  /** Changes whose current revision touches this path, something below it, or a path that it matches as a glob. */
  readonly path?: string
  /** Changes of which something was recorded at this moment or later; ISO 8601. */
  readonly since?: string
  readonly limit?: number
}

/** Every change, archived ones among them, newest first, by filter. A filter by path reads the logs of those that pass the others. */
export async function listLog(
  world: Pick<World, 'repository' | 'reader'>,
  filter: LogFilter,
): Promise<readonly ChangeSummary[]> {
  const store = await findStore(world.repository)
  if (store === null) return []
  const since = filter.since === undefined ? null : Date.parse(filter.since)
  const wanted = (await listChanges(store)).filter(
    (c) =>
      (filter.session === undefined || c.session === filter.session) &&
      (filter.agent === undefined || c.agent === filter.agent) &&
      (filter.state === undefined || c.state === filter.state) &&
      (since === null || Date.parse(c.at) >= since),
  )
  const found = filter.path === undefined ? wanted : await touching(world, store, wanted, filter.path)
  return found.slice(0, filter.limit ?? found.length)
}

async function touching(
  world: Pick<World, 'reader'>,
  store: Store,
  summaries: readonly ChangeSummary[],
  named: string,
): Promise<readonly ChangeSummary[]> {
  const path = named.replace(/\/+$/, '')
  const isGlob = globFault(path) === null
  const touches = (p: string) =>
    path === '' || p === path || p.startsWith(`${path}/`) || (isGlob && matchesAny([path], p))
  const changes = await readChanges(store, await world.reader(), new Set(summaries.map((c) => c.id)))
  const ids = new Set(
    changes
      .filter((c) => c.revisions.at(-1)?.manifest.some((t) => touches(t.path)) === true)
      .map((c) => c.id),
  )
  return summaries.filter((c) => ids.has(c.id))
}
