import type { ReviewDraft } from '../review/draft.ts'
import type { KeyedPiece } from '../review/piece-keys.ts'

/** What an editor is given of a hunk: the lines that the new file has there, context among them; null = they are no text. */
export function hunkText({ piece, key }: KeyedPiece, draft: ReviewDraft): string | null {
  const begun = draft.typing.find(({ where }) => where === `edit:${key}`)?.text
  const made = draft.decided.find((one) => one.key === key)?.decision
  if (begun !== undefined) return begun
  if (made?.kind === 'edited') return made.text
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const lines = piece.hunks.flatMap((hunk) => hunk.lines).filter(({ kind }) => kind !== 'remove')
  try {
    return lines
      .map(({ text, unterminated }) => `${decoder.decode(text)}${unterminated === true ? '' : '\n'}`)
      .join('')
  } catch {
    return null
  }
}
