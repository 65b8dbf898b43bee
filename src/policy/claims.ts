/** What a commit's message claims. It proves nothing: anybody can write it. */
export interface Claims {
  /** Ids as they stand in `Galley-Change` lines, well formed or not; each once. */
  readonly changes: readonly string[]
  /** There is a `Galley-Agent` line. */
  readonly byAgent: boolean
}

/**
 * Reads the `Galley-` lines of a message, wherever they stand: a squash keeps those of its parts in the middle, and `git merge --squash`
 * indents them.
 */
export function claimsOf(message: string): Claims {
  const changes = new Set<string>()
  let byAgent = false
  for (const line of message.split('\n')) {
    const colon = line.indexOf(':')
    if (colon === -1) continue
    const key = line.slice(0, colon).trim().toLowerCase()
    if (key === 'galley-agent') byAgent = true
    if (key === 'galley-change')
      changes.add(
        line
          .slice(colon + 1)
          .trim()
          .slice(0, 80),
      )
  }
  return { changes: [...changes], byAgent }
}
