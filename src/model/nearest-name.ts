const LONGEST = 64

/**
 * Returns the known word that a mistaken one was most likely meant to be, or null where none is near.
 *
 * Near is: equal but for letter case; one of the parts of the mistaken word (`old_string` means `old`); or at most a
 * third of its letters typed wrong, left out, added or swapped.
 */
export function nearestName(word: string, known: readonly string[]): string | null {
  if (word === '' || word.length > LONGEST) return null
  const small = word.toLowerCase()
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - small.length) >= bestDistance) continue
    const distance = editDistance(small, candidate.toLowerCase())
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  if (best !== null) return best
  const parts = new Set(partsOf(word))
  return known.find((candidate) => parts.has(candidate.toLowerCase())) ?? null
}

/** `old_string`, `old-string` and `oldString` have the parts `old` and `string`. */
function partsOf(word: string): readonly string[] {
  return word
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .split(/[^a-z0-9]/)
    .filter((part) => part !== '')
}

/** Letters to type wrong, leave out, add, or swap with the next: the distance of Damerau and Levenshtein. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let least = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + (same ? 0 : 1),
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) least = Math.min(least, at(before, column - 2) + 1)
      current.push(least)
    }
    before = above
    above = current
  }
  return at(above, b.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
