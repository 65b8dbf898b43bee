import { type ComponentChild, h, render } from 'preact'
import { DialogBox } from './dialogs.ts'
import { onKey } from './keys.ts'
import { Model, undecidedIn } from './model.ts'
import type { PageChange } from './page-values.ts'
import { Scroll } from './scroll.ts'

const root = document.getElementById('app') as HTMLElement
let isDrawing = false
/** Draws once for all that changes in one go: a change that comes while the page is drawn is drawn after it. */
const model = new Model(() => {
  if (isDrawing) return
  isDrawing = true
  queueMicrotask(() => {
    isDrawing = false
    document.documentElement.dataset['theme'] = model.state.settings.theme
    render(h(App, null), root)
  })
})

function App(): ComponentChild {
  const { change, dialog, refusal, note, list, newer } = model.state
  return h(
    'div',
    { class: 'page' },
    h(Head, null),
    h(Side, null),
    h(
      'main',
      null,
      refusal === null
        ? null
        : h(
            'p',
            { class: 'banner bad', role: 'alert' },
            `${refusal.code}: ${refusal.message}. ${refusal.hint}`,
          ),
      newer === null || change === null
        ? null
        : h(
            'p',
            { class: 'banner', role: 'status' },
            `Revision ${newer} is there. What you decided on hunks that did not change stands. `,
            h(
              'button',
              { type: 'button', onClick: () => void model.open(change.id, `This is revision ${newer}.`) },
              'Show it',
            ),
          ),
      change === null
        ? h(
            'p',
            { class: 'empty' },
            list === null
              ? 'Loading…'
              : `Nothing waits for a decision. ${list.landed} landed so far. An agent proposes by galley propose, galley run or its own tools.`,
          )
        : [
            h(ChangeHead, { change, key: 'head' }),
            h(Scroll, { model, change, key: `${change.id} ${change.revision}` }),
            h(Foot, { change, key: 'foot' }),
          ],
    ),
    h('p', { class: 'live', 'aria-live': 'polite', role: 'status' }, note),
    dialog === null || change === null ? null : h(DialogBox, { model, change, dialog }),
  )
}

function Head(): ComponentChild {
  const { settings, list } = model.state
  const check = (label: string, isOn: boolean, onChange: () => void) =>
    h('label', null, h('input', { type: 'checkbox', checked: isOn, onChange }), ` ${label}`)
  const onTheme = (event: Event) =>
    model.configure({ theme: (event.target as HTMLSelectElement).value as 'system' })
  return h(
    'header',
    null,
    h('h1', null, 'galley'),
    h('span', { class: 'repository' }, list?.repository ?? ''),
    check('side by side', settings.isSplit, () => model.configure({ isSplit: !settings.isSplit })),
    check('text only', settings.isText, () => model.configure({ isText: !settings.isText })),
    check('single-key shortcuts', settings.hasKeys, () => model.configure({ hasKeys: !settings.hasKeys })),
    h(
      'label',
      null,
      'theme ',
      h(
        'select',
        { value: settings.theme, onChange: onTheme },
        ['system', 'light', 'dark'].map((name) => h('option', { key: name, value: name }, name)),
      ),
    ),
    h(
      'button',
      {
        type: 'button',
        onClick: () => model.set({ dialog: { kind: 'help' } }),
        disabled: model.state.change === null,
      },
      'Keys',
      h('kbd', null, '?'),
    ),
  )
}

function Side(): ComponentChild {
  const { list, change } = model.state
  return h(
    'nav',
    { 'aria-label': 'Changes and files' },
    h('h2', null, `Waiting (${list?.pending.length ?? 0})`),
    h(
      'ul',
      null,
      (list?.pending ?? []).map(({ id, title, agent, state, files, added, removed }) =>
        h(
          'li',
          { key: id },
          h(
            'button',
            {
              type: 'button',
              'aria-current': id === change?.id ? 'true' : 'false',
              onClick: () => void model.open(id),
            },
            h('span', { class: 'title' }, title),
            h(
              'span',
              { class: 'facts' },
              `${id} · ${agent} · ${files} files +${added} −${removed}${state === 'approved' ? ' · approved' : ''}`,
            ),
          ),
        ),
      ),
    ),
    change === null ? null : h('h2', null, 'Files'),
    change === null
      ? null
      : h(
          'ul',
          null,
          change.files.map((file) =>
            h(
              'li',
              { key: file.key },
              h(
                'button',
                {
                  type: 'button',
                  onClick: () => model.focus(change.pieces.findIndex(({ fileKey }) => fileKey === file.key)),
                },
                `${fileMark(change, file.key)} ${file.path}`,
              ),
            ),
          ),
        ),
  )
}

function fileMark(change: PageChange, fileKey: string): string {
  const undecided = undecidedIn(change).filter((index) => change.pieces[index]?.fileKey === fileKey)
  const all = change.pieces.filter((piece) => piece.fileKey === fileKey).length
  return undecided.length === 0 ? '✓' : undecided.length === all ? '·' : '▸'
}

function ChangeHead({ change }: { readonly change: PageChange }): ComponentChild {
  const { title, id, agent, revision, body, target, base, checks, approvals, comments, draft } = change
  const signs: Readonly<Record<string, string>> = { passed: '✓', failed: '✗' }
  const ofAll = [
    ...comments.filter(({ path }) => path === null).map(({ by, text }) => `${by}: ${text}`),
    ...draft.comments
      .filter(({ key, path }) => key === undefined && path === undefined)
      .map(({ text }) => `you, not sent: ${text}`),
  ]
  return h(
    'section',
    { class: 'change', 'aria-label': 'Change' },
    h('h2', null, title),
    h('p', { class: 'facts' }, `${id} · ${agent} · revision ${revision} · on ${target}@${base}`),
    body === '' ? null : h('p', { class: 'body' }, body),
    checks.length === 0
      ? null
      : h(
          'p',
          { class: 'checks' },
          checks
            .map(({ name, outcome, seconds }) => `${signs[outcome] ?? '·'} ${name} ${outcome} ${seconds} s`)
            .join('   '),
        ),
    approvals.length === 0 ? null : h('p', { class: 'facts' }, `approved by ${approvals.join('; ')}`),
    ofAll.map((text) => h('p', { class: 'comment', key: text }, text)),
  )
}

function Foot({ change }: { readonly change: PageChange }): ComponentChild {
  const of = (kind: string) => change.draft.decided.filter(({ decision }) => decision.kind === kind).length
  const left = undecidedIn(change).length
  return h(
    'footer',
    null,
    h(
      'span',
      null,
      `${change.pieces.length - left} of ${change.pieces.length} decided · ${of('accepted')} accepted · ${of('rejected')} rejected · ${of('edited')} edited`,
    ),
    h('button', { type: 'button', onClick: () => void model.undo() }, 'Undo', h('kbd', null, 'u')),
    h(
      'button',
      { type: 'button', class: 'main', onClick: () => model.set({ dialog: { kind: 'finish' } }) },
      'Finish…',
      h('kbd', null, 'f'),
    ),
  )
}

addEventListener('keydown', (event) => onKey(model, event))
model.set({})
void model.start()
