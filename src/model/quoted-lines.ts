/** Why quoted lines do not prove a place. */
export type QuoteWeakness =
  | { readonly rule: 'three-lines'; readonly count: number }
  | { readonly rule: 'short-line'; readonly count: number; readonly line: string }

/** Quoted lines that are needed, and where one of them is short. */
export const quotedLinesMin = 3
export const quotedLinesMinWithShort = 4
/** Lines with fewer bytes of UTF-8 are short. */
export const shortLineBytes = 3

/** The lines that count when text is quoted as evidence: blanks at both ends and blank lines aside, curly quotes as straight ones. */
export const evidenceLines = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => straightQuotes(trimmed(line))).filter((line) => line !== '')

/** Judges lines that count by zapmyco's content rules: three are needed, four if one is short. null = they suffice. */
export function weaknessOf(lines: readonly string[]): QuoteWeakness | null {
  const count = lines.length
  if (count < quotedLinesMin) return { rule: 'three-lines', count }
  if (count >= quotedLinesMinWithShort) return null
  const line = lines.find((candidate) => Buffer.byteLength(candidate) < shortLineBytes)
  return line === undefined ? null : { rule: 'short-line', count, line }
}

const straightQuotes = (line: string): string =>
  line.replace(/[\u2018\u2019\u201c\u201d]/g, (quote) => (quote < '\u201c' ? "'" : '"'))

/** Unicode's White_Space: what Rust trims. Unlike JavaScript's `trim`, U+0085 is in it and U+FEFF is not. */
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** Both ends by hand: a pattern that is anchored at the end costs the square of a run of blanks. */
function trimmed(line: string): string {
  let start = 0
  let end = line.length
  while (start < end && SPACE.test(line.charAt(start))) start++
  while (end > start && SPACE.test(line.charAt(end - 1))) end--
  return line.slice(start, end)
}
