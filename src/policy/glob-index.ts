import { type Glob, matchesGlob } from './glob.ts'

type Parts = Glob[number]

interface Alternative {
  readonly glob: Glob
  /** Of the list. */
  readonly place: number
}

/** Tells the first of some globs that a path, split at its slashes, matches; null = none does. */
export type GlobIndex = (segments: readonly string[]) => number | null

/**
 * Makes a look-up for many globs. Nearly each can match only a path of which one part is a certain text, or begins with a certain
 * character: the others are not tried on it.
 */
export function indexGlobs(globs: readonly Glob[]): GlobIndex {
  const byText = new Map<string, Alternative[]>()
  const byFirst = new Map<string, Alternative[]>()
  const always: Alternative[] = []
  for (const [place, glob] of globs.entries()) {
    for (const parts of glob) {
      const [text, first] = [textOf(parts), firstOf(parts)]
      const alternative = { glob: [parts], place }
      if (text !== undefined) addTo(byText, text, alternative)
      else if (first !== undefined) addTo(byFirst, first, alternative)
      else always.push(alternative)
    }
  }
  return (segments) => {
    let found: number | null = null
    const look = (alternatives: readonly Alternative[] | undefined): void => {
      for (const { glob, place } of alternatives ?? [])
        if ((found === null || place < found) && matchesGlob(glob, segments)) found = place
    }
    look(always)
    for (const segment of segments) {
      look(byText.get(segment))
      look(byFirst.get(String.fromCodePoint(segment.codePointAt(0) ?? 0)))
    }
    return found
  }
}

function addTo(index: Map<string, Alternative[]>, key: string, alternative: Alternative): void {
  const list = index.get(key)
  if (list === undefined) index.set(key, [alternative])
  else list.push(alternative)
}

const textOf = (parts: Parts): string | undefined =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))[0]

const firstOf = (parts: Parts): string | undefined =>
  parts.flatMap((part) => {
    const token = part.kind === 'tokens' ? part.tokens[0] : undefined
    return token?.kind === 'character' ? [token.character] : []
  })[0]
