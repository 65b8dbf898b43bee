import type { ObjectReader } from '../../git/objects.ts'
import type { Change } from '../../model/change.ts'
import { GalleyError } from '../../model/error.ts'
import type { ChangeId } from '../../model/ids.ts'
import { readLog } from '../../store/change-log.ts'
import type { ChangeRows } from '../../store/exchange.ts'

/**
 * Finds the changes that a push keeps to itself: those that were rejected before the remote had anything of them, whose bytes nobody
 * wanted (a secret that was captured, say), and those that stand on such a change, since its commit would go along. What the remote has
 * already is not among them: there the decision has to travel.
 */
export async function findWithheld(
  reader: ObjectReader,
  local: ReadonlyMap<ChangeId, ChangeRows>,
  remote: ReadonlyMap<ChangeId, ChangeRows>,
): Promise<ReadonlySet<ChangeId>> {
  const fresh = new Map<ChangeId, Change>()
  for (const { id, log } of local.values()) {
    if (remote.has(id) || log === null) continue
    const change = await readLog(reader, id, log).catch(unreadable)
    if (change !== null) fresh.set(id, change)
  }
  const isWithheld = (id: ChangeId): boolean => {
    // A change can only stand on an older one; who wrote a circle into the store gets an end all the same.
    for (const seen = new Set<ChangeId>(); !seen.has(id); ) {
      seen.add(id)
      const change = fresh.get(id)
      if (change?.state === 'rejected') return true
      if (change === undefined || change.stackedOn === null) return false
      id = change.stackedOn
    }
    return false
  }
  return new Set([...fresh.keys()].filter(isWithheld))
}

/** Whether a change was rejected, as far as this side knows. */
export async function isRejected(reader: ObjectReader, { id, log }: ChangeRows): Promise<boolean> {
  const change = log === null ? null : await readLog(reader, id, log).catch(unreadable)
  return change?.state === 'rejected'
}

/** A log that cannot be read says nothing of a rejection; whoever fetches it holds it against its objects. */
function unreadable(error: unknown): null {
  if (error instanceof GalleyError && error.code !== 'internal') return null
  throw error
}
