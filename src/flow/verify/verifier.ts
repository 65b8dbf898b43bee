import { join } from 'node:path'
import type { GitDoor } from '../../git/door.ts'
import { type ObjectReader, openObjectReader } from '../../git/objects.ts'
import { listRefs, type RefRow } from '../../git/refs.ts'
import { makeMergePlace, objectDirectories } from '../../git/remerge.ts'
import type { TreeId } from '../../model/ids.ts'
import type { Policy } from '../../model/policy.ts'
import { listArchived } from '../../store/archive.ts'
import { findStore } from '../../store/open-store.ts'
import { findAllowedSigners, judgeApprovals } from '../verify-approval.ts'
import type { World } from '../world.ts'
import { ApprovalPool, type ApprovalRules } from './approval-pool.ts'

export const APPROVALS = 'refs/galley/approvals/'

/** Reads objects and approvals of a repository, whether it has a store (a clone) or keeps `refs/galley/*` itself (a server). */
export interface Verifier {
  /** Its reader does not make a store. */
  readonly world: World
  readonly door: GitDoor
  readonly reader: ObjectReader
  readonly pool: () => Promise<ApprovalPool>
  /** A repository to merge in, in an empty directory that the caller removes. */
  readonly mergePlace: (directory: string) => Promise<GitDoor>
  readonly close: () => Promise<void>
}

/**
 * Opens what a verifier reads. Leaves nothing and makes nothing: no store, no object, no ref.
 *
 * @param arriving - For a hook of a server: where the pushed objects are kept until the push is taken, and approvals that come with it.
 */
export async function openVerifier(
  world: World,
  arriving: { readonly objects: string | null; readonly rows: readonly RefRow[] } = {
    objects: null,
    rows: [],
  },
): Promise<Verifier> {
  const { repository } = world
  const store = await findStore(repository)
  const base = store?.door ?? repository.door
  const incoming = arriving.objects === null ? [] : [arriving.objects]
  const extraEnv = {
    ...base.extraEnv,
    ...(incoming.length === 0 ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDirectories(incoming) }),
  }
  const door: GitDoor = { ...base, extraEnv }
  const reader = openObjectReader(door)
  const listRows = async (): Promise<readonly RefRow[]> => {
    const doors = store === null ? [repository.door] : [store.door, repository.door]
    const rows = await Promise.all(doors.map((one) => listRefs(one, APPROVALS)))
    // Archives are the store's own; one among a server's refs would be a pusher's.
    const archived = store === null ? [] : await listArchived(store.door)
    const folded = archived.flatMap((entry) => entry.rows.filter((row) => row.ref.startsWith(APPROVALS)))
    return [...rows.flat(), ...folded, ...arriving.rows]
  }
  let pool: Promise<ApprovalPool> | null = null
  const objects = [join(repository.commonDir, 'objects'), ...incoming].concat(
    store === null ? [] : [join(store.door.gitDir, 'objects')],
  )
  return {
    world: { ...world, reader: async () => reader },
    door,
    reader,
    pool: () => {
      pool ??= listRows().then((rows) => ApprovalPool.open({ door, reader, rows }))
      return pool
    },
    mergePlace: (directory) => makeMergePlace(base, directory, objects),
    close: () => reader.close(),
  }
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
