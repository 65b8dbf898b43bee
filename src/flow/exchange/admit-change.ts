import type { RefRow, RefUpdate } from '../../git/refs.ts'
import { approvalFault } from '../../intake/foreign-record.ts'
import type { Change } from '../../model/change.ts'
import { readApproval } from '../../store/approvals.ts'
import { revisionRef } from '../../store/change-refs.ts'
import type { Store } from '../../store/open-store.ts'
import { messageHash } from '../record-approval.ts'
import type { World } from '../world.ts'
import { type AdmittedLog, admitLog, type Drop, type Dropped, drop, type Sides } from './admit-log.ts'

export interface Admission {
  /** The change as it then is; null, where nothing of it is let in. */
  readonly change: Change | null
  readonly how: Extract<AdmittedLog, { kind: 'log' }>['how']
  readonly approvals: number
  readonly updates: readonly RefUpdate[]
  readonly dropped: readonly Dropped[]
}

/**
 * Decides what of a remote's refs of one change is let into the store. Their objects are there already, and are anybody's: nothing is believed but
 * what the objects themselves show.
 *
 * A log must be a chain of events that galley could have written, each revision the commit that it says, with its bytes, message and parent,
 * each approval a tag of its own name that speaks of such a revision. A ref that is here is never set to another value.
 *
 * Leaves objects, and no ref: the updates are for the caller to make.
 */
export async function admitChange(world: World, store: Store, sides: Sides): Promise<Admission> {
  const log = await admitLog(world, store, sides)
  if (log.kind === 'dropped') return { ...nothing, dropped: [log.dropped] }
  const { change, how } = log
  const refs = admitRevisions(change, sides)
  if (refs.kind === 'dropped') return { ...nothing, dropped: [refs.dropped] }
  const approvals = await admitApprovals(world, change, sides)
  return {
    change,
    how,
    approvals: approvals.updates.length,
    updates: [...refs.updates, ...approvals.updates, ...log.updates],
    dropped: approvals.dropped,
  }
}

const nothing = { change: null, how: 'same', approvals: 0, updates: [] } as const

/** The refs of all revisions that the log speaks of: here already, or as the remote has them. Others are left out. */
function admitRevisions(
  change: Change,
  { local, remote }: Sides,
): Drop | { readonly kind: 'refs'; readonly updates: readonly RefUpdate[] } {
  const updates: RefUpdate[] = []
  for (const { number, commit } of change.revisions) {
    const ref = revisionRef(change.id, number)
    const [here, there] = [local?.revisions.get(number)?.object, remote.revisions.get(number)?.object]
    const found = here ?? there
    if (found === undefined) return drop(ref, 'stale', 'the revision is not on the remote (yet)')
    if (found !== commit) return drop(ref, 'forged', `it is ${found}, and the log says ${commit}`)
    if (here !== undefined && there !== undefined && here !== there)
      return drop(
        ref,
        here === commit ? 'forged' : 'branch-moved',
        `it is ${there} on the remote, and ${here} here`,
      )
    if (here === undefined) updates.push({ ref, expected: null, next: commit })
  }
  return { kind: 'refs', updates }
}

async function admitApprovals(world: World, change: Change, { local, remote }: Sides) {
  const here = new Map(local?.approvals.map((row) => [row.ref, row.object]))
  const updates: RefUpdate[] = []
  const dropped: Dropped[] = []
  for (const row of remote.approvals) {
    const known = here.get(row.ref)
    if (known === row.object) continue
    if (change.revisions[row.number - 1] === undefined) {
      dropped.push({ ref: row.ref, code: 'stale', reason: `the log knows no revision ${row.number} (yet)` })
      continue
    }
    const reason =
      known === undefined
        ? await approvalReason(world, change, row)
        : `it is ${row.object} on the remote, and ${known} here`
    if (reason === null) updates.push({ ref: row.ref, expected: null, next: row.object })
    else dropped.push({ ref: row.ref, code: 'forged', reason })
  }
  return { updates, dropped }
}

/** Why a tag is no approval of this change's revision; null = it is. Whether it counts is for the landing to say. */
async function approvalReason(
  world: World,
  change: Change,
  row: RefRow & { readonly number: number },
): Promise<string | null> {
  const reader = await world.reader()
  const revision = change.revisions[row.number - 1]
  if (revision === undefined) return `the log knows no revision ${row.number}`
  const found = await readApproval(reader, row.ref, row.object, { id: change.id, revision: row.number })
  if (found.kind === 'broken') return found.reason
  const { approval } = found
  const fault = approvalFault(approval, world.repository.objectFormat)
  if (fault !== null) return fault
  const isOfRevision =
    approval.commit === revision.commit &&
    approval.base === revision.base &&
    approval.tree === revision.tree &&
    approval.digest === revision.digest &&
    approval.messageHash === (await messageHash(reader, revision.commit))
  return isOfRevision ? null : 'it speaks of other bytes, or another message, than the revision has'
}
