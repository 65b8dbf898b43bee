import { actOnDraft, type Decision, type DraftAction, decidedOtherwise } from '../review/draft.ts'
import { api, type Does, Refused } from './api.ts'
import type { PageChange, PageList, PageRefusal } from './page-values.ts'

export type Dialog =
  | { readonly kind: 'reason' | 'comment' | 'edit'; readonly piece: number }
  | { readonly kind: 'finish' | 'help' }

/** Everything that the page shows. */
export interface PageState {
  readonly list: PageList | null
  readonly change: PageChange | null
  /** The piece in focus. */
  readonly current: number
  readonly dialog: Dialog | null
  /** What happened, in a sentence: shown, and read out. */
  readonly note: string
  readonly refusal: PageRefusal | null
  /** A newer revision than the one shown. */
  readonly newer: number | null
  readonly isBusy: boolean
  readonly settings: Settings
}

export interface Settings {
  readonly isSplit: boolean
  readonly isText: boolean
  readonly hasKeys: boolean
  readonly theme: 'system' | 'light' | 'dark'
}

const SETTINGS = 'galley-review'
const LOOK_MS = 1_500

function storedSettings(): Settings {
  const plain: Settings = { isSplit: false, isText: false, hasKeys: true, theme: 'system' }
  try {
    return { ...plain, ...(JSON.parse(localStorage.getItem(SETTINGS) ?? '{}') as Partial<Settings>) }
  } catch {
    // What was kept cannot be read: the page begins as it does for anybody.
    return plain
  }
}

/** What is undecided, in the order of the page. */
export const undecidedIn = ({ pieces, draft }: PageChange): readonly number[] => {
  const decided = new Set(draft.decided.map(({ key }) => key))
  return pieces.flatMap(({ key }, index) => (decided.has(key) ? [] : [index]))
}

export const decisionOn = (change: PageChange, piece: number): Decision | null =>
  change.draft.decided.find(({ key }) => key === change.pieces[piece]?.key)?.decision ?? null

/** Holds the page's state, and does what its keys and buttons say. Decisions show at once, and are written behind. */
export class Model {
  state: PageState = {
    list: null,
    change: null,
    current: 0,
    dialog: null,
    note: '',
    refusal: null,
    newer: null,
    isBusy: false,
    settings: storedSettings(),
  }
  readonly #draw: () => void
  #writing: Promise<void> = Promise.resolve()
  #unwritten = 0

  constructor(draw: () => void) {
    this.#draw = draw
  }

  set(next: Partial<PageState>): void {
    this.state = { ...this.state, ...next }
    this.#draw()
  }

  configure(next: Partial<Settings>): void {
    const settings = { ...this.state.settings, ...next }
    localStorage.setItem(SETTINGS, JSON.stringify(settings))
    this.set({ settings })
  }

  async start(): Promise<void> {
    const { hash } = location
    const token = /^#token=(.+)$/.exec(hash)?.[1]
    if (token !== undefined) {
      history.replaceState(null, '', '/')
      await this.#trying(() => api.session(decodeURIComponent(token)))
    }
    await this.look()
    const asked = /^#c=([\w-]+)$/.exec(hash)?.[1] ?? this.state.list?.pending[0]?.id
    if (asked !== undefined) await this.open(asked)
    setInterval(() => void (document.visibilityState === 'visible' && this.look()), LOOK_MS)
  }

  async #trying<T>(task: () => Promise<T>): Promise<T | null> {
    try {
      const done = await task()
      if (this.state.refusal !== null) this.set({ refusal: null })
      return done
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.set({ refusal: error.refusal })
      return null
    }
  }

  async open(id: string, note = ''): Promise<void> {
    await this.#writing
    const change = await this.#trying(() => api.change(id))
    if (change === null) return
    history.replaceState(null, '', `#c=${id}`)
    const [first = 0] = undecidedIn(change)
    this.set({ change, current: first, note, newer: null, dialog: null })
  }

  /** What others did meanwhile: another view, an agent, somebody else. */
  async look(): Promise<void> {
    const list = await this.#trying(api.list)
    if (list === null) return
    const { change } = this.state
    const own = change === null ? undefined : list.pending.find(({ id }) => id === change.id)
    const newer = own !== undefined && change !== null && own.revision > change.revision ? own.revision : null
    const isGone =
      change !== null && own === undefined && (change.state === 'staged' || change.state === 'approved')
    this.set({
      list,
      newer,
      ...(isGone ? { note: `${change.id} is decided meanwhile: nothing is left to do.` } : {}),
    })
    if (own === undefined || change === null || this.state.isBusy || this.#unwritten > 0) return
    const draft = await this.#trying(() => api.draft(change.id))
    // What was done here meanwhile is newer than the answer.
    if (draft === null || this.state.change !== change || draft.stamp === change.draft.stamp) return
    const others = decidedOtherwise(change.draft, draft).length
    const note = others === 0 ? this.state.note : `${others} decided in another view.`
    this.set({ change: { ...change, draft }, note })
  }

  /** Shows at once what is done, and writes it after what came before. */
  act(actions: readonly DraftAction[]): void {
    const { change } = this.state
    if (change === null) return
    this.set({ change: { ...change, draft: actions.reduce(actOnDraft, change.draft) } })
    const { id } = change
    this.#unwritten++
    this.#writing = this.#writing.then(async () => {
      const draft = await this.#trying(() => api.act(id, actions))
      this.#unwritten--
      const now = this.state.change
      if (draft !== null && now?.id === id && draft.stamp > now.draft.stamp)
        this.set({ change: { ...now, draft } })
    })
  }

  decide(pieces: readonly number[], decision: Decision | null): void {
    const { change } = this.state
    if (change === null) return
    const keys = pieces.flatMap((piece) => change.pieces[piece]?.key ?? [])
    this.act([{ kind: 'decide', revision: change.revision, keys, decision, via: 'web' }])
    const word = { accepted: 'accepted', rejected: 'rejected', edited: 'edited' }[
      decision?.kind ?? 'accepted'
    ]
    const left = undecidedIn(this.state.change ?? change)
    const what = pieces.length === 1 ? `Hunk ${(pieces[0] ?? 0) + 1}` : `${pieces.length} hunks`
    this.set({ note: `${what} ${decision === null ? 'undecided' : word}. ${left.length} undecided.` })
    const next = left.find((piece) => piece > this.state.current) ?? left[0]
    if (next !== undefined && decision !== null) this.focus(next)
  }

  focus(piece: number): void {
    const last = (this.state.change?.pieces.length ?? 1) - 1
    this.set({ current: Math.max(0, Math.min(piece, last)) })
  }

  async split(piece: number): Promise<void> {
    const { change } = this.state
    const one = change?.pieces[piece]
    if (change === null || one === undefined || !one.canSplit)
      return this.set({ note: 'This hunk cannot be split.' })
    this.act([{ kind: 'split', revision: change.revision, hunkKey: one.key, isSplit: true }])
    await this.open(change.id, 'The hunk is split.')
    this.focus(piece)
  }

  async undo(): Promise<void> {
    const { change } = this.state
    if (change === null) return
    if (change.draft.steps.length === 0) return this.set({ note: 'Nothing to take back.' })
    const wasSplit = change.draft.split.length
    this.act([{ kind: 'undo', revision: change.revision }])
    await this.#writing
    const now = this.state.change
    if (now !== null && now.draft.split.length !== wasSplit) await this.open(change.id)
    this.set({ note: 'The last decision is taken back.' })
  }

  async finish(does: Does): Promise<void> {
    const { change } = this.state
    if (change === null) return
    this.set({ isBusy: true })
    await this.#writing
    const done = await this.#trying(() => api.finish(change.id, change.digest, does))
    this.set({ isBusy: false, dialog: null })
    if (done === null) return
    const said = {
      landed: 'landed',
      approved: 'is approved',
      'sent-back': 'is sent back',
      commented: 'has your comments',
      held: 'is not approved: a check wrote on what you accepted, or fails on it',
    }[done.kind]
    await this.look()
    const next = this.state.list?.pending.find(({ id, state }) => id !== change.id && state === 'staged')
    if (done.kind === 'commented' || done.kind === 'held') await this.open(change.id, `${change.id} ${said}.`)
    else if (next !== undefined) await this.open(next.id, `${change.id} ${said}. This one waits next.`)
    else this.set({ change: null, note: `${change.id} ${said}. Nothing else waits.` })
  }
}
