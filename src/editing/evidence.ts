import type { LinesEdit } from '../model/edit.ts'
import { evidenceLines, type QuoteWeakness, weaknessOf } from '../model/quoted-lines.ts'

/** How lines quoted as `expected` compare with the lines named. */
export type EvidenceVerdict =
  /** `weakness`: why they are too few to prove the place alone; null = they do prove it. */
  | { readonly kind: 'holds'; readonly weakness: QuoteWeakness | null }
  | { readonly kind: 'differs'; readonly missing: readonly string[] }

/**
 * Compares quoted lines with the file's (zapmyco's content rules, with multiplicity).
 *
 * Curly quotes count as straight ones, blanks at both ends and blank lines as nothing. Every quoted line must stand
 * among the file's: `in-order` one below the other, `any-order` as often as it is quoted.
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
  return { kind: 'holds', weakness: weaknessOf(quoted) }
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
