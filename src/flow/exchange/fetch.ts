import { CHECKED_FETCH, fetchObjects, listRemoteRefs, type RemoteRefs } from '../../git/exchange.ts'
import { type RefRow, updateRefs } from '../../git/refs.ts'
import type { Transport, TransportOptions } from '../../git/transport.ts'
import { GalleyError } from '../../model/error.ts'
import type { ChangeId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { fetchedRef, logRef, readChangeRefs } from '../../store/change-refs.ts'
import {
  byChange,
  type ChangeRows,
  EXCHANGE_PATTERNS,
  listExchanged,
  readExchangedRef,
  restoring,
} from '../../store/exchange.ts'
import type { Store } from '../../store/open-store.ts'
import { keepRevision } from '../../store/revision-objects.ts'
import { type ChangeView, viewChange } from '../change-view.ts'
import { finishInterrupted } from '../recover.ts'
import type { World } from '../world.ts'
import { type Admission, admitChange } from './admit-change.ts'
import type { Dropped } from './admit-log.ts'
import { openRemote } from './remote-side.ts'

export interface FetchRequest extends TransportOptions {
  /** A remote of the configuration, a URL or a path. Default: the one that git would fetch from. */
  readonly remote?: string
}

export interface FetchedChange {
  readonly id: ChangeId
  /** `merged`: both sides had added to its log; push it, so that the others see the same. */
  readonly how: 'new' | 'updated' | 'merged' | 'same'
  /** Approvals that came. */
  readonly approvals: number
  readonly change: ChangeView
}

export interface Fetched {
  readonly remote: string
  /** Those of which something came. */
  readonly changes: readonly FetchedChange[]
  /** What is on the remote and was not let in. */
  readonly dropped: readonly Dropped[]
}

/**
 * Takes changes, approvals and logs from a remote into the store.
 *
 * What comes is anybody's: it is held against its objects first, and what does not stand up to them is dropped and reported. A ref that is
 * here is never set to another value; where both sides added to a log, every event of both is kept. Leaves the
 * user's repository as it is.
 *
 * @throws GalleyError `not-found`, for an unknown remote; `io-error`, if it cannot be reached; `too-large`.
 */
export async function fetchChanges(world: World, request: FetchRequest): Promise<Fetched> {
  await finishInterrupted(world)
  const store = await world.store()
  const side = await openRemote(world, store, { ...request, direction: 'fetch', settings: CHECKED_FETCH })
  const listed = await listRemoteRefs(
    side.transport,
    EXCHANGE_PATTERNS,
    (ref) => readExchangedRef(ref) !== null,
  )
  const { changes: remote } = byChange(listed.rows)
  const here = new Map((await listExchanged(store)).map((row) => [row.ref, row.object]))
  const differing = [...remote.values()].filter((change) =>
    rowsOf(change).some((row) => here.get(row.ref) !== row.object),
  )
  // Without a log there is nothing to let in. Anybody can make such refs by the thousand: none costs a process.
  const isWanted = ({ id, log }: ChangeRows) => log !== null || here.has(logRef(id))
  const wanted = differing.filter(isWanted)
  const logless = differing.filter((change) => !isWanted(change))
  const missing = wanted.flatMap(rowsOf).filter((row) => here.get(row.ref) !== row.object)
  const broken = await fetchAll(world, side.transport, missing)
  const changes: FetchedChange[] = []
  const dropped: Dropped[] = [...passedOver(listed), ...withoutLog(logless), ...broken]
  for (const change of wanted) {
    const admission = await admit(world, store, change)
    dropped.push(...admission.dropped)
    if (admission.change === null || admission.updates.length === 0) continue
    const { how, approvals } = admission
    changes.push({ id: change.id, how, approvals, change: viewChange(admission.change) })
  }
  world.log.note('fetched', { remote: side.name, changes: changes.length, dropped: dropped.length })
  return { remote: side.name, changes, dropped }
}

const GIVEN_TO_NOTHING = 'galley gives no ref this name'

/** Refs that are none of galley's: a few by name, the others as a number. */
function passedOver({ others, otherCount }: RemoteRefs): readonly Dropped[] {
  const named = others.map(({ ref }): Dropped => ({ ref, code: 'forged', reason: GIVEN_TO_NOTHING }))
  const more = otherCount - others.length
  return more === 0
    ? named
    : [
        ...named,
        { ref: 'refs/galley/', code: 'forged', reason: `${GIVEN_TO_NOTHING}: ${more} more like these` },
      ]
}

function withoutLog(changes: readonly ChangeRows[]): readonly Dropped[] {
  const shown = changes.slice(0, limits.exchangeForeignShown)
  const named = shown.map(
    (change): Dropped => ({
      ref: rowsOf(change)[0]?.ref ?? logRef(change.id),
      code: 'stale',
      reason: 'the remote has no log of the change',
    }),
  )
  const more = changes.length - shown.length
  return more === 0
    ? named
    : [
        ...named,
        { ref: 'refs/galley/log/', code: 'stale', reason: `the remote has no log of ${more} more changes` },
      ]
}

/** Every ref of a change that the remote lists. */
const rowsOf = (change: ChangeRows): readonly RefRow[] => [
  ...change.revisions.values(),
  ...change.approvals,
  ...(change.log === null ? [] : [{ ref: `refs/galley/log/${change.id}`, object: change.log }]),
]

/**
 * Fetches the objects of refs, some at a time. Where git refuses a pack, its refs are asked for by halves, so that one broken object keeps
 * no other from coming.
 *
 * @returns The refs whose objects do not come.
 */
async function fetchAll(
  world: World,
  transport: Transport,
  rows: readonly RefRow[],
): Promise<readonly Dropped[]> {
  const reader = await world.reader()
  const known = await Promise.all(rows.map(({ object }) => reader.info(object)))
  const missing = rows.filter((_, i) => known[i] === null)
  const dropped: Dropped[] = []
  for (let at = 0; at < missing.length; at += limits.exchangeRefsAtOnce) {
    dropped.push(...(await fetchSome(transport, missing.slice(at, at + limits.exchangeRefsAtOnce))))
  }
  return dropped
}

async function fetchSome(transport: Transport, rows: readonly RefRow[]): Promise<readonly Dropped[]> {
  try {
    await fetchObjects(
      transport,
      rows.map((row) => row.ref),
    )
    return []
  } catch (error) {
    if (!(error instanceof GalleyError) || !isAboutObjects(error)) throw error
    const [only] = rows
    if (rows.length === 1 && only !== undefined) {
      return [{ ref: only.ref, code: 'forged', reason: error.message.slice(0, 400) }]
    }
    const half = Math.ceil(rows.length / 2)
    return [
      ...(await fetchSome(transport, rows.slice(0, half))),
      ...(await fetchSome(transport, rows.slice(half))),
    ]
  }
}

/** git's words where the remote was reached and what it sent, or no longer has, is the matter. */
const isAboutObjects = (error: GalleyError): boolean =>
  /fsck|index-pack|unpack-objects|couldn't find remote ref|not our ref|did not send all necessary objects|bad object/i.test(
    String(error.data['said']),
  )

/** Decides on one change and moves its refs; once more from what then stands, when another process was at it. */
async function admit(world: World, store: Store, remote: ChangeRows): Promise<Admission> {
  for (let tries = 1; ; tries++) {
    const refs = await readChangeRefs(store, remote.id)
    const fetched = refs.rows.find((row) => row.ref === fetchedRef(remote.id))?.object ?? null
    const local = byChange(refs.rows).changes.get(remote.id)
    const admission = await admitChange(world, store, { local, remote, fetched })
    if (admission.updates.length === 0) return admission
    for (const revision of admission.change?.revisions ?? [])
      await keepRevision(store, await world.reader(), revision)
    const updates = restoring(remote.id, refs, admission.updates)
    if (await updateRefs(store.door, updates, 'galley: fetched')) return admission
    if (tries < limits.exchangeTries) continue
    const reason = 'other processes keep changing it here'
    return {
      ...admission,
      change: null,
      updates: [],
      dropped: [{ ref: `refs/galley/log/${remote.id}`, code: 'stale', reason }],
    }
  }
}
