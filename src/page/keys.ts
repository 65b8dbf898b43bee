import { type Model, undecidedIn } from './model.ts'
import type { PageChange } from './page-values.ts'

/** What a single key does; undefined = nothing. Keys go to the text while somebody types. */
export function onKey(model: Model, event: KeyboardEvent): void {
  const { change, dialog, settings } = model.state
  const target = event.target as HTMLElement
  const isTyping =
    /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && (target as HTMLInputElement).type !== 'checkbox'
  if (change === null || dialog !== null || isTyping || !settings.hasKeys) return
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === ' ' && target.tagName === 'BUTTON') return
  const act = keysFor(model, change)[event.key]
  if (act === undefined) return
  event.preventDefault()
  act()
}

function keysFor(model: Model, change: PageChange): Readonly<Record<string, () => void>> {
  const { current } = model.state
  const piece = change.pieces[current]
  const restOfFile = () =>
    undecidedIn(change).filter((index) => change.pieces[index]?.fileKey === piece?.fileKey)
  return {
    y: () => model.decide([current], { kind: 'accepted' }),
    n: () => model.set({ dialog: { kind: 'reason', piece: current } }),
    e: () =>
      piece?.newText === null
        ? model.set({ note: 'This hunk is accepted or rejected as it is.' })
        : model.set({ dialog: { kind: 'edit', piece: current } }),
    s: () => void model.split(current),
    c: () => model.set({ dialog: { kind: 'comment', piece: current } }),
    u: () => void model.undo(),
    Y: () => model.decide(restOfFile(), { kind: 'accepted' }),
    N: () => model.decide(restOfFile(), { kind: 'rejected', reason: '' }),
    j: () => model.focus(current + 1),
    k: () => model.focus(current - 1),
    ' ': () => nextUndecided(model, change),
    ']': () => toFile(model, change, 1),
    '[': () => toFile(model, change, -1),
    v: () =>
      piece !== undefined &&
      model.act([
        { kind: 'viewed', fileKey: piece.fileKey, isViewed: !change.draft.viewed.includes(piece.fileKey) },
      ]),
    d: () => model.configure({ isSplit: !model.state.settings.isSplit }),
    f: () => model.set({ dialog: { kind: 'finish' } }),
    '?': () => model.set({ dialog: { kind: 'help' } }),
  }
}

function nextUndecided(model: Model, change: PageChange): void {
  const left = undecidedIn(change)
  const next = left.find((index) => index > model.state.current) ?? left[0]
  if (next === undefined) model.set({ note: 'Everything is decided. f finishes.' })
  else model.focus(next)
}

function toFile(model: Model, { pieces }: PageChange, by: 1 | -1): void {
  const here = pieces[model.state.current]?.fileKey
  const starts = pieces.flatMap(({ fileKey }, index) =>
    pieces[index - 1]?.fileKey === fileKey ? [] : [index],
  )
  const at = starts.findIndex((start) => pieces[start]?.fileKey === here)
  const next = starts[Math.max(0, Math.min(starts.length - 1, at + by))]
  if (next !== undefined) model.focus(next)
}
