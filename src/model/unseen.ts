/**
 * Whatever a reader cannot see or tell apart, or what moves the cursor or reorders the line: control, format, private and
 * unassigned characters, halves of surrogate pairs, separators, default-ignorable characters, every space but the plain
 * one, and two symbols that are drawn as nothing.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}\u{1D159}]/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One unseen character of a text, and where it stands. */
export interface Unseen {
  readonly character: string
  readonly index: number
}

/** The unseen characters of a text, in order; tabs and line feeds are among them. */
export function* unseenIn(text: string): Generator<Unseen> {
  for (const { 0: character, index } of text.matchAll(UNSEEN)) yield { character, index }
}

/** One unseen character written out: `\u{202E}`. */
export const codeOf = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`

/** A text for one line of a message: everything unseen written out, tabs and line ends the short way (`\t`). */
export const withUnseenShown = (text: string): string =>
  text.replace(UNSEEN, (character) => SHORT[character] ?? codeOf(character))
