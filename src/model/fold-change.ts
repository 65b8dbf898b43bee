import { type Change, type ChangeEvent, isPending } from './change.ts'
import { assertNever, invariant } from './error.ts'
import type { ChangeId } from './ids.ts'

/** A change's state is the fold over its log, oldest event first; there is no second database. */
export function foldChange(id: ChangeId, log: readonly ChangeEvent[]): Change {
  const [first, ...rest] = log
  invariant(first?.kind === 'proposed', `the log of ${id} begins with its proposal`)
  const start: Change = {
    id,
    state: 'staged',
    title: first.title,
    body: first.body,
    agent: first.agent,
    onto: first.onto,
    stackedOn: first.stackedOn,
    undoes: first.undoes,
    undoesPartly: first.undoesPartly ?? [],
    redoes: first.redoes,
    captured: first.captured === true,
    messages: first.messages ?? [],
    revisions: [],
    checks: [],
    approvals: [],
    comments: [],
    rejection: null,
    landing: null,
    undoneBy: null,
    partlyUndoneBy: [],
    log,
  }
  return rest.reduce(applyEvent, start)
}

/** One event's effect. */
export function applyEvent(change: Change, event: ChangeEvent): Change {
  switch (event.kind) {
    case 'proposed':
      return change
    case 'staged':
    case 'restaged':
      return {
        ...change,
        ...rewording(event),
        state: 'staged',
        revisions: [...change.revisions, event.revision],
        checks: [],
        approvals: [],
        rejection: null,
      }
    case 'checked': {
      if (!isOfCurrent(change, event.revision)) return change
      // A result is bound to its commit: what a re-parented commit gave says nothing of the revision's own.
      const commits = new Set([...event.checks.map((c) => c.commit), event.commit])
      return { ...change, checks: [...change.checks.filter((c) => !commits.has(c.commit)), ...event.checks] }
    }
    case 'commented': {
      const { kind: _, ...words } = event
      return { ...change, comments: [...change.comments, words] }
    }
    case 'approved':
      return applyApproved(change, event)
    case 'rejected':
      return isOfCurrent(change, event.revision) && (isPending(change.state) || change.state === 'stale')
        ? { ...change, state: 'rejected', rejection: event.reason }
        : change
    case 'landed':
      return applyLanded(change, event)
    case 'undone':
      return event.isPart === true
        ? { ...change, partlyUndoneBy: [...change.partlyUndoneBy, event.undoneBy] }
        : { ...change, state: 'undone', undoneBy: event.undoneBy }
    case 'stale':
      return isPending(change.state) ? { ...change, state: 'stale' } : change
    default:
      return assertNever(event)
  }
}

/**
 * Two clones may decide at the same time, and a fetch puts the one's events behind the other's. So what is said of an earlier revision
 * is nothing to the current one, a no is not undone by a yes that did not know of it, and what has landed stays landed.
 */
const isOfCurrent = (change: Change, revision: number): boolean =>
  change.revisions.at(-1)?.number === revision

function applyApproved(change: Change, event: Extract<ChangeEvent, { kind: 'approved' }>): Change {
  if (!isOfCurrent(change, event.revision)) return change
  const state = isPending(change.state) ? 'approved' : change.state
  return { ...change, state, approvals: [...change.approvals, event] }
}

/** A first landing, a landing by the redo of an undo, or the redo of what undid a part. */
function applyLanded(change: Change, event: Extract<ChangeEvent, { kind: 'landed' }>): Change {
  const { again, landing } = event
  const partlyUndoneBy = change.partlyUndoneBy.filter((id) => id !== again?.undo)
  if (again?.isPart === true) return { ...change, partlyUndoneBy }
  return { ...change, state: 'landed', landing, undoneBy: null, partlyUndoneBy }
}

/** A revision may say anew what the change is for, and by whom. */
function rewording(event: Extract<ChangeEvent, { kind: 'staged' | 'restaged' }>): Partial<Change> {
  const { title, body, agent } = event
  return {
    ...(title === undefined ? {} : { title }),
    ...(body === undefined ? {} : { body }),
    ...(agent === undefined ? {} : { agent }),
  }
}
