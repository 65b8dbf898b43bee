import { oneLine } from '../review/comment-text.ts'
import { standing } from './finish-rows.ts'
import { type ReviewState, shownPieces } from './review-state.ts'
import { fitRow, type Row, rowWidth, span, styles } from './spans.ts'

/** Which change, by whom, how far; what its checks say, and where it goes. */
export function headRows(state: ReviewState): readonly [Row, Row] {
  const { change, queue, size } = state
  const all = shownPieces({ ...state, since: null })
  const decided = new Set(state.draft.decided.map(({ key }) => key))
  const done = all.filter(({ key }) => decided.has(key)).length
  const sum = (key: 'added' | 'removed') => change.files.reduce((n, file) => n + (file[key] ?? 0), 0)
  const waits = queue.count > 1 ? `change ${queue.at} of ${queue.count} · ` : ''
  const right: Row = [span(`${waits}${done} of ${all.length} decided `)]
  const revision = change.revision > 1 ? ` r${change.revision}` : ''
  const who = change.agent === null ? '' : ` ${oneLine(change.agent.name)} ·`
  const left: Row = [
    span(` ${change.id}${revision} `, styles.bold),
    span(` ${oneLine(change.title)} `),
    span(` ${who} ${change.files.length} files `, styles.faint),
    span(`+${sum('added')}`, styles.added),
    span(` −${sum('removed')}`, styles.removed),
  ]
  return [spread(left, right, size.columns), checksRow(state)]
}

function checksRow({ change, since, draft }: ReviewState): Row {
  const checks = change.checks.flatMap(({ name, outcome }) =>
    outcome === 'passed'
      ? [span(` ✓ ${oneLine(name)}`, styles.good)]
      : [span(` ✗ ${oneLine(name)} (${outcome})`, styles.bad)],
  )
  const onto = change.onto.replace(/^refs\/heads\//, '')
  const approvals = standing(change).map(({ by, via }) => ` · approved by ${oneLine(by)} (${via})`)
  const last = since === null ? [] : [span(` difference to revision ${draft.before}`, styles.warning)]
  const base = span(` on ${oneLine(onto)}@${(change.base ?? '(none)').slice(0, 7)}`, styles.faint)
  return [
    ...last,
    ...(checks.length === 0 ? [span(' no checks', styles.faint)] : checks),
    base,
    span(approvals.join('')),
  ]
}

/** Both ends of a row; the left one gives way. */
function spread(left: Row, right: Row, columns: number): Row {
  const width = rowWidth(right)
  return width >= columns ? right : [...fitRow(left, columns - width), ...right]
}

/** Under 80 columns: the file in one line. */
export function foldedList(state: ReviewState): Row {
  const files = fileList(state)
  const at = files.findIndex(({ isHere }) => isHere)
  const file = files[at]
  if (file === undefined) return []
  return [
    span(` ${file.mark} ${file.path}`, styles.bold),
    span(` ${file.counts} · file ${at + 1} of ${files.length}`),
  ]
}

interface Listed {
  readonly path: string
  readonly mark: string
  readonly counts: string
  readonly isHere: boolean
}

export function fileList(state: ReviewState): readonly Listed[] {
  const pieces = shownPieces(state)
  const decided = new Set(state.draft.decided.map(({ key }) => key))
  const own = pieces[state.cursor.piece]?.fileKey
  const files = new Map<string, { path: string; all: number; done: number }>()
  for (const { key, fileKey, piece } of pieces) {
    const file = files.get(fileKey) ?? { path: oneLine(piece.file.path), all: 0, done: 0 }
    files.set(fileKey, file)
    file.all++
    if (decided.has(key)) file.done++
  }
  return [...files].map(([key, { path, all, done }]) => {
    const isViewed = state.draft.viewed.includes(key)
    const mark = key === own ? '▸' : done === all ? '✓' : isViewed ? '○' : ' '
    return { path, mark, counts: `${done}/${all}`, isHere: key === own }
  })
}

/** The end of a path says more than its beginning. */
export function listRow({ path, mark, counts, isHere }: Listed, width: number): Row {
  const room = width - counts.length - 5
  const points = [...path]
  const cut = points.length > room ? `…${points.slice(1 - room).join('')}` : path
  const style = isHere ? styles.bold : styles.plain
  return spread([span(` ${mark} ${cut}`, style)], [span(` ${counts} `, styles.faint)], width)
}

/** The widest that fits. */
const HINTS = [
  ' y accept  n reject  e edit  s split  c comment  u undo  Space next  ] file  f finish  ? keys  q leave',
  ' y accept  n reject  e edit  s split  c comment  u undo  Space next  f finish  ? keys  q leave',
  ' y accept  n reject  e edit  s split  c comment  f finish  ? keys  q leave',
  ' y accept  n reject  c comment  f finish  ? keys  q leave',
]
const ASKS = { reason: 'why not? (may be empty)', comment: 'comment', search: 'search' } as const

/** The keys, or the question; and what happened last. */
export function footRows({ prompt, note, size }: ReviewState): readonly [Row, Row] {
  const last: Row = [span(` ${oneLine(note)}`, styles.warning)]
  if (prompt === null) return [[span(HINTS.find((text) => text.length <= size.columns) ?? ' ? keys')], last]
  const question = span(` ${ASKS[prompt.kind]}: `, styles.bold)
  const text = span(oneLine(prompt.text))
  const room = size.columns - rowWidth([question]) - 2
  const left = Math.max(0, rowWidth([text]) - room)
  return [
    [question, ...(left === 0 ? [text] : fitRow([text], room, left)), span(' ', styles.mark)],
    note === '' ? [span(' Enter: done   Esc: leave it for later', styles.faint)] : last,
  ]
}
