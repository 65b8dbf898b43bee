/** Why lines quoted as `expected` do not prove a place, by zapmyco's content rules. */
export type EvidenceFault =
  | { readonly rule: 'three-lines'; readonly count: number }
  | { readonly rule: 'short-line'; readonly count: number; readonly line: string }

const minimumLines = 3
const minimumLinesWithShort = 4
const shortLineBytes = 3

const encoder = new TextEncoder()

/** What zapmyco trims: Unicode's White_Space. Unlike JavaScript's `trim`, U+0085 is in it and U+FEFF is not. */
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/**
 * Checks quoted lines by zapmyco's content rules: at least three lines that are not blank, and four where one of
 * them is shorter than three bytes of UTF-8.
 *
 * Whether the lines stand in the range named is the engine's to judge.
 *
 * @returns null where the lines suffice.
 */
export function evidenceFault(expected: string): EvidenceFault | null {
  const lines = expected
    .split('\n')
    .map(trimmed)
    .filter((line) => line !== '')
  const count = lines.length
  if (count < minimumLines) return { rule: 'three-lines', count }
  if (count >= minimumLinesWithShort) return null
  const line = lines.find((candidate) => encoder.encode(candidate).length < shortLineBytes)
  return line === undefined ? null : { rule: 'short-line', count, line }
}

/** Both ends by hand: a pattern that is anchored at the end costs the square of a run of blanks. */
function trimmed(line: string): string {
  let start = 0
  let end = line.length
  while (start < end && SPACE.test(line.charAt(start))) start++
  while (end > start && SPACE.test(line.charAt(end - 1))) end--
  return line.slice(start, end)
}
