import type { Change, ChangeComment, CheckResult, FileSummary, Landing, Revision } from '../model/change.ts'
import type { CommentPlace } from '../review/comment-place.ts'

/** A change as every surface shows it (DESIGN.md section 15). */
export interface ChangeView {
  readonly id: string
  readonly revision: number
  readonly state: Change['state']
  readonly title: string
  readonly body: string
  readonly onto: string
  readonly base: string | null
  readonly commit: string
  readonly tree: string
  readonly digest: string
  readonly agent: Change['agent']
  readonly files: readonly FileSummary[]
  readonly checks: readonly CheckResult[]
  readonly approvals: Change['approvals']
  /** `now`: where the lines of each stand in the revision that is shown. Absent in answers that are about something else. */
  readonly comments: readonly (ChangeComment & { readonly now?: CommentPlace })[]
  readonly remarks: Revision['remarks']
  readonly rejection: string | null
  readonly landed: Landing | null
  /** Commits that it takes back, as a whole or in part, and commits that it brings back. */
  readonly undoes: readonly string[]
  readonly undoesPartly: readonly string[]
  readonly redoes: readonly string[]
  /** Messages of a run's own commits, where they became one change; oldest first. */
  readonly messages: readonly string[]
  readonly undoneBy: string | null
  readonly partlyUndoneBy: readonly string[]
  readonly stackedOn: string | null
}

/** Shows one revision of a change; the newest unless `number` says otherwise. */
export function viewChange(change: Change, number?: number): ChangeView {
  const revision = number === undefined ? change.revisions.at(-1) : change.revisions[number - 1]
  if (revision === undefined) throw new Error(`BUG: ${change.id} has no revision ${number ?? '(any)'}`)
  return {
    id: change.id,
    revision: revision.number,
    state: change.state,
    title: change.title,
    body: change.body,
    onto: change.onto,
    base: revision.base,
    commit: revision.commit,
    tree: revision.tree,
    digest: revision.digest,
    agent: change.agent,
    files: summariseFiles(revision),
    checks: change.checks,
    approvals: change.approvals,
    comments: change.comments,
    remarks: revision.remarks,
    rejection: change.rejection,
    landed: change.landing,
    undoes: change.undoes,
    undoesPartly: change.undoesPartly,
    redoes: change.redoes,
    messages: change.messages,
    undoneBy: change.undoneBy,
    partlyUndoneBy: change.partlyUndoneBy,
    stackedOn: change.stackedOn,
  }
}

/** A revision's paths as every surface shows them. */
export function summariseFiles(revision: Pick<Revision, 'manifest' | 'files'>): readonly FileSummary[] {
  const facts = new Map(revision.files.map((f) => [f.path, f]))
  return revision.manifest.map((t) => {
    const fact = facts.get(t.path)
    const renamedFrom = fact?.renamedFrom
    const status =
      renamedFrom !== undefined
        ? 'renamed'
        : t.oldMode === '000000'
          ? 'added'
          : t.newMode === '000000'
            ? 'deleted'
            : 'modified'
    return {
      ...t,
      status,
      added: fact?.added ?? null,
      removed: fact?.removed ?? null,
      tier: fact?.tier ?? 'exact',
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
    }
  })
}
