import { type ComponentChild, h } from 'preact'
import { api } from './api.ts'
import { decisionOn, type Model } from './model.ts'
import type { PageChange, PageLine, PageText } from './page-values.ts'
import type { Row } from './rows.ts'
import { type Marked, partners, wordMarks } from './word-marks.ts'

interface Drawn {
  readonly model: Model
  readonly change: PageChange
  readonly row: Row
  readonly index: number
}

const MARKS = {
  accepted: '✓ accepted',
  rejected: '✗ rejected',
  edited: '✎ edited',
  undecided: '· undecided',
} as const

/** One row of the scroll. Foreign text goes into text nodes, and nowhere else. */
export function rowView(drawn: Drawn): ComponentChild {
  const { row, index } = drawn
  switch (row.kind) {
    case 'file':
      return fileRow(drawn, row)
    case 'hunk':
      return hunkRow(drawn, row.piece)
    case 'image':
      return imageRow(drawn, row.file)
    case 'line':
      return lineRow(drawn, row)
    default:
      return h('div', { key: index, class: `row ${row.kind}` }, row.text)
  }
}

function fileRow({ model, change, index }: Drawn, { file }: Row & { readonly kind: 'file' }): ComponentChild {
  const facts = change.files[file]
  if (facts === undefined) return h('div', { key: index, class: 'row' })
  const isViewed = change.draft.viewed.includes(facts.key)
  const onChange = () => model.act([{ kind: 'viewed', fileKey: facts.key, isViewed: !isViewed }])
  return h(
    'div',
    { key: index, class: 'row file', id: `file-${file}` },
    h('h3', null, facts.path),
    h('span', { class: 'stat' }, `+${facts.added} −${facts.removed}`),
    h('label', { class: 'viewed' }, h('input', { type: 'checkbox', checked: isViewed, onChange }), ' viewed'),
  )
}

function hunkRow({ model, change, index }: Drawn, piece: number): ComponentChild {
  const one = change.pieces[piece]
  const decision = decisionOn(change, piece)
  const kind = decision?.kind ?? 'undecided'
  const name =
    one?.number === null
      ? 'whole file'
      : `hunk ${one?.number}${one?.part === null ? '' : ` part ${one?.part}`}`
  const isCurrent = model.state.current === piece
  const button = (label: string, key: string, onClick: () => void, isOn = false) =>
    h(
      'button',
      { type: 'button', onClick, 'aria-pressed': isOn, 'aria-keyshortcuts': key, title: `${label} (${key})` },
      label,
      h('kbd', null, key),
    )
  const focus = (then: () => void) => () => {
    model.focus(piece)
    then()
  }
  return h(
    'div',
    {
      key: index,
      id: `piece-${piece}`,
      class: `row hunk ${kind}${isCurrent ? ' current' : ''}`,
      tabIndex: -1,
      role: 'group',
      'aria-label': `${piece + 1} of ${change.pieces.length}: ${name}, ${kind}`,
      onClick: () => model.focus(piece),
    },
    h('span', { class: 'name' }, `${name} · ${piece + 1} of ${change.pieces.length}`),
    h('span', { class: `mark ${kind}` }, MARKS[kind]),
    button('Accept', 'y', () => model.decide([piece], { kind: 'accepted' }), kind === 'accepted'),
    button(
      'Reject',
      'n',
      focus(() => model.set({ dialog: { kind: 'reason', piece } })),
      kind === 'rejected',
    ),
    one?.newText === null || one === undefined
      ? null
      : button(
          'Edit',
          'e',
          focus(() => model.set({ dialog: { kind: 'edit', piece } })),
          kind === 'edited',
        ),
    one?.canSplit === true
      ? button(
          'Split',
          's',
          focus(() => void model.split(piece)),
        )
      : null,
    button(
      'Comment',
      'c',
      focus(() => model.set({ dialog: { kind: 'comment', piece } })),
    ),
  )
}

function imageRow({ change, index }: Drawn, file: number): ComponentChild {
  const facts = change.files[file]
  const side = (name: 'before' | 'after', isThere: boolean): ComponentChild =>
    !isThere || facts === undefined
      ? h('figure', null, h('figcaption', null, `${name}: none`))
      : h(
          'figure',
          null,
          h('img', { src: api.image(change.id, facts.key, name), alt: `${facts.path}, ${name}` }),
          h('figcaption', null, name),
        )
  return h(
    'div',
    { key: index, class: 'row image' },
    side('before', facts?.sides[0] === true),
    side('after', facts?.sides[1] === true),
  )
}

const SIGNS = { context: ' ', add: '+', remove: '−', note: ' ' } as const
const pairs = new WeakMap<readonly PageLine[], ReadonlyMap<PageLine, PageLine>>()

function lineRow(
  { model, change, index }: Drawn,
  { piece, left, right }: Row & { readonly kind: 'line' },
): ComponentChild {
  const lines = change.pieces[piece]?.lines ?? []
  const known = pairs.get(lines) ?? partners(lines)
  pairs.set(lines, known)
  if (!model.state.settings.isSplit)
    return h('div', { key: index, class: `row line ${left?.kind ?? ''}` }, ...cells(left, known, 'both'))
  const half = (line: PageLine | null, side: 'old' | 'new') =>
    h('div', { class: `half ${line?.kind ?? 'none'}` }, ...cells(line, known, side))
  return h('div', { key: index, class: 'row line split' }, half(left, 'old'), half(right, 'new'))
}

function cells(
  line: PageLine | null,
  known: ReadonlyMap<PageLine, PageLine>,
  side: 'both' | 'old' | 'new',
): readonly ComponentChild[] {
  if (line === null) return [h('span', { class: 'number' })]
  const numbers = side === 'both' ? [line.old, line.new] : [line[side]]
  return [
    ...numbers.map((number) =>
      h('span', { class: 'number', 'aria-hidden': 'true' }, number === null ? '' : String(number)),
    ),
    h('span', { class: 'sign' }, SIGNS[line.kind]),
    h('code', null, ...textOf(line, known.get(line))),
  ]
}

function textOf(line: PageLine, partner: PageLine | undefined): readonly ComponentChild[] {
  const marked = partner === undefined ? null : marksOf(line, partner)
  if (marked !== null) return marked.map(([text, isChanged]) => (isChanged ? h('b', null, text) : text))
  return plain(line.text)
}

function marksOf(line: PageLine, partner: PageLine): Marked | null {
  const found = line.kind === 'remove' ? wordMarks(line, partner) : wordMarks(partner, line)
  return found === null ? null : line.kind === 'remove' ? found.left : found.right
}

const plain = (text: PageText): readonly ComponentChild[] =>
  typeof text === 'string'
    ? [text]
    : text.map(([kind, part]) =>
        kind === 't' ? part : h('span', { class: kind === 'm' ? 'unseen' : 'trailing' }, part),
      )
