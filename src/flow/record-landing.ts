import { findRelation } from '../git/ancestry.ts'
import { parseCommit } from '../git/commit.ts'
import { updateRefs } from '../git/refs.ts'
import { takenRemark } from '../landing/backup.ts'
import { isPending, type Landing } from '../model/change.ts'
import { asSystemRefusal } from '../model/errno.ts'
import { GalleyError, refuse } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import { nameAndEmail } from '../model/person.ts'
import type { LoggedChange } from '../store/change-log.ts'
import { landingRef, logRef } from '../store/change-refs.ts'
import type { Store } from '../store/open-store.ts'
import { type ChangeView, viewChange } from './change-view.ts'
import { currentRevision } from './check.ts'
import { findDestination } from './follow-branch.ts'
import { keptFiles } from './kept-files.ts'
import { recordWithMarks } from './mark-undone.ts'
import { refreshSession } from './refresh-session.ts'
import { retireTrees } from './retire-trees.ts'
import type { World } from './world.ts'

export interface Recorded {
  readonly change: ChangeView
  readonly landed: Landing
  readonly remarks: readonly string[]
}

/** Says which commit is about to land, so that a kill between the landing and its log event can be told. */
export async function rememberLanding(store: Store, logged: LoggedChange, after: CommitId): Promise<void> {
  const { id } = logged.change
  // The log must be where it was read: what lands is what was decided on.
  const updates = [
    { ref: landingRef(id), expected: logged.refs.landing, next: after },
    { ref: logRef(id), expected: logged.tip, next: logged.tip },
  ]
  if (await updateRefs(store.door, updates, 'galley: landing')) return
  refuse('busy', `another process is landing ${id}`, { id })
}

/** A landing that was killed after the branch moved is in the branch already: only its event is missing. */
export async function finishRecorded(
  world: World,
  store: Store,
  logged: LoggedChange,
): Promise<Recorded | null> {
  const after = logged.refs.landing
  if (after === null || !isPending(logged.change.state)) return null
  const place = await findDestination(world, logged, undefined).catch(goneAsNull)
  if (place === null) return null
  const { tip } = place
  const { change } = place.logged
  if (tip === null || (await findRelation(store.door, after, tip)) === 'unrelated') return null
  const { parents } = await parseCommit(await world.reader(), after)
  const landing: Landing = { ref: change.onto, before: parents[0] ?? null, after }
  const recorded = await recordLanding(world, store, logged, landing)
  const kept = (await keptFiles(world, store, change)).flatMap(({ path, command }) =>
    command === null ? [] : [takenRemark(path, 'the file as it was', command)],
  )
  const remarks = ['the landing had been interrupted after the branch moved', ...kept, ...recorded.remarks]
  return { ...recorded, remarks }
}

function goneAsNull(error: unknown): null {
  if (error instanceof GalleyError && error.code === 'branch-moved') return null
  throw error
}

export async function recordLanding(
  world: World,
  store: Store,
  logged: LoggedChange,
  landing: Landing,
): Promise<Recorded> {
  const identity = await world.identity()
  const event = {
    kind: 'landed',
    at: world.now(),
    by: nameAndEmail(identity),
    revision: currentRevision(logged).number,
    landing,
  } as const
  const done = await recordWithMarks(world, store, logged, event, identity)
  const { id } = done.change
  // The branch has moved: whatever goes wrong from here on is said, and refuses nothing any more.
  const remarks = [
    ...(await afterwards('the session of the agent could not be renewed', async () => {
      await refreshSession(world, store, done.change)
      return []
    })),
    ...(await afterwards('the scratch tree could not be removed', () => retireTrees(world, store, id))),
  ]
  world.log.note('landed', { change: id, ref: landing.ref, after: landing.after })
  return { change: viewChange(done.change), landed: landing, remarks }
}

/**
 * As `recordLanding`, where the branch has just moved: that the log cannot be written is said, and refuses nothing. The next command that writes
 * finds it, and writes it down.
 */
export async function recordOrTell(
  world: World,
  store: Store,
  logged: LoggedChange,
  landing: Landing,
): Promise<Recorded> {
  try {
    return await recordLanding(world, store, logged, landing)
  } catch (error) {
    const refusal = asSystemRefusal(error)
    if (!(refusal instanceof GalleyError) || refusal.code === 'internal') throw error
    world.noteFailure()
    const change: ChangeView = { ...viewChange(logged.change), state: 'landed', landed: landing }
    const why = `${refusal.message} (${refusal.code})`
    return { change, landed: landing, remarks: [`it has landed, and its log does not say so yet: ${why}`] }
  }
}

async function afterwards(what: string, task: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await task()
  } catch (error) {
    return [`${what}: ${error instanceof Error ? error.message : String(error)}`]
  }
}
