import { limits } from '../model/limits.ts'
import { type Expansion, expandBraces } from './glob-braces.ts'
import { codePointName, firstUnseen } from './quote.ts'

/**
 * Globs of the policy, matched without regular expressions.
 *
 * Paths come from agents, and a regular expression made of a glob takes seconds on a name made for it (picomatch
 * 4.0.7: one second for `*a*a*a*b` on 255 letters). Here the cost of a match is at most the product of the lengths.
 */

/** One step of a segment's pattern: one character exactly, one of a class, any one, or any number. */
type Token =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'class'; readonly isNegated: boolean; readonly ranges: readonly Range[] }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }

/** First and last code point. */
type Range = readonly [number, number]

/** A part of a path's pattern: any number of parts, none included; one part by its text; or one by its tokens. */
type Part =
  | { readonly kind: 'globstar' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tokens'; readonly tokens: readonly Token[] }

/** The pattern without its braces, as parts. A path matches where one of them does. */
export type Glob = readonly (readonly Part[])[]

export type CompiledGlob =
  | { readonly kind: 'glob'; readonly glob: Glob }
  | { readonly kind: 'fault'; readonly message: string }

const globstar: Part = { kind: 'globstar' }
const anyPart: Part = { kind: 'tokens', tokens: [{ kind: 'star' }] }

/**
 * Compiles a glob for paths. `*` and `?` stay within a part of the path and match a leading dot too; `**` as a whole
 * part is any number of parts (one at least at the end); `[a-z]`, `[!a-z]`, `{a,b}`, and `\` before punctuation.
 *
 * As in .gitignore, a pattern without `/` is a name at any depth, one with `/` stands at the root, and one that ends
 * in `/` is what is in that directory. Unlike there, no pattern begins with `/` or `!`.
 *
 * @param anchors - Stands at the root also without a `/` (names of branches).
 * @param covers - A pattern that matches a directory matches all that is in it.
 */
export function compileGlob(
  pattern: string,
  options: { readonly anchors: boolean; readonly covers: boolean },
): CompiledGlob {
  const fault = textFault(pattern)
  if (fault !== null) return { kind: 'fault', message: fault }
  const expansion: Expansion = expandBraces(pattern)
  if (expansion.kind === 'fault') return expansion
  const glob: (readonly Part[])[] = []
  for (const plain of expansion.patterns) {
    const compiled = compilePlain(plain, options.anchors)
    if (compiled.kind === 'fault') return compiled
    glob.push(withEnd(compiled.parts))
    if (options.covers) glob.push([...compiled.parts, anyPart, globstar])
  }
  return { kind: 'glob', glob }
}

/** Whether the path, split at its slashes, matches. */
export const matchesGlob = (glob: Glob, segments: readonly string[]): boolean =>
  glob.some((parts) => matchesRun(parts, segments, isGlobstar, matchesPart))

function textFault(pattern: string): string | null {
  if (pattern === '') return 'the pattern is empty'
  if (pattern.length > limits.globMaxCharacters) {
    return `the pattern has ${pattern.length} characters, more than ${limits.globMaxCharacters}`
  }
  if (pattern.startsWith('/'))
    return 'the pattern is absolute; patterns stand at the root of the repository already'
  if (pattern.startsWith('!')) return 'a pattern cannot begin with "!"; lists of patterns have no exceptions'
  const unseen = firstUnseen(pattern)
  return unseen === null ? null : `the pattern holds the invisible character ${codePointName(unseen)}`
}

type PlainPattern =
  | { readonly kind: 'parts'; readonly parts: readonly Part[] }
  | { readonly kind: 'fault'; readonly message: string }

function compilePlain(plain: string, anchors: boolean): PlainPattern {
  const isDirectory = plain.endsWith('/')
  const texts = (isDirectory ? plain.slice(0, -1) : plain).split('/')
  const parts: Part[] = texts.length === 1 && !anchors ? [globstar] : []
  for (const text of texts) {
    if (text === '')
      return {
        kind: 'fault',
        message: 'the pattern has an empty part (two slashes, or one at its beginning)',
      }
    if (text === '.' || text === '..') return { kind: 'fault', message: `the pattern has a "${text}" part` }
    const part = compilePart(text)
    if (typeof part === 'string') return { kind: 'fault', message: part }
    parts.push(part)
  }
  if (isDirectory) parts.push(globstar)
  return { kind: 'parts', parts }
}

/** `**` at the end is at least one part: what is in a directory, and not the directory. */
const withEnd = (parts: readonly Part[]): readonly Part[] =>
  parts.at(-1) === globstar ? [...parts.slice(0, -1), anyPart, globstar] : parts

function compilePart(text: string): Part | string {
  if (text === '**') return globstar
  const tokens: Token[] = []
  const characters = [...text]
  for (let index = 0; index < characters.length; ) {
    const read = readToken(characters, index)
    if (typeof read === 'string') return read
    const repeatsStar = read.token.kind === 'star' && tokens.at(-1)?.kind === 'star'
    if (!repeatsStar) tokens.push(read.token)
    index = read.next
  }
  const plain = tokens.every((token) => token.kind === 'character')
  return plain
    ? { kind: 'text', text: tokens.map((token) => token.character).join('') }
    : { kind: 'tokens', tokens }
}

interface ReadToken {
  readonly token: Token
  readonly next: number
}

function readToken(characters: readonly string[], index: number): ReadToken | string {
  const character = characters[index] ?? ''
  if (character === '*') return { token: { kind: 'star' }, next: index + 1 }
  if (character === '?') return { token: { kind: 'any' }, next: index + 1 }
  if (character === '[') return readClass(characters, index)
  if (character !== '\\') return { token: { kind: 'character', character }, next: index + 1 }
  const escaped = characters[index + 1] ?? ''
  if (!/^[!-/:-@[-`{-~]$/.test(escaped))
    return 'a backslash escapes punctuation only; the parts of a path are separated by "/"'
  return { token: { kind: 'character', character: escaped }, next: index + 2 }
}

function readClass(characters: readonly string[], open: number): ReadToken | string {
  let index = open + 1
  const isNegated = characters[index] === '!' || characters[index] === '^'
  if (isNegated) index++
  const first = index
  const ranges: Range[] = []
  for (; index < characters.length; index++) {
    if (characters[index] === ']' && index > first)
      return { token: { kind: 'class', isNegated, ranges }, next: index + 1 }
    if (characters[index] === '\\') index++
    const low = codePointAt(characters, index)
    const isRange =
      characters[index + 1] === '-' && characters[index + 2] !== ']' && index + 2 < characters.length
    const high = isRange ? codePointAt(characters, index + 2) : low
    if (high < low) return 'a range in "[…]" runs backwards'
    ranges.push([low, high])
    if (isRange) index += 2
  }
  return 'a "[" has no "]" in the same part'
}

const codePointAt = (characters: readonly string[], index: number): number =>
  characters[index]?.codePointAt(0) ?? 0

const isGlobstar = (part: Part): boolean => part.kind === 'globstar'

function matchesPart(part: Part, segment: string): boolean {
  if (part.kind === 'text') return part.text === segment
  return (
    part.kind === 'tokens' &&
    matchesRun(part.tokens, [...segment], (token) => token.kind === 'star', matchesToken)
  )
}

function matchesToken(token: Token, character: string): boolean {
  if (token.kind === 'character') return token.character === character
  if (token.kind !== 'class') return token.kind === 'any'
  const code = character.codePointAt(0) ?? 0
  return token.ranges.some(([low, high]) => code >= low && code <= high) !== token.isNegated
}

/**
 * Matches a run of items against steps, of which some stand for any number of items.
 *
 * When a step fails, only the last such step takes one item more: an earlier one cannot help, because what stands
 * between the two has matched at its leftmost place. This keeps the cost at the product of the two lengths.
 */
function matchesRun<Step, Item>(
  steps: readonly Step[],
  items: readonly Item[],
  isAnyNumber: (step: Step) => boolean,
  matches: (step: Step, item: Item) => boolean,
): boolean {
  let step = 0
  let item = 0
  let retryStep = -1
  let retryItem = 0
  while (item < items.length) {
    const current = steps[step]
    if (current !== undefined && isAnyNumber(current)) {
      retryStep = ++step
      retryItem = item
    } else if (current !== undefined && matches(current, items[item] as Item)) {
      step++
      item++
    } else if (retryStep !== -1) {
      step = retryStep
      item = ++retryItem
    } else return false
  }
  return steps.slice(step).every(isAnyNumber)
}
