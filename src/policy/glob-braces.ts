import { limits } from '../model/limits.ts'

export type Expansion =
  | { readonly kind: 'patterns'; readonly patterns: readonly string[] }
  | { readonly kind: 'fault'; readonly message: string }

/** Writes out the braces of a glob: `a/{b,c{d,e}}` is `a/b`, `a/cd` and `a/ce`. Escapes and classes are left alone. */
export function expandBraces(pattern: string): Expansion {
  const brace = firstBrace(pattern)
  if (brace === null) return { kind: 'patterns', patterns: [pattern] }
  if (typeof brace === 'string') return { kind: 'fault', message: brace }
  const patterns: string[] = []
  const rest = expandBraces(pattern.slice(brace.end))
  if (rest.kind === 'fault') return rest
  for (const option of brace.options) {
    const inner = expandBraces(option)
    if (inner.kind === 'fault') return inner
    for (const middle of inner.patterns) {
      for (const tail of rest.patterns) patterns.push(pattern.slice(0, brace.start) + middle + tail)
    }
    if (patterns.length > limits.globMaxAlternatives) {
      return {
        kind: 'fault',
        message: `the braces stand for more than ${limits.globMaxAlternatives} patterns`,
      }
    }
  }
  return { kind: 'patterns', patterns }
}

interface Brace {
  readonly start: number
  /** Offset behind the closing brace. */
  readonly end: number
  readonly options: readonly string[]
}

/** The first pair of braces; null where there is none; a fault as text. */
function firstBrace(pattern: string): Brace | null | string {
  const options: string[] = []
  let start = -1
  let optionStart = 0
  let depth = 0
  for (let at = 0; at < pattern.length; at = next(pattern, at)) {
    const character = pattern[at]
    if (character === '{') {
      depth++
      if (depth > 1) continue
      start = at
      optionStart = at + 1
    } else if (character === ',' && depth === 1) {
      options.push(pattern.slice(optionStart, at))
      optionStart = at + 1
    } else if (character === '}') {
      if (depth === 0) return 'a "}" has no "{"'
      depth--
      if (depth > 0) continue
      options.push(pattern.slice(optionStart, at))
      return options.length > 1
        ? { start, end: at + 1, options }
        : 'braces need two alternatives, as in "{a,b}"'
    }
  }
  return depth > 0 ? 'a "{" has no "}"' : null
}

/** Offset of what follows the character, escape or class here. */
function next(pattern: string, at: number): number {
  if (pattern[at] === '\\') return at + 2
  if (pattern[at] !== '[') return at + 1
  // A "]" directly after the opening (or its negation) is a member of the class.
  const first = at + (pattern[at + 1] === '!' || pattern[at + 1] === '^' ? 2 : 1)
  for (let close = first; close < pattern.length && pattern[close] !== '/'; close++) {
    if (pattern[close] === '\\') close++
    else if (pattern[close] === ']' && close > first) return close + 1
  }
  return at + 1
}
