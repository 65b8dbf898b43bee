import type { ChangeView } from '../flow/change-view.ts'
import type { ApprovalNeeds } from '../flow/review/approval-needs.ts'
import type { DiffFile } from '../review/diff-file.ts'
import { actOnDraft, type DraftAction, type ReviewDraft } from '../review/draft.ts'
import { type DraftOutcome, outcomeOf } from '../review/draft-notes.ts'
import { type KeyedPiece, splitPieces } from '../review/piece-keys.ts'
import { type Body, type BodyLine, bodyOf } from './body.ts'

/** A key as node names it. */
export interface Key {
  readonly name: string
  /** What it types; `''` for one that types nothing. */
  readonly text: string
  readonly isControl: boolean
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** What the line at the bottom asks for. */
export interface Prompt {
  readonly kind: 'reason' | 'comment' | 'search'
  readonly text: string
  /** Pieces that a reason is for. */
  readonly keys: readonly string[]
  readonly path?: string
  readonly line?: number
  readonly about: readonly string[]
  /** The comment that is changed. */
  readonly id?: string
}

export interface ReviewState {
  readonly change: ChangeView
  /** null = not known yet. */
  readonly needs: ApprovalNeeds | null
  readonly files: readonly DiffFile[]
  /** Whole pieces. */
  readonly whole: readonly KeyedPiece[]
  readonly draft: ReviewDraft
  /** Pieces of the difference to the revision that this reviewer had before them before; null = not shown. */
  readonly since: readonly KeyedPiece[] | null
  readonly cursor: { readonly piece: number; readonly line: number }
  /** First line of the scroll on the screen. */
  readonly top: number
  readonly left: number
  readonly wraps: boolean
  readonly showsBlanks: boolean
  readonly context: ReadonlyMap<string, number>
  readonly search: string
  readonly mode: 'hunks' | 'help' | 'finish'
  /** Rows of the keys or the last question that are scrolled away. */
  readonly scrolled: number
  readonly prompt: Prompt | null
  /** What happened last, in the bottom line. */
  readonly note: string
  /** How many changes wait, this one among them, and which of them it is. */
  readonly queue: { readonly at: number; readonly count: number }
  readonly size: Size
}

/** What only the caller can do. */
export type Effect =
  | { readonly kind: 'act'; readonly actions: readonly DraftAction[] }
  | { readonly kind: 'edit'; readonly piece: KeyedPiece }
  | { readonly kind: 'finish'; readonly does: 'land' | 'approve' | 'send-back' | 'comment' }
  | { readonly kind: 'since' }
  | { readonly kind: 'go'; readonly by: 1 | -1 }
  | { readonly kind: 'quit' }

export interface Step {
  readonly state: ReviewState
  readonly effects: readonly Effect[]
}

/** The pieces that are shown. */
export const shownPieces = (state: Pick<ReviewState, 'since' | 'whole' | 'draft'>): readonly KeyedPiece[] => {
  if (state.since !== null) return state.since
  const known = splitMemo.get(state.whole)
  if (known !== undefined && known.split === state.draft.split) return known.pieces
  const pieces = splitPieces(state.whole, state.draft.split)
  splitMemo.set(state.whole, { split: state.draft.split, pieces })
  return pieces
}

const splitMemo = new WeakMap<
  readonly KeyedPiece[],
  { readonly split: readonly string[]; readonly pieces: readonly KeyedPiece[] }
>()
const bodyMemo = new WeakMap<
  readonly KeyedPiece[],
  { readonly comments: unknown; readonly drafts: unknown; readonly context: unknown; readonly body: Body }
>()

/** The scroll of what is shown; made anew only where it changes. */
export function bodyFor(state: ReviewState): Body {
  const pieces = shownPieces(state)
  const { comments } = state.change
  const { comments: drafts } = state.draft
  const { context } = state
  const known = bodyMemo.get(pieces)
  if (known?.comments === comments && known.drafts === drafts && known.context === context) return known.body
  const body = bodyOf({ pieces, comments, drafts, context })
  bodyMemo.set(pieces, { comments, drafts, context, body })
  return body
}

export const outcomeFor = (state: ReviewState): DraftOutcome => outcomeOf(state.draft, state.whole)

/** Index of the cursor's line in the scroll. */
export function cursorLine(state: ReviewState): number {
  const { lines, starts } = bodyFor(state)
  const start = starts[state.cursor.piece] ?? 0
  const end = starts[state.cursor.piece + 1] ?? lines.length
  return Math.max(0, Math.min(start + state.cursor.line, end - 1))
}

export const lineAtCursor = (state: ReviewState): BodyLine | undefined =>
  bodyFor(state).lines[cursorLine(state)]

export const pieceAtCursor = (state: ReviewState): KeyedPiece | undefined =>
  shownPieces(state)[state.cursor.piece]

/** Rows that the head, the rules and the foot take. */
const AROUND = 6
/** Below this width the list of files is one line. */
export const LIST_FROM_COLUMNS = 80

export const bodyHeight = ({ columns, rows }: Size): number =>
  Math.max(1, rows - AROUND - (columns < LIST_FROM_COLUMNS ? 1 : 0))

/** Puts the cursor on a line of the scroll, and the screen where it is seen. */
export function moveTo(state: ReviewState, line: number): ReviewState {
  const { lines, starts } = bodyFor(state)
  const at = Math.max(0, Math.min(line, lines.length - 1))
  const piece = lines[at]?.piece ?? 0
  const moved = { ...state, cursor: { piece, line: at - (starts[piece] ?? 0) } }
  return seen(moved, at)
}

/** Keeps the cursor on the screen, with a few lines around it where there is room. */
export function seen(state: ReviewState, at = cursorLine(state)): ReviewState {
  const height = bodyHeight(state.size)
  const count = bodyFor(state).lines.length
  const margin = Math.min(3, (height - 1) >> 1)
  const lowest = Math.max(0, at - height + 1 + margin)
  const top = Math.max(lowest, Math.min(state.top, Math.max(0, at - margin)))
  return { ...state, top: Math.min(top, Math.max(0, count - 1)) }
}

/** Puts a piece at the top of the screen, its file's name with it. */
export function moveToPiece(state: ReviewState, piece: number): ReviewState {
  const { starts } = bodyFor(state)
  const start = starts[piece]
  if (start === undefined) return state
  return { ...state, cursor: { piece, line: 0 }, top: start, left: 0 }
}

/** Does actions on the draft at once; the caller writes them down. */
export function acted(state: ReviewState, actions: readonly DraftAction[], note = ''): Step {
  const draft = actions.reduce(actOnDraft, state.draft)
  return { state: { ...state, draft, note }, effects: [{ kind: 'act', actions }] }
}

/** The next piece without a decision, from the cursor on and round; -1 = all are decided. */
export function nextUndecided(state: ReviewState, by: 1 | -1): number {
  const pieces = shownPieces(state)
  const decided = new Set(state.draft.decided.map(({ key }) => key))
  for (let i = 1; i <= pieces.length; i++) {
    const at = (state.cursor.piece + by * i + pieces.length * i) % pieces.length
    const piece = pieces[at]
    if (piece !== undefined && !decided.has(piece.key)) return at
  }
  return -1
}
