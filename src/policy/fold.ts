const ASCII = /^[\x00-\x7f]*$/

/**
 * Returns the form in which paths are compared: two paths that a case-insensitive or normalising file system may
 * take for one (HFS+, APFS, NTFS) have the same form. It also unites some that no such system unites (`ß` and `ss`,
 * `ı` and `i`): a false collision is a refusal, a missed one is an overwritten file.
 *
 * The form is for comparing only; it is never written anywhere. Folding it again changes nothing.
 */
export function foldPath(path: string): string {
  if (ASCII.test(path)) return path.toLowerCase()
  // Through upper case: it brings ſ, ß, ﬁ, ı and the Kelvin sign to plain letters, which lower case alone does not.
  // Lower case before it, because ẞ is its own upper case.
  const lower = path.normalize('NFD').toLowerCase().toUpperCase().toLowerCase()
  // Lower case chooses ς or σ by what stands around it; a comparison must not.
  return lower.replaceAll('ς', () => 'σ').normalize('NFC')
}

/**
 * Prepares the look-up of names that differ from an existing one only by letter case or Unicode form.
 *
 * Costs one pass over the siblings; each look-up afterwards is constant. An exact match is no collision, also where
 * the directory holds both spellings already (a repository made on a case-sensitive file system).
 *
 * @param siblings - The names of one directory.
 */
export function collisionFinder(siblings: readonly string[]): (name: string) => string | null {
  const exact = new Set(siblings)
  const byFold = new Map<string, string>()
  for (const sibling of siblings) {
    const fold = foldPath(sibling)
    if (!byFold.has(fold)) byFold.set(fold, sibling)
  }
  return (name) => (exact.has(name) ? null : (byFold.get(foldPath(name)) ?? null))
}

/** Returns the sibling that differs from `name` only by letter case or Unicode form, or null. For one name. */
export const findCollision = (name: string, siblings: readonly string[]): string | null =>
  collisionFinder(siblings)(name)
