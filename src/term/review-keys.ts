import type { DraftComment } from '../review/draft.ts'
import { isEditable, partsOf } from '../review/pieces.ts'
import { pressInPrompt } from './prompt-keys.ts'
import { decideOn, noted, searched, stay, textOf } from './review-moves.ts'
import {
  acted,
  bodyFor,
  bodyHeight,
  cursorLine,
  type Key,
  lineAtCursor,
  moveTo,
  moveToPiece,
  nextUndecided,
  outcomeFor,
  type Prompt,
  pieceAtCursor,
  type ReviewState,
  type Step,
  shownPieces,
} from './review-state.ts'

/** Where there are more rows than the screen has. */
const SCROLLS: Readonly<Record<string, number>> = { down: 1, up: -1, pagedown: 5, pageup: -5, space: 5 }

/** One key: the next state, and what only the caller can do. */
export function press(state: ReviewState, key: Key): Step {
  if (key.isControl && (key.name === 'c' || key.name === 'd')) return { state, effects: [{ kind: 'quit' }] }
  const fresh = { ...state, note: '' }
  if (state.prompt !== null) return pressInPrompt(fresh, state.prompt, key)
  const by = state.mode === 'hunks' ? undefined : SCROLLS[key.name]
  if (by !== undefined) return stay({ ...fresh, scrolled: Math.max(0, state.scrolled + by) })
  if (state.mode === 'help') return stay({ ...fresh, mode: 'hunks' })
  if (state.mode === 'finish') return pressInFinish(fresh, key)
  if (key.isControl) return pressControl(fresh, key)
  return (
    moved(fresh, key) ??
    decided(fresh, key) ??
    shown(fresh, key) ??
    noted(fresh, `no key: ${key.text === '' ? key.name : key.text} (? shows all)`)
  )
}

function pressControl(state: ReviewState, { name }: Key): Step {
  const page = bodyHeight(state.size)
  if (name === 'f') return stay(moveTo(state, cursorLine(state) + page))
  if (name === 'b') return stay(moveTo(state, cursorLine(state) - page))
  return stay(state)
}

/** Keys that move the cursor; null = another key. */
function moved(state: ReviewState, { name, text }: Key): Step | null {
  const at = cursorLine(state)
  const page = bodyHeight(state.size) - 1
  const lines: Readonly<Record<string, number>> = { down: 1, up: -1, pagedown: page, pageup: -page }
  const by = { j: 1, k: -1 }[text] ?? lines[name]
  if (by !== undefined) return stay(moveTo(state, at + by))
  if (text === 'g' || name === 'home') return stay(moveTo(state, 0))
  if (text === 'G' || name === 'end') return stay(moveTo(state, bodyFor(state).lines.length - 1))
  if (text === ' ' || text === 'J') return toUndecided(state, 1)
  if (text === 'K') return toUndecided(state, -1)
  if (text === ']' || text === '[') return toFile(state, text === ']' ? 1 : -1)
  if (name === 'tab') return stay(moveToPiece(state, state.cursor.piece + 1))
  if (name === 'right') return stay({ ...state, left: state.left + 8 })
  if (name === 'left') return stay({ ...state, left: Math.max(0, state.left - 8) })
  if (name === 'return' || text === '>') return searched(state, 1)
  return text === '<' ? searched(state, -1) : null
}

function toUndecided(state: ReviewState, by: 1 | -1): Step {
  const piece = state.since === null ? nextUndecided(state, by) : -1
  return piece === -1
    ? noted(state, 'Nothing is undecided. f finishes the review.')
    : stay(moveToPiece(state, piece))
}

function toFile(state: ReviewState, by: 1 | -1): Step {
  const pieces = shownPieces(state)
  const own = pieces[state.cursor.piece]?.fileKey
  let at = state.cursor.piece
  while (pieces[at] !== undefined && pieces[at]?.fileKey === own) at += by
  const target = pieces[at]?.fileKey
  if (target === undefined)
    return noted(state, by === 1 ? 'This is the last file.' : 'This is the first file.')
  return stay(
    moveToPiece(
      state,
      pieces.findIndex(({ fileKey }) => fileKey === target),
    ),
  )
}

/** Keys that decide; null = another key. */
function decided(state: ReviewState, { text }: Key): Step | null {
  if (!/^[yYnNescuv]$/.test(text)) return null
  if (state.since !== null && text !== 'v')
    return noted(state, 'This is the difference to what you saw last: d goes back to the hunks.')
  const piece = pieceAtCursor(state)
  if (piece === undefined) return noted(state, 'There is nothing to decide on.')
  switch (text) {
    case 'y':
      return accept(state, [piece.key])
    case 'Y':
      return accept(state, restOfFile(state))
    case 'n':
    case 'N':
      return stay({ ...state, prompt: reasonFor(state, text === 'n' ? [piece.key] : restOfFile(state)) })
    case 'e':
      return isEditable(piece.piece)
        ? { state, effects: [{ kind: 'edit', piece }] }
        : noted(state, 'Only a hunk of a file with lines can be edited.')
    case 's':
      return splitAt(state)
    case 'c':
      return stay({ ...state, prompt: commentFor(state) })
    case 'u':
      return undo(state)
    default: {
      const isViewed = !state.draft.viewed.includes(piece.fileKey)
      return acted(
        state,
        [{ kind: 'viewed', fileKey: piece.fileKey, isViewed }],
        isViewed ? 'viewed' : 'not viewed',
      )
    }
  }
}

/** Goes to what is undecided again. */
function undo(state: ReviewState): Step {
  const key = state.draft.steps.at(-1)?.before[0]?.key
  if (key === undefined) return noted(state, 'Nothing is decided yet.')
  const action = { kind: 'undo', revision: state.draft.revision } as const
  const step = acted(state, [action], 'The last decision is taken back.')
  const piece = shownPieces(step.state).findIndex((one) => one.key === key)
  return piece === -1 ? step : { ...step, state: moveToPiece(step.state, piece) }
}

function restOfFile(state: ReviewState): readonly string[] {
  const own = pieceAtCursor(state)
  const known = new Set(state.draft.decided.map(({ key }) => key))
  const rest = shownPieces(state).filter(
    ({ key, fileKey }) => fileKey === own?.fileKey && (key === own.key || !known.has(key)),
  )
  return rest.map(({ key }) => key)
}

const accept = (state: ReviewState, keys: readonly string[]): Step =>
  decideOn(state, keys, { kind: 'accepted' })

function reasonFor(state: ReviewState, keys: readonly string[]): Prompt {
  const [first = ''] = keys
  const was = state.draft.decided.find(({ key }) => key === first)?.decision
  const begun = state.draft.typing.find(({ where }) => where === `reason:${first}`)?.text
  return { kind: 'reason', text: begun ?? (was?.kind === 'rejected' ? was.reason : ''), keys, about: [] }
}

/** On the line under the cursor where the new file has it; on the hunk otherwise. A comment that stands there is changed. */
function commentFor(state: ReviewState): Prompt {
  const line = lineAtCursor(state)
  const piece = pieceAtCursor(state)
  const path = piece?.piece.file.path ?? ''
  const key = piece?.key ?? ''
  if (line?.fresh !== undefined && piece?.piece.file.after !== null) {
    const own = state.draft.comments.find((one) => one.line === line.fresh && one.path === path)
    const place = { keys: [], path, line: line.fresh, about: [textOf(line)] }
    return { kind: 'comment', ...place, ...wordsFor(state, own, `comment:${path}:${line.fresh}`) }
  }
  const changed = bodyFor(state).lines.filter(
    (one) => one.piece === state.cursor.piece && (one.kind === 'add' || one.kind === 'remove'),
  )
  const about = changed.slice(0, 20).map((one) => `${one.kind === 'add' ? '+' : '-'}${textOf(one)}`)
  const own = state.draft.comments.find((one) => one.key === key)
  return { kind: 'comment', keys: [key], path, about, ...wordsFor(state, own, `comment:${key}`) }
}

/** What the box holds at first: what was begun there, or the comment that is there. */
function wordsFor(state: ReviewState, own: DraftComment | undefined, where: string) {
  const begun = state.draft.typing.find((one) => one.where === where)?.text
  return { text: begun ?? own?.text ?? '', ...(own === undefined ? {} : { id: own.id }) }
}

function splitAt(state: ReviewState): Step {
  const piece = pieceAtCursor(state)
  const whole = state.whole.find(({ key }) => key === piece?.wholeKey)
  if (piece === undefined || whole === undefined) return stay(state)
  const isSplit = piece.key === piece.wholeKey
  const count = partsOf(whole.piece).length
  if (count < 2) return noted(state, 'This hunk has one part only; e edits it.')
  const { revision } = state.draft
  const action = { kind: 'split', revision, hunkKey: piece.wholeKey, isSplit } as const
  const step = acted(state, [action], isSplit ? `${count} parts; s joins them again` : 'one hunk again')
  const first = shownPieces(step.state).findIndex(({ wholeKey }) => wholeKey === piece.wholeKey)
  return { ...step, state: moveToPiece(step.state, first) }
}

/** Keys that change what is shown; null = another key. */
function shown(state: ReviewState, { text }: Key): Step | null {
  switch (text) {
    case '/':
      return stay({ ...state, prompt: { kind: 'search', text: '', keys: [], about: [] } })
    case 'w':
      return stay({ ...state, wraps: !state.wraps, left: 0 })
    case 'x':
      return stay({ ...state, showsBlanks: !state.showsBlanks })
    case 'o':
    case 't':
      return stay(moreContext(state, text === 't'))
    case 'd':
      if (state.since !== null) return stay({ ...state, since: null, cursor: { piece: 0, line: 0 }, top: 0 })
      return state.draft.before === null
        ? noted(state, 'You have seen no earlier revision of this change.')
        : { state, effects: [{ kind: 'since' }] }
    case 'f':
      return stay({ ...state, mode: 'finish', scrolled: 0 })
    case 'l':
    case 'L':
      return { state, effects: [{ kind: 'go', by: text === 'l' ? 1 : -1 }] }
    case '?':
      return stay({ ...state, mode: 'help', scrolled: 0 })
    case 'q':
      return { state, effects: [{ kind: 'quit' }] }
    default:
      return null
  }
}

const WHOLE_FILE = 1_000_000
const MORE_LINES = 10

function moreContext(state: ReviewState, isWhole: boolean): ReviewState {
  const piece = pieceAtCursor(state)
  if (piece === undefined) return state
  const now = state.context.get(piece.fileKey) ?? 0
  const next = isWhole ? (now === WHOLE_FILE ? 0 : WHOLE_FILE) : Math.min(WHOLE_FILE, now + MORE_LINES)
  const context = new Map([...state.context, [piece.fileKey, next]])
  return moveToPiece({ ...state, context }, state.cursor.piece)
}

function pressInFinish(state: ReviewState, { text }: Key): Step {
  const { accepted, edited, rejected, undecided, notes } = outcomeFor(state)
  const finish = (does: 'land' | 'approve' | 'send-back' | 'comment'): Step => ({
    state: { ...state, mode: 'hunks' },
    effects: [{ kind: 'finish', does }],
  })
  const mayApprove = undecided.length === 0 && accepted.length + edited.length > 0
  if (text === 'l' && mayApprove) return finish('land')
  if (text === 'a' && mayApprove) return finish('approve')
  if (text === 's' && rejected.length + notes.length > 0) return finish('send-back')
  if (text === 'c' && state.draft.comments.length > 0) return finish('comment')
  return noted({ ...state, mode: 'hunks' }, 'Nothing was sent.')
}
