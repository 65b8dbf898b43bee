import type { LinesEdit } from '../model/edit.ts'

/** How lines quoted as `expected` compare with the lines named. */
export type EvidenceVerdict =
  | { readonly kind: 'holds'; readonly isStrong: boolean; readonly weakness: string | null }
  | { readonly kind: 'differs'; readonly missing: readonly string[] }

const LINES_MIN = 3
const LINES_MIN_WITH_SHORT = 4
const SHORT_BYTES = 3

/**
 * Compares quoted lines with the file's (zapmyco's content rules, with multiplicity).
 *
 * Curly quotes count as straight ones, blanks at both ends and blank lines as nothing. Every quoted line must stand
 * among the file's: `in-order` one below the other, `any-order` as often as it is quoted. The evidence is strong when
 * it quotes at least three lines, four if one has fewer than three bytes.
 */
export function compareEvidence(
  expected: string,
  actual: readonly string[],
  order: LinesEdit['expectedOrder'],
): EvidenceVerdict {
  const quoted = evidenceLines(expected.split('\n'))
  const present = evidenceLines(actual)
  const missing = order === 'in-order' ? missingInOrder(quoted, present) : missingAnywhere(quoted, present)
  if (missing.length > 0) return { kind: 'differs', missing }
  const weakness = weaknessOf(quoted)
  return { kind: 'holds', isStrong: weakness === null, weakness }
}

function evidenceLines(lines: readonly string[]): readonly string[] {
  return lines.map((line) => foldQuotes(trimmedLine(line))).filter((line) => line !== '')
}

function weaknessOf(quoted: readonly string[]): string | null {
  if (quoted.length < LINES_MIN)
    return `${quoted.length} lines that are not blank are quoted, ${LINES_MIN} are needed`
  const short = quoted.find((line) => Buffer.byteLength(line) < SHORT_BYTES)
  if (short === undefined || quoted.length >= LINES_MIN_WITH_SHORT) return null
  return `${quoted.length} lines are quoted and one has fewer than ${SHORT_BYTES} bytes, then ${LINES_MIN_WITH_SHORT} are needed`
}

/** Quoted lines that do not stand below the one before. */
function missingInOrder(quoted: readonly string[], present: readonly string[]): readonly string[] {
  const places = new Map<string, { readonly indexes: number[]; next: number }>()
  present.forEach((line, index) => {
    const known = places.get(line)
    if (known === undefined) places.set(line, { indexes: [index], next: 0 })
    else known.indexes.push(index)
  })
  let at = 0
  return quoted.filter((line) => {
    const known = places.get(line)
    if (known === undefined) return true
    // Places are passed once: the next quoted line is looked for further down.
    while ((known.indexes[known.next] ?? at) < at) known.next++
    const found = known.indexes[known.next]
    if (found === undefined) return true
    at = found + 1
    return false
  })
}

function missingAnywhere(quoted: readonly string[], present: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const line of present) left.set(line, (left.get(line) ?? 0) + 1)
  return quoted.filter((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0
  })
}

const foldQuotes = (line: string): string =>
  line.replace(/[\u2018\u2019\u201c\u201d]/g, (quote) => (quote < '\u201c' ? "'" : '"'))

/** Unicode's White_Space: what Rust trims. Unlike JavaScript's `trim`, U+0085 is in it and U+FEFF is not. */
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

function trimmedLine(line: string): string {
  let start = 0
  let end = line.length
  while (start < end && SPACE.test(line.charAt(start))) start++
  while (end > start && SPACE.test(line.charAt(end - 1))) end--
  return line.slice(start, end)
}
