import { limits } from '../model/limits.ts'
import { withUnseenShown } from '../model/unseen.ts'

/**
 * What no name may hold: control, bidirectional, invisible and line-separating characters, and halves of surrogate pairs.
 * Fewer than are written out in messages: a space of another width may stand in a name, and is shown.
 */
const REFUSED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]/u

/** Names a code point the usual way: `U+200C`. */
export const codePointName = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Returns the first character that a reader cannot see or that reorders what they see, or null. */
export const firstUnseen = (text: string): string | null => REFUSED.exec(text)?.[0] ?? null

/** Whether the text can be written as UTF-8: it holds no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean =>
  // Part of Node since version 20; TypeScript knows it from its es2024 library on.
  (text as string & { isWellFormed(): boolean }).isWellFormed()

/**
 * Quotes foreign text for a message: in double quotes, cut to `limits.quoteMaxCharacters` UTF-16 units, with
 * everything that cannot be seen written as an escape (`\u{200C}`), so that what is shown is what is meant.
 */
export function quote(text: string): string {
  const cut = text.length > limits.quoteMaxCharacters
  const shown = (cut ? text.slice(0, limits.quoteMaxCharacters) : text).replace(/["\\]/g, (c) => `\\${c}`)
  return `"${withUnseenShown(shown)}${cut ? '…' : ''}"`
}

/** Names a JSON value and its type for a message: `number 3`, `text "x"`, `a list`. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value === 'string') return `text ${quote(value)}`
  if (typeof value === 'object') return Array.isArray(value) ? `a list of ${value.length}` : 'an object'
  return typeof value === 'boolean' ? `${value}` : `number ${String(value)}`
}
