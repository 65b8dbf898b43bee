import { type ComponentChild, h } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Does } from './api.ts'
import { type Dialog, decisionOn, type Model, undecidedIn } from './model.ts'
import type { PageChange } from './page-values.ts'

/** The dialog that is open, if one is. The browser's own element keeps the focus in it, and Escape closes it. */
export function DialogBox({
  model,
  change,
  dialog,
}: {
  readonly model: Model
  readonly change: PageChange
  readonly dialog: Dialog
}): ComponentChild {
  const box = useRef<HTMLDialogElement>(null)
  const close = () => model.set({ dialog: null })
  useEffect(() => {
    if (box.current?.open === false) box.current.showModal()
  }, [dialog])
  const title = {
    reason: 'Reject this hunk',
    comment: 'Comment on this hunk',
    edit: 'Edit this hunk',
    finish: 'Finish the review',
    help: 'Keys',
  }[dialog.kind]
  return h(
    'dialog',
    { ref: box, onClose: close, 'aria-labelledby': 'dialog-title' },
    h('h2', { id: 'dialog-title' }, title),
    dialog.kind === 'help' ? h(Help, null) : null,
    dialog.kind === 'finish' ? h(Finish, { model, change }) : null,
    'piece' in dialog
      ? h(Words, {
          model,
          change,
          kind: dialog.kind,
          piece: dialog.piece,
          key: `${dialog.kind} ${dialog.piece}`,
        })
      : null,
  )
}

interface WordsProps {
  readonly model: Model
  readonly change: PageChange
  readonly kind: 'reason' | 'comment' | 'edit'
  readonly piece: number
}

const SAVE_MS = 400

/** A text that is kept as it is typed: it outlives the dialog, the page and the revision. */
function Words({ model, change, kind, piece }: WordsProps): ComponentChild {
  const one = change.pieces[piece]
  const where = `${kind}:${one?.key ?? ''}`
  const decision = decisionOn(change, piece)
  const begun = change.draft.typing.find((typing) => typing.where === where)?.text
  const before =
    kind === 'edit'
      ? decision?.kind === 'edited'
        ? decision.text
        : (one?.newText ?? '')
      : kind === 'reason' && decision?.kind === 'rejected'
        ? decision.reason
        : ''
  const [text, setText] = useState(begun ?? before)
  const about = (one?.lines ?? [])
    .slice(0, 20)
    .map((line) => (typeof line.text === 'string' ? line.text : ''))
  const typed = (value: string) => ({ kind: 'type', typing: { where, text: value, about } }) as const
  useEffect(() => {
    if (text === before) return
    const timer = setTimeout(() => model.act([typed(text)]), SAVE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const done = (event: Event) => {
    event.preventDefault()
    model.set({ dialog: null })
    model.act([typed('')])
    if (kind === 'reason') model.decide([piece], { kind: 'rejected', reason: text.trim() })
    else if (kind === 'edit') model.decide([piece], { kind: 'edited', text, reason: '' })
    else if (one !== undefined)
      model.act([{ kind: 'comment', comment: { id: crypto.randomUUID(), text, key: one.key, about } }])
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) done(event)
  }
  const label =
    kind === 'reason'
      ? 'Why? The agent gets it; it may be empty.'
      : kind === 'edit'
        ? 'The lines as they are to be, context among them.'
        : 'The agent gets it with the lines that it is about.'
  return h(
    'form',
    { onSubmit: done },
    h('label', { for: 'words' }, label),
    h('textarea', {
      id: 'words',
      rows: kind === 'edit' ? 16 : 5,
      value: text,
      onInput: (event: Event) => setText((event.target as HTMLTextAreaElement).value),
      onKeyDown,
      autofocus: true,
      spellcheck: kind !== 'edit',
    }),
    h(
      'div',
      { class: 'buttons' },
      h(
        'button',
        { type: 'submit', class: 'main' },
        kind === 'reason' ? 'Reject' : kind === 'edit' ? 'Accept as edited' : 'Comment',
        h('kbd', null, 'Ctrl Enter'),
      ),
      h('button', { type: 'button', onClick: () => model.set({ dialog: null }) }, 'Cancel'),
    ),
  )
}

/** Says what finishing does before it does it. */
function Finish({ model, change }: { readonly model: Model; readonly change: PageChange }): ComponentChild {
  const { draft, pieces, files } = change
  const of = (kind: string) => draft.decided.filter(({ decision }) => decision.kind === kind).length
  const undecided = undecidedIn(change)
  const [accepted, rejected, edited] = [of('accepted'), of('rejected'), of('edited')]
  const shown = new Set(draft.shown)
  const unseen = pieces.filter(
    ({ key, wholeKey }) =>
      !shown.has(key) &&
      !shown.has(wholeKey) &&
      draft.decided.some((one) => one.key === key && one.decision.kind === 'accepted'),
  )
  const isNew = rejected + edited > 0
  const can = undecided.length === 0 && accepted + edited > 0
  const button = (label: string, does: Does, isOn: boolean, isMain = false) =>
    h(
      'button',
      {
        type: 'button',
        class: isMain ? 'main' : '',
        disabled: !isOn || model.state.isBusy,
        onClick: () => void model.finish(does),
      },
      label,
    )
  const lines = [
    `${accepted} accepted · ${edited} edited · ${rejected} rejected · ${undecided.length} undecided, in ${files.length} files.`,
    `Digest ${change.digest.slice(0, 12)}, revision ${change.revision}, for ${change.target}.`,
    ...(isNew
      ? [
          'What is accepted becomes a new revision, which is checked again. Rejected hunks and their reasons go to the agent.',
        ]
      : []),
    ...(undecided.length > 0
      ? ['Nothing undecided is approved or dropped: decide on the rest, or send the change back.']
      : []),
    ...(unseen.length > 0
      ? [
          `Accepted without having been on the screen: ${unseen.map(({ number }) => `hunk ${number ?? '–'}`).join(', ')}.`,
        ]
      : []),
    ...change.checks
      .filter(({ outcome }) => outcome !== 'passed')
      .map(({ name, outcome, required }) => `Check ${name}: ${outcome}${required ? ', required' : ''}.`),
  ]
  return h(
    'div',
    null,
    h(
      'ul',
      null,
      lines.map((line) => h('li', { key: line }, line)),
    ),
    h(
      'div',
      { class: 'buttons' },
      button(isNew ? 'Make the revision, approve and land it' : 'Approve and land', 'land', can, true),
      button('Approve', 'approve', can),
      button('Send back', 'send-back', rejected > 0 || draft.comments.length > 0 || undecided.length === 0),
      button('Send the comments', 'comment', draft.comments.length > 0),
      h('button', { type: 'button', onClick: () => model.set({ dialog: null }) }, 'Go on reviewing'),
    ),
  )
}

const KEYS: readonly (readonly [string, string])[] = [
  ['y  n  e  s  c', 'accept, reject, edit, split, comment'],
  ['Y  N', 'accept, reject the rest of the file'],
  ['u', 'take the last decision back'],
  ['j  k', 'next, previous hunk'],
  ['Space', 'next undecided'],
  [']  [', 'next, previous file'],
  ['v', 'mark the file as viewed'],
  ['d', 'side by side, or one column'],
  ['f', 'finish'],
  ['?', 'these keys'],
]

const Help = (): ComponentChild =>
  h(
    'table',
    null,
    h(
      'tbody',
      null,
      KEYS.map(([keys, what]) =>
        h('tr', { key: keys }, h('th', { scope: 'row' }, keys), h('td', null, what)),
      ),
    ),
  )
