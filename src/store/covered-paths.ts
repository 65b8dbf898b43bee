/**
 * Makes the question whether a path is among some places of a tree, or below one that ends in `/`. Asking costs what the path is deep,
 * whatever the number of places.
 */
export function coveredBy(places: readonly string[]): (path: string) => boolean {
  const known = new Set(places)
  return (path) => {
    if (known.has(path)) return true
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
      if (known.has(path.slice(0, end + 1))) return true
    return false
  }
}
