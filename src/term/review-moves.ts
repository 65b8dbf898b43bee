import type { Decision } from '../review/draft.ts'
import type { BodyLine } from './body.ts'
import {
  acted,
  bodyFor,
  cursorLine,
  moveTo,
  moveToPiece,
  nextUndecided,
  type ReviewState,
  type Step,
} from './review-state.ts'

export const stay = (state: ReviewState): Step => ({ state, effects: [] })
export const noted = (state: ReviewState, note: string): Step => stay({ ...state, note })

/** Goes to the next line that holds what was searched for. */
export function searched(state: ReviewState, by: 1 | -1): Step {
  if (state.search === '') return noted(state, '/ searches.')
  const { lines } = bodyFor(state)
  const wanted = state.search.toLowerCase()
  const at = cursorLine(state)
  for (let i = 1; i <= lines.length; i++) {
    const index = (at + by * i + lines.length * i) % lines.length
    if (textOf(lines[index]).toLowerCase().includes(wanted)) return stay(moveTo(state, index))
  }
  return noted(state, `not found: ${state.search}`)
}

const decoder = new TextDecoder()
export const textOf = (line: BodyLine | undefined): string =>
  typeof line?.text === 'string' ? line.text : decoder.decode(line?.text)

/** Decides, and goes on to what is undecided next. */
export function decideOn(state: ReviewState, keys: readonly string[], decision: Decision): Step {
  const { revision } = state.draft
  const { state: after, effects } = acted(state, [
    { kind: 'decide', revision, keys, decision, via: 'terminal' },
  ])
  const next = nextUndecided(after, 1)
  if (next === -1)
    return { state: { ...after, note: 'All hunks are decided: f finishes the review.' }, effects }
  return { state: moveToPiece(after, next), effects }
}
