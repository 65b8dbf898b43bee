import { join } from 'node:path'
import type { GitDoor } from '../../git/door.ts'
import { objectDirectories } from '../../git/object-directories.ts'
import { type ObjectReader, openObjectReader } from '../../git/objects.ts'
import { listRefs, type RefRow } from '../../git/refs.ts'
import { makeMergePlace } from '../../git/remerge.ts'
import { type CommitId, commitId, isObjectId, type TreeId } from '../../model/ids.ts'
import type { Policy } from '../../model/policy.ts'
import { listArchived } from '../../store/archive.ts'
import { LOG_PREFIX } from '../../store/change-refs.ts'
import { findStore, type Store } from '../../store/open-store.ts'
import { findAllowedSigners, judgeApprovals } from '../verify-approval.ts'
import type { World } from '../world.ts'
import { ApprovalLogs } from './approval-logs.ts'
import { ApprovalPool } from './approval-pool.ts'
import type { ApprovalRules } from './covering.ts'
import { landedHere } from './landed-here.ts'

export const APPROVALS = 'refs/galley/approvals/'

/** Reads objects and approvals of a repository, whether it has a store (a clone) or keeps `refs/galley/*` itself (a server). */
export interface Verifier {
  /** Its reader does not make a store. */
  readonly world: World
  readonly door: GitDoor
  readonly reader: ObjectReader
  readonly pool: () => Promise<ApprovalPool>
  /** A place to merge in. Made at the first call. */
  readonly place: () => Promise<Place>
  readonly close: () => Promise<void>
}

/** A repository without configuration to merge in; it sees all that the verifier sees. */
export interface Place {
  readonly door: GitDoor
  readonly reader: ObjectReader
}

/** What is about to come, and from where it is judged. */
export interface Arriving {
  readonly objects: string | null
  readonly rows: readonly RefRow[]
  /** The commit whose policy says which branches' own history is believed; left out: HEAD. */
  readonly guardsAt?: CommitId
}

/**
 * Opens what a verifier reads. Leaves nothing and makes nothing: no store, no object, no ref.
 *
 * @param directory - An empty one for merges, which the caller removes.
 * @param arriving - For a hook of a server: where the pushed objects are kept until the push is taken, and approvals and logs that come with it.
 */
export async function openVerifier(
  world: World,
  directory: string,
  arriving: Arriving = { objects: null, rows: [] },
): Promise<Verifier> {
  const { repository } = world
  const store = await findStore(repository)
  const base = store?.door ?? repository.door
  const incoming = arriving.objects === null ? [] : [arriving.objects]
  const extraEnv = {
    ...base.extraEnv,
    ...(incoming.length === 0 ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(...incoming) }),
  }
  const door: GitDoor = { ...base, extraEnv }
  const reader = openObjectReader(door)
  let place: Promise<Place> | null = null
  let pool: Promise<ApprovalPool> | null = null
  const objects = [join(repository.commonDir, 'objects'), ...incoming].concat(
    store === null ? [] : [join(store.door.gitDir, 'objects')],
  )
  return {
    world: { ...world, reader: async () => reader },
    door,
    reader,
    pool: () => {
      pool ??= openPool(
        { door, reader, world: { ...world, reader: async () => reader } },
        { store, arriving },
      )
      return pool
    },
    place: () => {
      place ??= makeMergePlace(base, directory, objects).then((made) => ({
        door: made,
        reader: openObjectReader(made),
      }))
      return place
    },
    close: async () => {
      await (await place)?.reader.close()
      await reader.close()
    },
  }
}

async function openPool(
  from: Pick<Verifier, 'door' | 'reader' | 'world'>,
  { store, arriving }: { readonly store: Store | null; readonly arriving: Arriving },
): Promise<ApprovalPool> {
  const { repository } = from.world
  const doors = store === null ? [repository.door] : [store.door, repository.door]
  const listed = await Promise.all(doors.map((one) => listRefs(one, APPROVALS, LOG_PREFIX)))
  // Archives are the store's own; one among a server's refs would be a pusher's.
  const archived = store === null ? [] : await listArchived(store.door)
  const rows = [...listed.flat(), ...archived.flatMap((entry) => entry.rows), ...arriving.rows]
  const tips = new Map<string, CommitId[]>()
  const note = (id: string, tip: string): void => {
    const known = tips.get(id) ?? []
    if (isObjectId(tip) && !known.includes(commitId(tip))) tips.set(id, [...known, commitId(tip)])
  }
  for (const { id, tip } of archived) note(id, tip)
  for (const { ref, object } of rows)
    if (ref.startsWith(LOG_PREFIX)) note(ref.slice(LOG_PREFIX.length), object)
  const logs = new ApprovalLogs({
    ...from,
    tips,
    landedHere: landedHere({ ...from, guardsAt: arriving.guardsAt ?? null }),
  })
  return ApprovalPool.open({ ...from, rows: rows.filter(({ ref }) => ref.startsWith(APPROVALS)), logs })
}

/** The rules that approvals are held against: a policy, with the list of allowed signers as it stands beside it. */
export function rulesOf(verifier: Verifier, policy: Policy, tree: TreeId | null): ApprovalRules {
  const { world } = verifier
  let signers: ReturnType<typeof findAllowedSigners> | null = null
  const findSigners = () => {
    signers ??= findAllowedSigners(world, policy, tree)
    return signers
  }
  return {
    policy,
    judge: (records, at) => {
      const clock = { ...world.clock, now: () => Date.parse(at) }
      return judgeApprovals({ ...world, clock }, records, policy, tree, findSigners)
    },
  }
}
