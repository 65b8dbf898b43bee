import type { DraftAction } from '../review/draft.ts'
import { decideOn, noted, searched, stay } from './review-moves.ts'
import { acted, type Key, type Prompt, type ReviewState, type Step } from './review-state.ts'

/** A key while the bottom line asks for words. What is typed is kept with every key, so that nothing of it is lost. */
export function pressInPrompt(state: ReviewState, prompt: Prompt, key: Key): Step {
  if (key.name === 'escape') return noted({ ...state, prompt: null }, keptWords(prompt))
  if (key.name === 'return' || key.name === 'enter') return confirmed({ ...state, prompt: null }, prompt)
  const text = edited(prompt.text, key)
  if (text === prompt.text) return stay(state)
  const next = { ...state, prompt: { ...prompt, text } }
  return prompt.kind === 'search' ? stay(next) : acted(next, [typed(prompt, text)])
}

const keptWords = ({ kind, text }: Prompt): string =>
  kind === 'search' || text === '' ? '' : 'What you typed is kept: the same key goes on with it.'

function edited(text: string, { name, text: typed, isControl }: Key): string {
  if (name === 'backspace') return [...text].slice(0, -1).join('')
  if (isControl && name === 'u') return ''
  if (isControl && name === 'w') return text.replace(/\S*\s*$/, '')
  return isControl ? text : `${text}${typed}`
}

const whereOf = ({ kind, keys, path, line }: Prompt): string =>
  line === undefined ? `${kind}:${keys[0] ?? ''}` : `${kind}:${path}:${line}`

function typed(prompt: Prompt, text: string): DraftAction {
  const { path, about } = prompt
  return {
    kind: 'type',
    typing: { where: whereOf(prompt), text, ...(path === undefined ? {} : { path }), about },
  }
}

function confirmed(state: ReviewState, prompt: Prompt): Step {
  const text = prompt.text.trim()
  if (prompt.kind === 'search') return searched({ ...state, search: text === '' ? state.search : text }, 1)
  const done = acted(state, [typed(prompt, '')])
  const step =
    prompt.kind === 'reason'
      ? decideOn(done.state, prompt.keys, { kind: 'rejected', reason: text })
      : put(done.state, prompt, text)
  return { state: step.state, effects: [...done.effects, ...step.effects] }
}

function put(state: ReviewState, { id, keys, path, line, about }: Prompt, text: string): Step {
  if (text === '' && id === undefined) return noted(state, 'No comment was made.')
  const taken = new Set(state.draft.comments.map((one) => one.id))
  let number = taken.size + 1
  while (taken.has(`t${number}`)) number++
  const place = line === undefined ? { key: keys[0] ?? '' } : { line }
  const comment = { id: id ?? `t${number}`, text, ...place, ...(path === undefined ? {} : { path }), about }
  const note = text === '' ? 'The comment is gone.' : 'Your comment goes along when the review is finished.'
  return acted(state, [{ kind: 'comment', comment }], note)
}
