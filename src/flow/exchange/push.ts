import { listRemoteRefs, type PushOutcome, pushRefs, type RemoteUpdate } from '../../git/exchange.ts'
import type { RefRow } from '../../git/refs.ts'
import type { TransportOptions } from '../../git/transport.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import type { ChangeId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import {
  byChange,
  EXCHANGE_PATTERNS,
  isExchangedPlace,
  listExchanged,
  planChangePush,
  readExchangedRef,
  refInTheWay,
} from '../../store/exchange.ts'
import type { Store } from '../../store/open-store.ts'
import { finishInterrupted } from '../recover.ts'
import type { World } from '../world.ts'
import { type BranchPush, openBranchPush } from './push-branch.ts'
import { openRemote, type RemoteSide } from './remote-side.ts'
import { findWithheld, isRejected } from './withheld.ts'

export type { TransportOptions }

export interface PushRequest extends TransportOptions {
  /** A remote of the configuration, a URL or a path. Default: the one that git would push to. */
  readonly remote?: string
  /** A branch to push in one transaction with the changes whose commits it brings. */
  readonly withBranch?: string
  /** Moves with the branch, in the same transaction. */
  readonly along?: readonly RemoteUpdate[]
}

export interface Pushed {
  readonly remote: string
  /** Refs that were made or moved on the remote. */
  readonly pushed: readonly { readonly ref: string; readonly object: string }[]
  /** The changes that they belong to. */
  readonly changes: readonly ChangeId[]
  /** Rejected before the remote had anything of them, or standing on such a change: nothing of these was sent. */
  readonly withheld: readonly ChangeId[]
  readonly branch: { readonly ref: string; readonly before: string | null; readonly after: string } | null
}

/** A change that could not be pushed. `barred`: by a ref that no galley made. */
interface Behind {
  readonly kind: 'behind' | 'parted' | 'barred'
  readonly id: ChangeId
  readonly reason: string
  /** Of a barred one: the ref in its way. */
  readonly by?: string
}

/**
 * Gives the store's changes, approvals and logs to a remote. Revisions and approvals are created there and never overwritten; a log moves
 * forward only, each by a lease on what the remote holds. With a branch, its commits and the refs of their changes move in one
 * transaction or not at all, and the rest follows.
 *
 * Of a change that was rejected before the remote had it, nothing is sent, and nothing of what stands on it (`findWithheld`).
 *
 * Whoever lost a race looks again and goes on. What the remote has beyond this store is not touched.
 *
 * @throws GalleyError `branch-moved`, naming the changes that the remote has more of: everything else has been pushed by then, and
 * `galley fetch` takes theirs in; `hook-refused`, when the server said no; `not-found`, `io-error`, `stale`.
 */
export async function pushChanges(world: World, request: PushRequest): Promise<Pushed> {
  await finishInterrupted(world)
  const store = await world.store()
  const side = await openRemote(world, store, { ...request, direction: 'push' })
  const branch =
    request.withBranch === undefined ? null : await openBranchPush(world, side, request.withBranch)
  const along = request.along ?? []
  const first = branch === null ? [] : await pushWithBranch(world, store, side, { branch, along })
  const rest = await pushRest(world, store, side)
  const pushed = [...first, ...rest.pushed].map(({ ref, next }) => ({ ref, object: next }))
  const ids = [...new Set(pushed.flatMap(({ ref }) => readExchangedRef(ref)?.id ?? []))]
  world.log.note('pushed', { remote: side.name, refs: pushed.length, behind: rest.behind.length })
  const moved = branch === null ? null : { ref: branch.ref, before: branch.before, after: branch.after }
  if (rest.behind.length > 0) refuseBehind(side, rest.behind, { pushed, branch: moved })
  return { remote: side.name, pushed, changes: ids, withheld: [...rest.withheld], branch: moved }
}

interface Plan {
  readonly updates: readonly RemoteUpdate[]
  readonly behind: readonly Behind[]
  readonly withheld: ReadonlySet<ChangeId>
}

/** What is to be set on the remote as it stands now, for some changes or all. */
async function plan(
  world: World,
  store: Store,
  remoteRows: readonly RefRow[],
  only: ReadonlySet<ChangeId> | null,
): Promise<Plan> {
  const reader = await world.reader()
  const { changes: remote, foreign } = byChange(remoteRows)
  const inTheWay = refInTheWay(foreign)
  const updates: RemoteUpdate[] = []
  const behind: Behind[] = []
  const ours = byChange(await listExchanged(store)).changes
  const withheld = new Set(await findWithheld(reader, ours, remote))
  for (const local of ours.values()) {
    const { id } = local
    if (withheld.has(id) || (only !== null && !only.has(id))) continue
    const push = await planChangePush(reader, local, remote.get(id))
    const by = push.kind === 'ready' ? firstOf(push.updates, ({ ref }) => inTheWay(ref)) : null
    if (by !== null) behind.push({ kind: 'barred', id, reason: `the remote has a ref ${by} in its way`, by })
    else if (push.kind === 'ready') updates.push(...push.updates)
    // Given up here, and another elsewhere: neither side has anything to say to the other.
    else if (push.kind === 'parted' && (await isRejected(reader, local))) withheld.add(id)
    else behind.push(push)
  }
  return { updates, behind, withheld }
}

function firstOf<T, U>(items: readonly T[], find: (item: T) => U | null): U | null {
  for (const item of items) {
    const found = find(item)
    if (found !== null) return found
  }
  return null
}

async function listGalleyRefs(side: RemoteSide): Promise<readonly RefRow[]> {
  return (await listRemoteRefs(side.transport, EXCHANGE_PATTERNS, isExchangedPlace)).rows
}

/** Pushes until nothing is left to push, looking again where a race was lost. */
async function pushRest(
  world: World,
  store: Store,
  side: RemoteSide,
): Promise<Omit<Plan, 'updates'> & { readonly pushed: readonly RemoteUpdate[] }> {
  const pushed: RemoteUpdate[] = []
  for (let tries = 1; ; tries++) {
    const { updates, behind, withheld } = await plan(world, store, await listGalleyRefs(side), null)
    const outcomes = await pushInParts(side, updates)
    pushed.push(...updates.filter(({ ref }) => outcomes.some((o) => o.ref === ref && o.kind === 'done')))
    refuseRefused(side, outcomes, pushed)
    const lost = outcomes.filter((outcome) => outcome.kind === 'moved')
    if (lost.length === 0) return { pushed, behind, withheld }
    if (tries >= limits.exchangeTries)
      return { pushed, behind: [...behind, ...lost.flatMap(lostAsBehind)], withheld }
    await pause(world, tries)
  }
}

const lostAsBehind = (outcome: PushOutcome): readonly Behind[] => {
  const id = readExchangedRef(outcome.ref)?.id
  return id === undefined ? [] : [{ kind: 'behind', id, reason: 'others keep moving it on the remote' }]
}

async function pushInParts(
  side: RemoteSide,
  updates: readonly RemoteUpdate[],
): Promise<readonly PushOutcome[]> {
  const outcomes: PushOutcome[] = []
  for (let at = 0; at < updates.length; at += limits.exchangeRefsAtOnce) {
    const part = updates.slice(at, at + limits.exchangeRefsAtOnce)
    outcomes.push(...(await pushRefs(side.transport, part, false)))
  }
  return outcomes
}

/** Waiters must not stay in step. */
const pause = (world: World, tries: number): Promise<void> =>
  world.clock.sleep(tries * 10 + (world.clock.random(1)[0] ?? 0) / 4)

/** The branch and the refs of the changes whose commits it brings: one transaction. */
async function pushWithBranch(
  world: World,
  store: Store,
  side: RemoteSide,
  { branch, along }: { readonly branch: BranchPush; readonly along: readonly RemoteUpdate[] },
): Promise<readonly RemoteUpdate[]> {
  await branch.askHook()
  for (let tries = 1; ; tries++) {
    const { updates, behind } = await plan(world, store, await listGalleyRefs(side), branch.changes)
    if (behind.length > 0) refuseBehind(side, behind, { pushed: [], branch: null })
    const all = [...updates, ...branch.updates, ...along]
    const outcomes = await pushRefs(side.transport, all, true)
    refuseRefused(side, outcomes, [])
    const lost = outcomes.filter((outcome) => outcome.kind === 'moved')
    if (lost.length === 0) return updates
    const fixed = [branch.ref, ...along.map(({ ref }) => ref)]
    const isBranch = lost.some((one) => fixed.includes(one.ref) && !one.reason.includes('atomic'))
    if (isBranch || tries >= limits.exchangeTries) {
      refuse(
        'branch-moved',
        `${branch.ref} was not pushed to ${side.name}: ${lost[0]?.reason ?? ''}`,
        { ref: branch.ref, expected: branch.before, lost },
        'Somebody pushed at the same time. Push again: the answer says then what brings the branch onto theirs.',
      )
    }
    await pause(world, tries)
  }
}

function refuseRefused(
  side: RemoteSide,
  outcomes: readonly PushOutcome[],
  pushed: readonly RemoteUpdate[],
): void {
  const refused = outcomes.filter((outcome) => outcome.kind === 'refused')
  const [first] = refused
  if (first === undefined) return
  refuse(
    'hook-refused',
    `${side.name} refused ${first.ref}: ${first.reason}`,
    { remote: side.name, refused, pushed: pushed.map(({ ref, next }) => ({ ref, object: next })) },
    'The server decides which refs it takes; its administrator may allow refs/galley/*.',
  )
}

function refuseBehind(
  side: RemoteSide,
  behind: readonly Behind[],
  done: Pick<Pushed, 'pushed' | 'branch'>,
): never {
  // A fetch helps with those alone; whoever has made it sees what is left.
  const first = behind.find(({ kind }) => kind === 'behind') ?? behind[0]
  const more = behind.length > 1 ? ` (and ${behind.length - 1} more)` : ''
  const { kind = 'behind', id = null, reason = '', by = '' } = first ?? {}
  const { branch } = done
  const went = branch !== null && branch.before !== branch.after ? `; ${branch.ref} was pushed` : ''
  throw new GalleyError({
    code: kind === 'barred' ? 'exists' : 'branch-moved',
    message: `${id ?? ''}${more} was not pushed to ${side.name}: ${reason}${went}`,
    data: { remote: side.name, id, behind, ...done },
    hint: {
      behind: 'Run `galley fetch`, which keeps the events of both sides, then push again.',
      parted:
        'It was revised here and elsewhere at once. Reject the revision here (`galley reject <id>`), and propose it anew if it is still wanted; then push again.',
      barred: `No galley made that ref. Delete it (\`git push ${side.name} :${by}\`), then push again.`,
    }[kind],
  })
}
