import type { ChangeEvent, Revision } from '../model/change.ts'
import type { CommitId } from '../model/ids.ts'

/** What a change's log says of one approved revision. */
export interface Standing {
  /** Why its approvals do not count; null = they do. */
  readonly refusal: string | null
  /** The revision as it was staged: how each path was matched stands nowhere else. */
  readonly revision: Revision | null
}

export interface ApprovedRevision {
  readonly number: number
  readonly commit: CommitId
}

/** The commits as which a log says that a revision landed. */
export const landingsIn = (log: readonly ChangeEvent[], { number }: ApprovedRevision): readonly CommitId[] =>
  log.flatMap((event) => (event.kind === 'landed' && event.revision === number ? [event.landing.after] : []))

/**
 * Whether the log lets the approvals of a revision count: it was staged as that commit, and was not rejected, given up or replaced by another
 * revision before it was used. Once it has landed, nothing said later takes that back.
 *
 * @param log - Oldest first.
 * @param landings - Commits of landings that are known to be so: the log's own word is anybody's who writes it.
 */
export function standingOf(
  log: readonly ChangeEvent[],
  { number, commit }: ApprovedRevision,
  landings: ReadonlySet<CommitId> = new Set(),
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
    if (event.kind === 'landed' && event.revision === number && landings.has(event.landing.after)) break
    if (event.kind === 'rejected' && event.revision === number) refusal = `${event.by} rejected it`
    if (event.kind === 'stale') refusal = `it is stale: ${event.reason}`
  }
  return { refusal, revision }
}
