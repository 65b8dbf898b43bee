import { oneLine } from '../review/comment-text.ts'
import type { KeyedPiece } from '../review/piece-keys.ts'
import { outcomeFor, type ReviewState } from './review-state.ts'
import { type Row, span, styles } from './spans.ts'

/** What finishing would do, before it is done. */
export function finishRows(state: ReviewState): readonly Row[] {
  const { change, draft } = state
  const { accepted, edited, rejected, undecided, unseen } = outcomeFor(state)
  const line = (text: string, style: string = styles.plain): Row => [span(` ${text}`, style)]
  const counts = [
    `${accepted.length} accepted`,
    `${edited.length} edited`,
    `${rejected.length} rejected`,
    `${undecided.length} undecided`,
    `${draft.comments.length} comments`,
  ]
  const failing = change.checks.filter(({ outcome }) => outcome !== 'passed')
  return [
    line(`Finish the review of ${change.id} ${oneLine(change.title)}`, styles.bold),
    line(counts.join(' · ')),
    line(`revision ${change.revision} · ${change.files.length} files · digest ${change.digest.slice(0, 12)}`),
    ...nameAll('accepted without having been on the screen', unseen),
    ...nameAll('undecided', undecided),
    ...failing.map(({ name, outcome }) => line(`✗ check ${oneLine(name)}: ${outcome}`, styles.bad)),
    ...needsRows(state),
    line(''),
    ...offers(state).map(([key, words]): Row => [span(` ${key}  `, styles.bold), span(words)]),
  ]
}

/** Approvals of exactly what is shown. */
export const standing = ({ approvals, digest }: ReviewState['change']) =>
  approvals.filter((one) => one.digest === digest)

/** Who else must say yes, and by what. */
function needsRows({ change, needs }: ReviewState): readonly Row[] {
  if (needs === null) return []
  const people = new Set(standing(change).map(({ by }) => by))
  const said = people.size === 0 ? '' : `: ${[...people].map(oneLine).join(', ')}`
  const many = `${needs.count} people must approve; ${people.size} did${said}`
  const how = needs.requires === 'terminal' ? ['only a terminal or a browser counts'] : []
  const key =
    needs.isSigned || needs.requires === 'signature' ? ['your approval is signed: have your key at hand'] : []
  const words = [...(needs.count > 1 ? [many] : []), ...how, ...key]
  return words.map((text): Row => [span(` ${text}`, styles.warning)])
}

const NAMED = 6

function nameAll(what: string, pieces: readonly KeyedPiece[]): readonly Row[] {
  if (pieces.length === 0) return []
  const names = pieces.slice(0, NAMED).map(({ piece }) => {
    const [hunk] = piece.hunks
    return `${oneLine(piece.file.path)}${hunk === undefined ? '' : ` hunk ${hunk.number}`}`
  })
  const more = pieces.length > NAMED ? ` and ${pieces.length - NAMED} more` : ''
  return [[span(` ${what}: ${names.join(', ')}${more}`, styles.warning)]]
}

function offers(state: ReviewState): readonly (readonly [string, string])[] {
  const { accepted, edited, rejected, undecided, notes } = outcomeFor(state)
  const isWhole = rejected.length + edited.length === 0
  const what = isWhole ? 'approve it' : 'make a revision of what is accepted, approve it'
  const approves = undecided.length === 0 && accepted.length + edited.length > 0
  const rest = rejected.length > 0 ? ' (rejected hunks and reasons go to the agent)' : ''
  return [
    ...(approves
      ? ([
          ['l', `${what} and land it${rest}`],
          ['a', `${what}, and do not land it yet${rest}`],
        ] as const)
      : []),
    ...(rejected.length + notes.length > 0
      ? ([['s', 'reject the change: send it back with reasons and comments']] as const)
      : []),
    ...(state.draft.comments.length > 0 ? ([['c', 'send the comments alone; decide later']] as const) : []),
    ['Enter', 'nothing: go on reviewing'],
  ]
}
