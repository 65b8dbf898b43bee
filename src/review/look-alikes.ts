/** Letters of other alphabets that pass for Latin ones, where they stand in one word with them. */
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\u{FF21}-\u{FF3A}\u{FF41}-\u{FF5A}\u{1D400}-\u{1D7FF}]/u
const LATIN = /[a-zA-Z]/
const WORD = /[\p{L}\p{N}_$]+/gu
/** Signs that are drawn like those of a program, and are none: semicolon, colon, slash, exclamation mark, bars, dots, hyphens. */
const SIGNS =
  /[\u037E\u2236\uA789\u2215\u2044\u29F8\u01C3\u2223\u2024\u2010\u2011\u2043\u02BC\u02B9\u0589\u05C3\u1804\uFE68\uFF3C]/g

/** Where a text holds a character that a reader takes for another one: index and the character, in order. */
export function lookAlikesIn(
  text: string,
): readonly { readonly index: number; readonly character: string }[] {
  if (ASCII.test(text)) return []
  const found: { index: number; character: string }[] = []
  for (const { 0: character, index } of text.matchAll(SIGNS)) found.push({ index, character })
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!LATIN.test(word) || !FOREIGN.test(word)) continue
    let at = index
    for (const character of word) {
      if (FOREIGN.test(character)) found.push({ index: at, character })
      at += character.length
    }
  }
  return found.sort((a, b) => a.index - b.index)
}

const ASCII = /^[\x20-\x7e\t]*$/
