import type { ChangeView } from '../flow/change-view.ts'
import type { ChangeSummary } from '../flow/status.ts'
import { commentText } from '../review/comment-text.ts'
import { visible } from '../review/visible.ts'
import type { ResourceLink } from './tool.ts'

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

const branchOf = (ref: string): string => visible(ref.replace(/^refs\/heads\//, ''))

/** The line that stands for a change. */
export function changeLine(change: ChangeView): string {
  const sum = (key: 'added' | 'removed') => change.files.reduce((n, file) => n + (file[key] ?? 0), 0)
  const size = `${plural(change.files.length, 'file')}, +${sum('added')} -${sum('removed')}`
  return `${change.id} revision ${change.revision}, ${change.state}, on ${branchOf(change.onto)}: ${visible(change.title)} (${size})`
}

const SIGNS = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const
const FILES_NAMED_MAX = 200

/** Files, checks, remarks and comments of a change, a line each. */
export function changeDetail(change: ChangeView): string {
  const files = change.files.slice(0, FILES_NAMED_MAX).map((file) => {
    const from = file.renamedFrom === undefined ? '' : ` (from ${visible(file.renamedFrom)})`
    const lines = file.added === null ? 'binary' : `+${file.added} -${file.removed}`
    const tier = file.tier === 'exact' ? '' : `, matched at the tier "${file.tier}"`
    return `${SIGNS[file.status]} ${visible(file.path)}${from} ${lines}${tier}, blob ${file.newBlob}`
  })
  const rest = change.files.length - files.length
  const checks = change.checks.map(
    ({ name, outcome, summary }) =>
      `check ${visible(name)}: ${outcome}${summary === '' ? '' : ` (${visible(summary)})`}`,
  )
  const remarks = change.remarks.map(({ path, text }) => `note: ${visible(path)}: ${visible(text)}`)
  const comments = change.comments.map(commentText)
  const rejection = change.rejection === null ? [] : [`rejected: ${visible(change.rejection)}`]
  const more = rest > 0 ? [`… and ${rest} more files`] : []
  return [...files, ...more, ...checks, ...remarks, ...rejection, ...comments].join('\n')
}

/** The fields of a change in a tool's value. */
export const changeValue = (change: ChangeView) => ({
  id: change.id,
  revision: change.revision,
  state: change.state,
  title: change.title,
  onto: change.onto,
  base: change.base,
  commit: change.commit,
  digest: change.digest,
  files: change.files,
  checks: change.checks.map(({ name, outcome, required, summary }) => ({ name, outcome, required, summary })),
  approvals: change.approvals.map(({ by, via, at }) => ({ by, via, at })),
  comments: change.comments,
  remarks: change.remarks,
  rejection: change.rejection,
  landed: change.landed,
  undoneBy: change.undoneBy,
})

/** What an agent does next about a change in its state. */
export function nextFor(change: ChangeView): string {
  const id = JSON.stringify(change.id)
  switch (change.state) {
    case 'staged':
      return failing(change)
        ? `A required check did not pass: mend it with revise_change (id ${id}).`
        : `A person decides about it. Wait with await_decision (id ${id}), or call land_change (id ${id}): it asks where your client can, and lands what is approved.`
    case 'approved':
      return `It is approved: land it with land_change (id ${id}).`
    case 'rejected':
      return `It was rejected: read the reason, then send a better version with revise_change (id ${id}).`
    case 'stale':
      return 'What it stood on is gone: read the files again, then propose it anew.'
    case 'landed':
      return `It is in the branch. undo_change (target ${id}) stages its inverse.`
    case 'undone':
      return 'It was taken back.'
  }
}

const failing = ({ checks }: ChangeView): boolean =>
  checks.some(({ required, outcome }) => required && outcome !== 'passed')

/** Where the whole diff of a revision is read as a resource. */
export const diffLink = (
  change: Pick<ChangeView, 'id' | 'revision'>,
  repository: string | undefined,
): ResourceLink => ({
  uri: `galley://changes/${change.id}/${change.revision}.diff${repository === undefined ? '' : `?repository=${encodeURIComponent(repository)}`}`,
  name: `${change.id}-${change.revision}.diff`,
  mimeType: 'text/x-diff',
})

/** One line of a list. */
export const summaryLine = (change: ChangeSummary): string =>
  `${change.id} ${change.state} ${visible(change.title)} (${plural(change.files, 'file')}, +${change.added} -${change.removed}, on ${branchOf(change.onto)})`

/** The fields of a change in a list. */
export const summaryValue = ({
  id,
  state,
  title,
  onto,
  revision,
  files,
  added,
  removed,
  agent,
  proposedAt,
  at,
}: ChangeSummary) => ({
  id,
  state,
  title,
  onto,
  revision,
  files,
  added,
  removed,
  agent,
  proposedAt,
  at,
})
