import { invariant } from '../model/error.ts'
import { foldPath } from './fold.ts'
import { compileGlob, type Glob } from './glob.ts'
import { indexGlobs } from './glob-index.ts'

/** Returns the first pattern that matches a path, or null. */
export type PathMatcher = (path: string) => string | null

/**
 * Makes the matcher for lists that forbid or protect (`deny`, `protect`) or widen (`checks[].paths`): a pattern that
 * matches a directory covers what is in it, and letter case and Unicode form do not count.
 */
export function coveringMatcher(patterns: readonly string[]): PathMatcher {
  const known = covering.get(patterns)
  if (known !== undefined) return known
  const made = matcher(patterns, { anchors: false, covers: true, folds: true })
  covering.set(patterns, made)
  return made
}

/** Compiling costs more than a match, and a policy's lists are asked about path by path. */
const covering = new WeakMap<readonly string[], PathMatcher>()

/** Makes the matcher for lists that allow (`autoApprove.paths`): the path itself must match, in its own spelling. */
export function exactMatcher(patterns: readonly string[]): PathMatcher {
  const known = exact.get(patterns)
  if (known !== undefined) return known
  const made = matcher(patterns, { anchors: false, covers: false, folds: false })
  exact.set(patterns, made)
  return made
}

const exact = new WeakMap<readonly string[], PathMatcher>()

/**
 * Makes the matcher for branches (`guard`): a pattern is the whole name, `refs/heads/` before it or before the
 * branch does not count, and nor does letter case: two spellings may be one file among the refs.
 */
export function branchMatcher(patterns: readonly string[]): PathMatcher {
  const matches = matcher(patterns.map(withoutHeads), { anchors: true, covers: false, folds: true })
  return (branch) => matches(withoutHeads(branch))
}

const withoutHeads = (name: string): string =>
  name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : name

/** What is wrong with a glob for paths, or null. The comparing form must be sound too: folding can turn a range round. */
export function globFault(pattern: string): string | null {
  for (const form of [pattern.normalize('NFC'), foldPath(pattern)]) {
    const compiled = compileGlob(form, { anchors: false, covers: false })
    if (compiled.kind === 'fault') return compiled.message
  }
  return null
}

interface MatcherOptions {
  readonly anchors: boolean
  readonly covers: boolean
  readonly folds: boolean
}

function matcher(patterns: readonly string[], options: MatcherOptions): PathMatcher {
  if (patterns.length === 0) return () => null
  const asWritten = indexGlobs(patterns.map((pattern) => compiledOf(pattern.normalize('NFC'), options)))
  const folded = options.folds
    ? indexGlobs(patterns.map((pattern) => compiledOf(foldPath(pattern), options)))
    : null
  return (path) => {
    const places = [asWritten(path.split('/')), folded?.(foldPath(path).split('/')) ?? null]
    const first = Math.min(...places.flatMap((place) => place ?? []))
    return patterns[first] ?? null
  }
}

/** Patterns reach a matcher through the policy reader, which refuses bad ones; a bad one must not just never match. */
function compiledOf(pattern: string, options: MatcherOptions): Glob {
  const compiled = compileGlob(pattern, options)
  invariant(compiled.kind === 'glob', `not a glob: ${JSON.stringify(pattern)}`)
  return compiled.glob
}
