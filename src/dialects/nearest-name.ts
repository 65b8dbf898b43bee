/** Longer names are compared by their beginning: a tool's name from a request may be of any length. */
const comparedMaxCharacters = 64

/**
 * The candidates that a mistyped name most likely means, best first, at most three: those that differ by few
 * letters, or hold the name, or are held by it.
 */
export function nearestNames(name: string, candidates: readonly string[]): readonly string[] {
  const asked = comparable(name)
  return candidates
    .map((candidate) => ({ candidate, distance: distanceOf(asked, comparable(candidate)) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

const comparable = (name: string): string =>
  name
    .slice(0, comparedMaxCharacters)
    .toLowerCase()
    .replaceAll('-', () => '_')

function distanceOf(a: string, b: string): number {
  if (a.length > 3 && b.length > 3 && (a.includes(b) || b.includes(a))) return 1
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
