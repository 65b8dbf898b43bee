import { dialectFor } from '../../dialects/registry.ts'
import { findRelation } from '../../git/ancestry.ts'
import { listRefs, resolveCommit } from '../../git/refs.ts'
import type { CallKind } from '../../model/call.ts'
import { isPending } from '../../model/change.ts'
import { refuse } from '../../model/error.ts'
import { type CommitId, commitId } from '../../model/ids.ts'
import { findByRef, keyRef } from '../../store/batch-keys.ts'
import type { Store } from '../../store/open-store.ts'
import type { OutcomeEntry } from '../../store/sessions.ts'
import { type CallJournal, type CallRecord, callsOf, openCallJournal } from '../../store/turns.ts'
import { livenessOf, ownIdentity } from '../../sys/process-identity.ts'
import { land } from '../land/land.ts'
import { loadChange } from '../logged-change.ts'
import { finishInterrupted } from '../recover.ts'
import { reject } from '../reject.ts'
import type { World } from '../world.ts'
import { compareCallFiles } from './call-files.ts'

/** Calls that this process runs right now, by id. */
const running = new Set<string>()

/** Runs a call so that nobody takes it for one that was killed. */
export async function whileRunning<T>(call: string, task: () => Promise<T>): Promise<T> {
  running.add(call)
  try {
    return await task()
  } finally {
    running.delete(call)
  }
}

/** A call that had been killed, and what its state was found to be. */
export interface SettledCall {
  readonly call: string
  readonly tool: string
  readonly kind: CallKind
  readonly text: string
}

/**
 * Decides every call of the session that was killed before its outcome was recorded, by comparing the files with what
 * they were before it and would be after it. Nothing is done again.
 *
 * As after: completed. As before: not done, which is `failed`. Neither: `unknown`, until someone acknowledges it.
 * Records each outcome; a second run finds nothing left to decide.
 */
export async function settleCalls(
  world: World,
  store: Store,
  journal: CallJournal,
): Promise<readonly SettledCall[]> {
  const settled: SettledCall[] = []
  for (const record of callsOf(journal.entries()).calls) {
    if (record.outcome !== null || runsStill(record)) continue
    const outcome = await decide(world, store, journal.session, record)
    await journal.append(outcome)
    settled.push({ call: outcome.call, tool: record.entry.tool, kind: outcome.outcome, text: outcome.text })
  }
  return settled
}

/** A call on another host or in another container cannot be judged from here. */
function runsStill({ entry }: CallRecord): boolean {
  const own = ownIdentity()
  const isOwn = entry.process.pid === own.pid && entry.process.startTime === own.startTime
  return isOwn ? running.has(entry.call) : livenessOf(entry.process) !== 'dead'
}

async function decide(
  world: World,
  store: Store,
  session: string,
  record: CallRecord,
): Promise<OutcomeEntry> {
  const { entry, start } = record
  const change = start === null ? await keyedChange(world, store, session, entry.call) : start.change
  const outcome = (kind: CallKind, text: string): OutcomeEntry => ({
    kind: 'outcome',
    at: world.now(),
    call: entry.call,
    outcome: kind,
    text,
    change,
  })
  if (start === null || start.files.length === 0) {
    await withdraw(world, store, record, change)
    return outcome('failed', 'The call was interrupted before it was begun; nothing was written.')
  }
  const state = await compareCallFiles(world, start.files)
  if (state === 'after' || (change !== null && (await hasLanded(world, store, change)))) {
    if (change !== null) await finishLanding(world, store, change)
    return outcome('completed', 'The call was interrupted after it had taken effect.')
  }
  await withdraw(world, store, record, change)
  if (state === 'before')
    return outcome('failed', 'The call was interrupted and not executed; nothing was written.')
  const paths = start.files.map((file) => file.path).join(', ')
  return outcome(
    'unknown',
    `The call was interrupted and may or may not have taken effect: ${paths} is neither as before nor as after it. Read it before going on; the call is not repeated.`,
  )
}

/** The change of a call that is staged under its own key: known before the call begins. */
async function keyedChange(
  world: World,
  store: Store,
  session: string,
  call: string,
): Promise<string | null> {
  return (await findByRef(store, await world.reader(), keyRef(session, call)))?.id ?? null
}

const hasLanded = async (world: World, store: Store, change: string): Promise<boolean> =>
  ['landed', 'undone'].includes((await loadChange(world, store, change)).change.state)

/** Records a landing whose event is missing, where the branch holds the commit already. Never lands anything. */
async function finishLanding(world: World, store: Store, id: string): Promise<void> {
  const { change } = await loadChange(world, store, id)
  if (change.state !== 'approved') return
  const [row] = await listRefs(store.door, `refs/galley/landing/${change.id}`)
  const tip: CommitId | null =
    row === undefined ? null : await resolveCommit(world.repository.door, change.onto)
  if (row === undefined || tip === null) return
  if ((await findRelation(store.door, commitId(row.object), tip)) === 'unrelated') return
  await land(world, { id: change.id })
}

/** An approval that holds for one call alone ends with the call. */
async function withdraw(world: World, store: Store, { entry }: CallRecord, id: string | null): Promise<void> {
  const isBound = entry.dialect !== null && dialectFor(entry.dialect)?.profile.bindsFile === true
  if (id === null || !isBound) return
  const { change } = await loadChange(world, store, id)
  if (isPending(change.state))
    await reject(world, { id, reason: 'the call that asked for it was interrupted' })
}

/**
 * Acknowledges a call whose state is unknown, so that the session may go on. Durable; doing it again changes nothing.
 *
 * @throws GalleyError `wrong-state`, if the session has no such call or its outcome is known.
 */
export async function acknowledgeCall(
  world: World,
  request: { readonly session: string; readonly call: string },
): Promise<{ readonly call: string; readonly repeated: boolean }> {
  const store = await world.store()
  await finishInterrupted(world)
  const journal = await openCallJournal(store, request.session)
  await settleCalls(world, store, journal)
  const record = callsOf(journal.entries()).calls.find(({ entry }) => entry.call === request.call)
  if (record?.outcome?.outcome !== 'unknown') {
    const found =
      record === undefined
        ? 'the session has no such call'
        : `its outcome is ${record.outcome?.outcome ?? 'not there yet'}`
    refuse('wrong-state', `acknowledge ${JSON.stringify(request.call.slice(0, 40))}: ${found}`, {
      call: request.call.slice(0, 40),
    })
  }
  if (!record.isAcknowledged) {
    await journal.append({ kind: 'acknowledged', at: world.now(), call: request.call })
  }
  return { call: request.call, repeated: record.isAcknowledged }
}
