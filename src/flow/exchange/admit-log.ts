import { parseCommit } from '../../git/commit.ts'
import type { RefUpdate } from '../../git/refs.ts'
import { eventFault } from '../../intake/foreign-record.ts'
import type { Change, ChangeEvent, Revision } from '../../model/change.ts'
import { applyEvent, foldChange } from '../../model/fold-change.ts'
import type { ChangeId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { fetchedRef, logRef } from '../../store/change-refs.ts'
import {
  appendBehind,
  type ChangeRows,
  expectedMessage,
  type LogEntry,
  readLogPart,
} from '../../store/exchange.ts'
import type { Store } from '../../store/open-store.ts'
import { transitionsOf } from '../check.ts'
import { commitMessage, digestOf } from '../stage.ts'
import type { World } from '../world.ts'

/** Something of a remote that is not let in, and why. */
export interface Dropped {
  readonly ref: string
  /** `branch-moved`: it stands against what is here, by nobody's fault. `stale`: a part of it is not there (yet). */
  readonly code: 'forged' | 'branch-moved' | 'stale'
  readonly reason: string
}

/** What both sides have of one change. */
export interface Sides {
  readonly local: ChangeRows | undefined
  readonly remote: ChangeRows
  /** What `fetchedRef` of the change holds. */
  readonly fetched: string | null
}

/** All that is left of a change of which nothing is let in. */
export type Drop = { readonly kind: 'dropped'; readonly dropped: Dropped }

export const drop = (ref: string, code: Dropped['code'], reason: string): Drop => ({
  kind: 'dropped',
  dropped: { ref, code, reason },
})

export type AdmittedLog =
  | Drop
  | {
      readonly kind: 'log'
      readonly change: Change
      /** `merged`: both sides had added to the log. */
      readonly how: 'new' | 'updated' | 'merged' | 'same'
      readonly updates: readonly RefUpdate[]
    }

/**
 * Decides what the log of a change comes to: the one here, the remote's, or both joined. The remote's events are folded one by one, each held
 * against the objects.
 */
export async function admitLog(
  world: World,
  store: Store,
  { local, remote, fetched }: Sides,
): Promise<AdmittedLog> {
  const reader = await world.reader()
  const { id } = remote
  const ref = logRef(id)
  const own = local?.log ?? null
  const tip = remote.log
  if (tip === null && own === null) return drop(ref, 'stale', 'the remote has no log of the change')
  const mine = own === null ? null : await readLogPart(reader, own, () => false)
  if (mine?.kind === 'refused') return drop(ref, 'stale', `the log that is here: ${mine.reason}`)
  const known = mine?.entries ?? []
  const ids = new Set(known.map((entry) => entry.commit))
  const same = (): AdmittedLog => ({ kind: 'log', change: changeOf(id, known), how: 'same', updates: [] })
  if (tip === null || ids.has(tip)) return same()
  const theirs = await readLogPart(reader, tip, (commit) => ids.has(commit))
  if (theirs.kind === 'refused') return drop(ref, 'forged', theirs.reason)
  if (theirs.above === null && own !== null)
    return drop(ref, 'forged', 'the log has another beginning than the one here')
  const common = known.slice(0, known.findIndex((entry) => entry.commit === theirs.above) + 1)
  const folded = await foldForeign(world, store, id, common, theirs.entries)
  if (typeof folded === 'string') return drop(ref, 'forged', folded)
  const ours = known.slice(common.length)
  const against = conflictOf(ours, theirs.entries)
  if (against !== null) return drop(ref, 'branch-moved', against)
  const merged = await appendBehind(store, folded, { tip, entries: theirs.entries }, ours)
  return {
    kind: 'log',
    change: merged.change,
    how: own === null ? 'new' : ours.length === 0 ? 'updated' : 'merged',
    updates: [
      { ref, expected: own, next: merged.tip },
      { ref: fetchedRef(id), expected: fetched, next: tip },
    ],
  }
}

const changeOf = (id: ChangeId, entries: readonly LogEntry[]): Change =>
  foldChange(
    id,
    entries.map((entry) => entry.event),
  )

/** Two revisions of one number cannot both stand, and what has landed is not revised: a person has to propose one of them anew. */
function conflictOf(ours: readonly LogEntry[], theirs: readonly LogEntry[]): string | null {
  const has = (entries: readonly LogEntry[], ...kinds: readonly ChangeEvent['kind'][]) =>
    entries.some(({ event }) => kinds.includes(event.kind))
  const [revised, settled] = [['staged', 'restaged'] as const, ['landed', 'undone'] as const]
  if (has(ours, ...revised) && has(theirs, ...revised))
    return 'it was revised here and elsewhere at the same time'
  const isBoth =
    (has(ours, ...settled) && has(theirs, ...revised)) || (has(ours, ...revised) && has(theirs, ...settled))
  return isBoth ? 'it landed on one side and was revised on the other' : null
}

/** Folds events of another clone behind those that are here, holding each against the objects. A text = what is wrong. */
async function foldForeign(
  world: World,
  store: Store,
  id: ChangeId,
  common: readonly LogEntry[],
  entries: readonly LogEntry[],
): Promise<Change | string> {
  let change = common.length === 0 ? null : changeOf(id, common)
  for (const entry of entries) {
    const { event } = entry
    const fault = eventFault(event, store.door.objectFormat) ?? timeFault(world, event)
    if (fault !== null) return `the event ${entry.commit}: ${fault}`
    if ((event.kind === 'proposed') !== (change === null))
      return 'the log does not begin with its only proposal'
    if (event.kind === 'proposed' && event.stackedOn === id)
      return `the event ${entry.commit}: it says that the change stands on itself`
    change =
      change === null
        ? foldChange(id, [event])
        : applyEvent({ ...change, log: [...change.log, event] }, event)
    const wrong =
      (await stagedFault(world, store, change, event)) ??
      (await landedFault(world, store, change, event)) ??
      summaryFault(change, entry)
    if (wrong !== null) return `the event ${entry.commit}: ${wrong}`
  }
  return change === null || change.revisions.length === 0 ? 'the log holds no revision' : change
}

const timeFault = (world: World, { at }: ChangeEvent): string | null =>
  Date.parse(at) > world.clock.now() + limits.clockAheadMs ? `it is of the future: ${at}` : null

async function stagedFault(
  world: World,
  store: Store,
  change: Change,
  event: ChangeEvent,
): Promise<string | null> {
  if (event.kind !== 'staged' && event.kind !== 'restaged') return null
  const { revision } = event
  if (revision.number !== change.revisions.length) return `revision ${revision.number} is out of turn`
  const reader = await world.reader()
  const info = await reader.info(revision.commit)
  if (info?.type !== 'commit') return `revision ${revision.number} is no commit that came along`
  const { tree, parents, message } = await parseCommit(reader, revision.commit)
  if (
    tree !== revision.tree ||
    parents.length !== (revision.base === null ? 0 : 1) ||
    (parents[0] ?? null) !== revision.base
  )
    return `revision ${revision.number} is not on the base, or has not the tree, that the log says`
  // What the reviewer reads comes from the log, and what lands from the commit.
  if (message !== commitMessage(change.id, change))
    return `the message of revision ${revision.number} is not that of the change`
  return digestFault(store, revision)
}

/** An undo takes back the commit that the log names: where that is here, it must be what the revision made of its parent. */
async function landedFault(
  world: World,
  store: Store,
  change: Change,
  event: ChangeEvent,
): Promise<string | null> {
  if (event.kind !== 'landed' || event.again !== undefined) return null
  const reader = await world.reader()
  const { after } = event.landing
  const info = await reader.info(after)
  if (info === null) return null
  const digest = change.revisions[event.revision - 1]?.digest
  const parents = info.type === 'commit' ? (await parseCommit(reader, after)).parents : []
  const found =
    info.type === 'commit' ? digestOf(await transitionsOf(store, parents[0] ?? null, after)) : null
  return found === digest ? null : `${after} is not what became of revision ${event.revision}`
}

async function digestFault(store: Store, revision: Revision): Promise<string | null> {
  const found = digestOf(await transitionsOf(store, revision.base, revision.commit))
  return found === revision.digest && digestOf(revision.manifest) === found
    ? null
    : `revision ${revision.number} holds other bytes than the log says`
}

/** The message of a log's commit is shown in lists: it must say what the fold says. A newer galley may say more. */
function summaryFault(change: Change, entry: LogEntry): string | null {
  const [subject, ...rest] = entry.message.split('\n\n')
  const [expectedSubject, ...expectedRest] = expectedMessage(change, entry).split('\n\n')
  const [found, expected] = [membersOf(rest.join('\n\n')), membersOf(expectedRest.join('\n\n'))]
  const isSame =
    subject === expectedSubject &&
    found !== null &&
    Object.entries(expected ?? {}).every(([key, value]) => found[key] === value)
  return isSame ? null : 'its summary is not what it comes to'
}

function membersOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
