/** Letters of other alphabets that pass for Latin ones, where they stand in one word with them. */
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\u{FF21}-\u{FF3A}\u{FF41}-\u{FF5A}\u{1D400}-\u{1D7FF}]/u
const LATIN = /[a-zA-Z]/
const WORD = /[\p{L}\p{N}_$]+/gu
/** Signs that are drawn like those of a program, and are none: semicolon, colon, slash, exclamation mark, bars, dots, hyphens. */
const SIGNS =
  /[\u037E\u2236\uA789\u2215\u2044\u29F8\u01C3\u2223\u2024\u2010\u2011\u2043\u02BC\u02B9\u0589\u05C3\u1804\uFE68\uFF3C]/g
const MARK = /^[\p{Mn}\p{Me}]/u
const ANY_MARK = /[\p{Mn}\p{Me}]/u
/** Tibetan stacks so many over one letter. */
const MARKS_DRAWN = 4
const ASCII = /^[\x20-\x7e\t]*$/

interface Found {
  readonly index: number
  readonly character: string
}

/**
 * Where a text holds what a reader takes for something else, in order: signs and letters that pass for others, marks without a letter, and
 * more marks over one letter than any script needs, which reach into the lines around.
 */
export function misleadingIn(text: string): readonly Found[] {
  if (ASCII.test(text)) return []
  const found = [...lookAlikesIn(text), ...looseMarksIn(text)]
  return found.sort((a, b) => a.index - b.index)
}

function lookAlikesIn(text: string): readonly Found[] {
  const found: Found[] = []
  for (const { 0: character, index } of text.matchAll(SIGNS)) found.push({ index, character })
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!LATIN.test(word) || !FOREIGN.test(word)) continue
    let at = index
    for (const character of word) {
      if (FOREIGN.test(character)) found.push({ index: at, character })
      at += character.length
    }
  }
  return found
}

function looseMarksIn(text: string): readonly Found[] {
  if (!ANY_MARK.test(text)) return []
  const found: Found[] = []
  let index = 0
  // As if so many stood there already: a mark at the beginning has no letter.
  let marks = MARKS_DRAWN
  for (const character of text) {
    const isMark = MARK.test(character)
    if (isMark && ++marks > MARKS_DRAWN) found.push({ index, character })
    if (!isMark) marks = /\s/u.test(character) ? MARKS_DRAWN : 0
    index += character.length
  }
  return found
}
