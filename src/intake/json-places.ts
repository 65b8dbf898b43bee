import { stepsOf } from './json-pointer.ts'

/** A place in a text: both count from 1; columns are UTF-16 units, lines end at line feeds. */
export interface JsonPlace {
  readonly line: number
  readonly column: number
}

export interface JsonPlaces {
  readonly placeAt: (offset: number) => JsonPlace
  readonly positionOf: (pointer: string) => JsonPlace
  readonly keyPositionOf: (pointer: string) => JsonPlace
}

interface Child {
  readonly key: number
  readonly value: number
}

/** Looks up a child by its key or index. */
type Children = (step: string) => Child | undefined

/** Line feeds are counted once for each block of this many UTF-16 units. */
const BLOCK = 64 * 1024

/**
 * Finds places in a text by offset, and, where the text is valid JSON, by pointer. Nothing is done before the first
 * question; each container on the way of a pointer is then walked once, however many pointers lead through it.
 */
export function jsonPlaces(text: string): JsonPlaces {
  const placeAt = placeFinder(text)
  const walked = new Map<number, Children>()
  const childrenAt = (offset: number): Children => {
    const known = walked.get(offset)
    if (known !== undefined) return known
    const children = childrenOf(text, offset)
    walked.set(offset, children)
    return children
  }
  const find = (pointer: string): Child => {
    const root = skipBlanks(text, 0)
    let here: Child = { key: root, value: root }
    for (const step of stepsOf(pointer)) {
      const child = childrenAt(here.value)(step)
      if (child === undefined) return here
      here = child
    }
    return here
  }
  return {
    placeAt,
    positionOf: (pointer) => placeAt(find(pointer).value),
    keyPositionOf: (pointer) => placeAt(find(pointer).key),
  }
}

/** Offset of the first member with this key, in an object that is valid up to a later member. */
export function keyOffsetIn(text: string, objectOffset: number, key: string): number | null {
  for (const [name, child] of members(text, objectOffset)) {
    if (name === key) return child.key
  }
  return null
}

function placeFinder(text: string): (offset: number) => JsonPlace {
  /** For each block, as far as counted: the line feeds before it, and where the line begins that it begins in. */
  const blocks: BlockStart[] = [{ lineFeeds: 0, lineStart: 0 }]
  return (offset) => {
    const index = Math.floor(offset / BLOCK)
    for (let last = blocks.length - 1; last < index; last++) {
      blocks.push(advance(text, last * BLOCK, (last + 1) * BLOCK, blocks[last]))
    }
    const { lineFeeds, lineStart } = advance(text, index * BLOCK, offset, blocks[index])
    return { line: lineFeeds + 1, column: offset - lineStart + 1 }
  }
}

interface BlockStart {
  readonly lineFeeds: number
  readonly lineStart: number
}

function advance(text: string, from: number, to: number, start: BlockStart | undefined): BlockStart {
  let { lineFeeds, lineStart } = start ?? { lineFeeds: 0, lineStart: 0 }
  // Cut out first: a search in the whole text would run on to the next line feed, however far that is.
  const block = text.slice(from, to)
  for (let at = block.indexOf('\n'); at !== -1; at = block.indexOf('\n', at + 1)) {
    lineFeeds++
    lineStart = from + at + 1
  }
  return { lineFeeds, lineStart }
}

/** The members or items of the container at this offset; of anything else, none. */
function childrenOf(text: string, offset: number): Children {
  if (text[offset] === '{') {
    const byKey = new Map(members(text, offset))
    return (step) => byKey.get(step)
  }
  if (text[offset] !== '[') return () => undefined
  const offsets = items(text, offset)
  return (step) => {
    const value = /^(?:0|[1-9][0-9]*)$/.test(step) ? offsets[Number(step)] : undefined
    return value === undefined ? undefined : { key: value, value }
  }
}

function* members(text: string, objectOffset: number): Generator<[string, Child]> {
  let offset = skipBlanks(text, objectOffset + 1)
  while (text[offset] === '"') {
    const keyEnd = skipString(text, offset)
    const value = skipBlanks(text, skipBlanks(text, keyEnd) + 1)
    yield [String(JSON.parse(text.slice(offset, keyEnd))), { key: offset, value }]
    offset = nextChild(text, value)
  }
}

function items(text: string, arrayOffset: number): readonly number[] {
  const offsets: number[] = []
  let offset = skipBlanks(text, arrayOffset + 1)
  while (offset < text.length && text[offset] !== ']') {
    offsets.push(offset)
    offset = nextChild(text, offset)
  }
  return offsets
}

/** Offset of what follows the value here: the next child, or the closing bracket. */
function nextChild(text: string, value: number): number {
  const end = skipBlanks(text, skipValue(text, value))
  return text[end] === ',' ? skipBlanks(text, end + 1) : end
}

function skipBlanks(text: string, offset: number): number {
  let at = offset
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return at
}

function skipString(text: string, offset: number): number {
  let at = offset + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code === 0x5c) at++
  }
  return at
}

function skipValue(text: string, offset: number): number {
  const first = text[offset]
  if (first === '"') return skipString(text, offset)
  if (first === '{' || first === '[') return skipContainer(text, offset)
  let at = offset
  while (at < text.length && !isScalarEnd(text.charCodeAt(at))) at++
  return at
}

function skipContainer(text: string, offset: number): number {
  let depth = 0
  let at = offset
  while (at < text.length) {
    const character = text[at]
    if (character === '"') {
      at = skipString(text, at)
      continue
    }
    at++
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    if (depth === 0) return at
  }
  return at
}

/** A comma, a closing bracket or brace, or a blank. */
const isScalarEnd = (code: number): boolean => code === 0x2c || code === 0x5d || code === 0x7d || code <= 0x20
