import { parseCommit } from '../git/commit.ts'
import type { Change, ChangeEvent, Landing } from '../model/change.ts'
import { refuse } from '../model/error.ts'
import { type ChangeId, type CommitId, changeId, isChangeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { appendToLogs, type LoggedChange, readLog } from '../store/change-log.ts'
import { readChangeRefs } from '../store/change-refs.ts'
import type { Store } from '../store/open-store.ts'
import { loadChange } from './logged-change.ts'
import type { World } from './world.ts'

/**
 * The change that a commit's message says it came from; null where it names none. The last such line counts: galley's own
 * trailers end the message, and what stands before them is an agent's text.
 */
export function changeIdIn(message: string): ChangeId | null {
  const id = [...message.matchAll(/^Galley-Change: (g[0-9a-z]{9})$/gm)].at(-1)?.[1] ?? ''
  return isChangeId(id) ? changeId(id) : null
}

/** The change that a commit says it came from; null for a commit that is not galley's. */
export async function changeOfCommit(world: World, store: Store, commit: CommitId): Promise<Change | null> {
  return (await loggedOfCommit(world, store, commit))?.change ?? null
}

async function loggedOfCommit(world: World, store: Store, commit: CommitId): Promise<LoggedChange | null> {
  const reader = await world.reader()
  const id = changeIdIn((await parseCommit(reader, commit)).message)
  if (id === null) return null
  const refs = await readChangeRefs(store, id)
  return refs.log === null ? null : { change: await readLog(reader, id, refs.log), tip: refs.log, refs }
}

/** Another process may append to one of the logs meanwhile; then all is read again. */
const ATTEMPTS = 5

/**
 * Records a landing, and in the same transaction what it means for other changes: those that it took back are undone, and those
 * whose undo it took back stand again by its commit.
 *
 * @throws GalleyError `busy`, if other processes kept changing the logs.
 */
export async function recordWithMarks(
  world: World,
  store: Store,
  logged: LoggedChange,
  event: Extract<ChangeEvent, { kind: 'landed' }>,
  who: Person,
): Promise<LoggedChange> {
  let current = logged
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const marks = await findMarks(world, store, current.change, event)
    const appends = marks.map((mark) => ({ logged: mark.logged, records: [{ event: mark.event }] }))
    const done = await appendToLogs(store, [{ logged: current, records: [{ event }] }, ...appends], who)
    if (done?.[0] !== undefined) return done[0]
    current = await loadChange(world, store, logged.change.id)
  }
  const { id } = logged.change
  refuse('busy', `other processes kept changing ${id} or what it takes back`, { id })
}

interface Mark {
  readonly logged: LoggedChange
  readonly event: ChangeEvent
}

/** A change that stands again, or that does not stand any more, because of what happened to another. */
interface Turn {
  readonly commit: CommitId
  readonly stands: boolean
  readonly isPart: boolean
  /** Whose standing decides: the undo that is taken back. */
  readonly undo: ChangeId
  /** Whether the landing brings back this change and no other: then it stands by that commit. */
  readonly isAlone: boolean
}

async function findMarks(
  world: World,
  store: Store,
  landed: Change,
  event: Extract<ChangeEvent, { kind: 'landed' }>,
): Promise<readonly Mark[]> {
  const marks: Mark[] = []
  const seen = new Set<ChangeId>([landed.id])
  const turns = turnsOf(landed, true)
  for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
    const logged = await loggedOfCommit(world, store, turn.commit)
    if (logged === null || seen.has(logged.change.id) || !isMeant(logged.change, turn.commit, event.landing))
      continue
    seen.add(logged.change.id)
    const mark = markOf(logged.change, turn, { event, by: landed.id })
    if (mark !== null) marks.push({ logged, event: mark })
    // What a part of an undo brings back is a part of each: that is left to the reader of its diff.
    if (!turn.isPart) turns.push(...turnsOf(logged.change, turn.stands))
  }
  return marks
}

/** What follows for others when a change stands, or does not stand any more. */
function turnsOf(change: Change, stands: boolean): Turn[] {
  const turn = (commit: CommitId, rest: Pick<Turn, 'stands' | 'isPart' | 'isAlone'>): Turn => ({
    commit,
    undo: change.id,
    ...rest,
  })
  const isAlone = change.undoes.length + change.undoesPartly.length === 1
  return [
    ...change.undoes.map((c) => turn(c, { stands: !stands, isPart: false, isAlone })),
    ...change.undoesPartly.map((c) => turn(c, { stands: !stands, isPart: true, isAlone: false })),
    ...change.redoes.map((c) => turn(c, { stands, isPart: false, isAlone: change.redoes.length === 1 })),
  ]
}

/** A commit that was picked to another branch names the same change, which still stands where it landed. */
const isMeant = (change: Change, commit: CommitId, landing: Landing): boolean =>
  change.landing !== null && (change.landing.after === commit || change.landing.ref === landing.ref)

function markOf(
  change: Change,
  turn: Turn,
  landed: { readonly event: Extract<ChangeEvent, { kind: 'landed' }>; readonly by: ChangeId },
): ChangeEvent | null {
  const { event, by } = landed
  const said = { at: event.at, by: event.by }
  const { landing, state } = change
  if (landing === null) return null
  const revision = change.revisions.length
  if (turn.isPart) {
    if (!turn.stands) return { kind: 'undone', ...said, commit: turn.commit, undoneBy: by, isPart: true }
    const again = { by, undo: turn.undo, isPart: true } as const
    return change.partlyUndoneBy.includes(turn.undo)
      ? { kind: 'landed', ...said, revision, landing, again }
      : null
  }
  if (!turn.stands) {
    return state === 'landed' ? { kind: 'undone', ...said, commit: turn.commit, undoneBy: by } : null
  }
  if (state !== 'undone') return null
  const standing = turn.isAlone ? event.landing : landing
  return {
    kind: 'landed',
    ...said,
    revision,
    landing: standing,
    again: { by, undo: change.undoneBy ?? turn.undo },
  }
}
