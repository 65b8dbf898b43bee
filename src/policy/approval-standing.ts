import type { ChangeEvent, Revision } from '../model/change.ts'
import type { CommitId } from '../model/ids.ts'

/** What a change's log says of one approved revision. */
export interface Standing {
  /** Why its approvals do not count; null = they do. */
  readonly refusal: string | null
  /** The revision as it was staged: how each path was matched stands nowhere else. */
  readonly revision: Revision | null
}

/**
 * Whether the log lets the approvals of a revision count: it was staged as that commit, and was not rejected, given up or replaced by another
 * revision before it was used. Once it has landed, on whatever branch, nothing said later takes that back.
 *
 * @param log - Oldest first.
 */
export function standingOf(
  log: readonly ChangeEvent[],
  { number, commit }: { readonly number: number; readonly commit: CommitId },
): Standing {
  let refusal: string | null = `its log holds no revision ${number} of that commit`
  let revision: Revision | null = null
  for (const event of log) {
    if (event.kind === 'staged' || event.kind === 'restaged') {
      if (event.revision.number === number && event.revision.commit === commit) {
        revision = event.revision
        refusal = null
      } else if (revision !== null) refusal ??= `revision ${event.revision.number} took its place`
    }
    if (refusal !== null) continue
    if (event.kind === 'landed' && event.revision === number) break
    if (event.kind === 'rejected' && event.revision === number) refusal = `${event.by} rejected it`
    if (event.kind === 'stale') refusal = `it is stale: ${event.reason}`
  }
  return { refusal, revision }
}
