import type { Finished } from '../flow/review/finish-review.ts'
import { lookAtReview, openReview, type ReviewInHand } from '../flow/review/open-review.ts'
import type { World } from '../flow/world.ts'
import { isPending } from '../model/change.ts'
import type { DraftAction } from '../review/draft.ts'
import type { KeyedPiece } from '../review/piece-keys.ts'
import { type DraftNews, type DraftWriter, openDraftWriter } from './draft-writer.ts'
import { hunkText } from './edit-hunk.ts'
import type { OpenPainter } from './painter.ts'
import { press } from './review-keys.ts'
import { decideOn } from './review-moves.ts'
import { viewOf } from './review-rows.ts'
import {
  bodyFor,
  type Effect,
  type Key,
  moveTo,
  type ReviewState,
  seen,
  shownPieces,
} from './review-state.ts'
import { openScreen, type Screen, type TerminalStreams } from './screen.ts'
import { openSeen } from './seen-lines.ts'

/** What a review on the screen works with. */
export interface ReviewApp {
  readonly world: World
  readonly streams: TerminalStreams
  /** Writes on the terminal while it is as it was. */
  readonly write: (text: string) => void
  /** Lets the user's editor change a text; null = it failed, or there is none. */
  readonly edit: (text: string, path: string) => Promise<string | null>
  readonly describe: (finished: Finished) => string
  readonly faultText: (error: unknown) => string
  /** Loaded once the first hunk stands there. */
  readonly painter: (onReady: () => void) => Promise<OpenPainter>
}

/** How the review of one change ended. */
export type Ended =
  | { readonly kind: 'finished' | 'quit' }
  | { readonly kind: 'go'; readonly by: 1 | -1 }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals | null }

const LOOK_EVERY_MS = 600
/** Looks at the draft for each look at the change, which starts git. */
const LOOKS_A_CHANGE = 4

/** Reviews one change on the full screen, until it is finished or left. Every decision is kept as it is made. */
export async function reviewOnScreen(
  app: ReviewApp,
  id: string,
  queue: ReviewState['queue'],
): Promise<Ended> {
  const { opening, ...inHand } = await lookAtReview(app.world, id)
  return new Promise((resolve) => new Run(app, inHand, queue, resolve).start(opening))
}

class Run {
  readonly #app: ReviewApp
  readonly #screen: Screen
  readonly #seen = openSeen()
  readonly #resolve: (ended: Ended) => void
  #writer: DraftWriter
  #state: ReviewState
  #painter: OpenPainter = { paint: () => [], close: () => undefined }
  #timer: NodeJS.Timeout | null = null
  #looks = 0
  #isBusy = false
  #isOver = false

  constructor(
    app: ReviewApp,
    inHand: ReviewInHand,
    queue: ReviewState['queue'],
    resolve: (ended: Ended) => void,
  ) {
    this.#app = app
    this.#resolve = resolve
    this.#screen = openScreen(app.streams, {
      onKey: (key) => this.#onKey(key),
      onResize: () => this.#show({ ...this.#state, size: this.#screen.size() }),
      onEnd: (signal) => void this.#end({ kind: 'signal', signal }),
    })
    this.#state = stateOf(inHand, queue, this.#screen.size())
    this.#writer = this.#openWriter(inHand)
  }

  start(opening: DraftAction): void {
    this.#show(this.#state)
    this.#writer.write([opening])
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS)
    // Colours come after the first hunk stands there: what makes them takes time to load.
    setImmediate(() => void this.#colour().catch((error: unknown) => this.#note(this.#app.faultText(error))))
  }

  async #colour(): Promise<void> {
    const painter = await this.#app.painter(() => this.#show(this.#state))
    if (this.#isOver) return painter.close()
    this.#painter = painter
    this.#show(this.#state)
    await this.#ask()
  }

  /** What approving takes is said before the last question. */
  async #ask(): Promise<void> {
    const { approvalNeeds } = await import('../flow/review/approval-needs.ts')
    const needs = await approvalNeeds(this.#app.world, this.#state.change.id)
    this.#show({ ...this.#state, needs })
  }

  #openWriter({ change, draft }: ReviewInHand): DraftWriter {
    return openDraftWriter(this.#app.world, change.id, {
      start: draft,
      onNews: (news) => this.#onNews(news),
      onFault: (error) => this.#note(this.#app.faultText(error)),
    })
  }

  #show(state: ReviewState): void {
    this.#state = seen(state)
    if (this.#isOver) return
    const { rows, lines } = viewOf(this.#state, this.#painter.paint)
    this.#screen.draw(rows)
    if (lines === null || this.#state.since !== null) return
    const pieces = shownPieces(this.#state)
    const keys = this.#seen.add(bodyFor(this.#state), lines).flatMap((index) => pieces[index]?.key ?? [])
    const fresh = keys.filter((key) => !this.#state.draft.shown.includes(key))
    if (fresh.length > 0) this.#perform({ kind: 'act', actions: [{ kind: 'shown', keys: fresh }] })
  }

  #note(note: string): void {
    this.#show({ ...this.#state, note })
  }

  #onKey(key: Key): void {
    if (this.#isBusy) return
    if (key.isControl && key.name === 'z') {
      this.#screen.stop()
      return
    }
    const { state, effects } = press(this.#state, key)
    this.#show(state)
    for (const effect of effects) this.#perform(effect)
  }

  #perform(effect: Effect): void {
    if (effect.kind === 'act') this.#writer.write(effect.actions)
    else if (effect.kind === 'quit') void this.#end({ kind: 'quit' })
    else if (effect.kind === 'go') this.#go(effect.by)
    else void this.#busy(() => this.#work(effect))
  }

  #go(by: 1 | -1): void {
    if (this.#state.queue.count > 1) void this.#end({ kind: 'go', by })
    else this.#note('No other change waits.')
  }

  /** Keys that come meanwhile go nowhere: what they would mean is decided by how it ends. */
  async #busy(task: () => Promise<void>): Promise<void> {
    this.#isBusy = true
    try {
      await task()
    } catch (error) {
      this.#note(this.#app.faultText(error))
    } finally {
      this.#isBusy = false
    }
  }

  async #work(effect: Effect & { readonly kind: 'edit' | 'finish' | 'since' }): Promise<void> {
    if (effect.kind === 'edit') return this.#edit(effect.piece)
    if (effect.kind === 'finish') return this.#finish(effect.does)
    const { sinceLast } = await import('./since-last.ts')
    const since = await sinceLast(this.#app.world, this.#state)
    this.#show({ ...this.#state, since, cursor: { piece: 0, line: 0 }, top: 0, note: 'd: back to the hunks' })
  }

  async #edit(piece: KeyedPiece): Promise<void> {
    const before = hunkText(piece, this.#state.draft)
    if (before === null) return this.#note('This hunk is not UTF-8: it is accepted or rejected as it is.')
    const { path } = piece.piece.file
    const after = await this.#screen.lend(() => this.#app.edit(before, path))
    if (after === null) return this.#note('The editor failed, or there is none: set EDITOR.')
    if (after === before) return this.#note('Nothing was edited.')
    const { state, effects } = decideOn(this.#state, [piece.key], { kind: 'edited', text: after, reason: '' })
    this.#show(state)
    for (const effect of effects) this.#perform(effect)
  }

  async #finish(does: 'land' | 'approve' | 'send-back' | 'comment'): Promise<void> {
    await this.#writer.flush()
    const { id, digest } = this.#state.change
    // Landing and all it needs is loaded when it is asked for: the first hunk does not wait for it.
    const { finishReview } = await import('../flow/review/finish-review.ts')
    const finished = await this.#screen.lend(async () => {
      const done = await finishReview(this.#app.world, { id, digest, via: 'terminal', does })
      this.#app.write(this.#app.describe(done))
      return done
    })
    if (finished.kind !== 'commented' && finished.kind !== 'held') return this.#end({ kind: 'finished' })
    const why =
      finished.kind === 'held'
        ? 'Not approved: a check wrote on what you accepted, or fails on it.'
        : 'The comments are sent.'
    await this.#reopen(why)
  }

  async #reopen(note: string): Promise<void> {
    const inHand = await openReview(this.#app.world, this.#state.change.id)
    const { queue, size, needs } = this.#state
    this.#writer = this.#openWriter(inHand)
    this.#show({ ...stateOf(inHand, queue, size), needs, note })
  }

  #onNews({ draft, others }: DraftNews): void {
    const words = others.length === 1 ? 'A hunk was' : `${others.length} hunks were`
    const note = others.length === 0 ? this.#state.note : `${words} decided in another view.`
    this.#show({ ...this.#state, draft, note })
  }

  /** Another view may have written the draft, an agent a revision, somebody else a decision. */
  async #look(): Promise<void> {
    if (this.#isBusy || this.#isOver) return
    try {
      await this.#writer.look()
      if (++this.#looks % LOOKS_A_CHANGE === 0) await this.#lookAtChange()
    } catch (error) {
      this.#note(this.#app.faultText(error))
    }
  }

  async #lookAtChange(): Promise<void> {
    const { change } = await lookAtReview(this.#app.world, this.#state.change.id)
    if (this.#isBusy || this.#isOver) return
    const was = this.#state.change
    if (change.revision !== was.revision) return this.#onRevision(change.revision)
    const isNews = change.state !== was.state || change.comments.length !== was.comments.length
    if (!isNews && change.approvals.length === was.approvals.length) return
    const note = isPending(change.state)
      ? ''
      : `${change.id} is ${change.state} meanwhile: nothing is left to decide.`
    this.#show({ ...this.#state, change, note })
  }

  async #onRevision(revision: number): Promise<void> {
    const decided = this.#state.draft.decided.length
    const { prompt } = this.#state
    await this.#writer.flush()
    await this.#reopen('')
    const stand = this.#state.draft.decided.length
    const fell = decided - stand
    const differs = fell === 0 ? 'none of them fell' : `${fell} fell, since their hunks differ`
    const note = `Revision ${revision}: ${stand} of your ${decided} decisions stand, ${differs}. d shows the difference.`
    this.#show({ ...this.#state, prompt, note })
  }

  async #end(ended: Ended): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#screen.close()
    this.#painter.close()
    await this.#writer.flush()
    this.#resolve(ended)
  }
}

/** A review as it begins, or goes on with another revision: at the first piece that is undecided. */
export function stateOf(
  { change, files, pieces, draft }: ReviewInHand,
  queue: ReviewState['queue'],
  size: ReviewState['size'],
): ReviewState {
  const state: ReviewState = {
    change,
    needs: null,
    files,
    whole: pieces,
    draft,
    since: null,
    cursor: { piece: 0, line: 0 },
    top: 0,
    left: 0,
    wraps: false,
    showsBlanks: false,
    context: new Map(),
    search: '',
    mode: 'hunks',
    scrolled: 0,
    prompt: null,
    note: '',
    queue,
    size,
  }
  const decided = new Set(draft.decided.map(({ key }) => key))
  const first = shownPieces(state).findIndex(({ key }) => !decided.has(key))
  return first <= 0 ? state : moveTo(state, bodyFor(state).starts[first] ?? 0)
}
