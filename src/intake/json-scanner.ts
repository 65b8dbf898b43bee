import { quote } from '../policy/quote.ts'
import { keyOffsetIn } from './json-places.ts'

/** A fault of a JSON text at an offset in UTF-16 units. Thrown by the scanner, caught by `parseJson` alone. */
export class JsonFault extends Error {
  readonly offset: number
  /** Offset of the first of two equal keys. */
  readonly earlier: number | null
  readonly isDepth: boolean

  constructor(
    offset: number,
    message: string,
    more: { readonly earlier?: number; readonly isDepth?: boolean } = {},
  ) {
    super(message)
    this.offset = offset
    this.earlier = more.earlier ?? null
    this.isDepth = more.isDepth ?? false
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LETTER_U = 0x75

/** Matched only at one place, and without alternatives that begin alike: each character is looked at once. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const WORDS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const HEX4 = /[0-9a-fA-F]{4}/y

/** Reads one JSON text from its beginning to its end. One use each. */
export class JsonScanner {
  readonly #text: string
  readonly #maxDepth: number
  #offset = 0
  #depth = 0

  constructor(text: string, maxDepth: number) {
    this.#text = text
    this.#maxDepth = maxDepth
  }

  /** @throws JsonFault at the first fault. */
  scan(): unknown {
    this.#skipBlanks()
    const value = this.#value()
    this.#skipBlanks()
    if (this.#offset < this.#text.length) this.#fail('the end of the text')
    return value
  }

  #value(): unknown {
    const code = this.#text.charCodeAt(this.#offset)
    if (code === QUOTE) return this.#string()
    if (code === OPEN_BRACE || code === OPEN_BRACKET) return this.#container(code)
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.#number()
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#offset)) continue
      this.#offset += word.length
      return value
    }
    return this.#fail('a JSON value')
  }

  #container(opening: number): unknown {
    if (this.#depth >= this.#maxDepth) {
      throw new JsonFault(this.#offset, `nested deeper than ${this.#maxDepth} levels`, { isDepth: true })
    }
    this.#depth++
    this.#offset++
    const value = opening === OPEN_BRACE ? this.#object() : this.#array()
    this.#depth--
    return value
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = Object.create(null)
    const start = this.#offset
    this.#skipBlanks()
    if (this.#take(CLOSE_BRACE)) return object
    for (;;) {
      this.#skipBlanks()
      const keyOffset = this.#offset
      if (this.#text.charCodeAt(keyOffset) !== QUOTE) this.#fail('a key in double quotes')
      const key = this.#string()
      if (key in object) this.#failDuplicate(key, keyOffset, start)
      this.#skipBlanks()
      if (!this.#take(COLON)) this.#fail('":" after the key')
      this.#skipBlanks()
      object[key] = this.#value()
      this.#skipBlanks()
      if (this.#take(CLOSE_BRACE)) return object
      if (!this.#take(COMMA)) this.#fail('"," or "}"')
    }
  }

  #array(): unknown[] {
    const array: unknown[] = []
    this.#skipBlanks()
    if (this.#take(CLOSE_BRACKET)) return array
    for (;;) {
      this.#skipBlanks()
      array.push(this.#value())
      this.#skipBlanks()
      if (this.#take(CLOSE_BRACKET)) return array
      if (!this.#take(COMMA)) this.#fail('"," or "]"')
    }
  }

  #string(): string {
    const text = this.#text
    const start = this.#offset
    let hasEscapes = false
    for (let offset = start + 1; offset < text.length; offset++) {
      const code = text.charCodeAt(offset)
      if (code === QUOTE) {
        this.#offset = offset + 1
        // Escapes were checked here; the engine's own parser undoes them faster than any loop.
        return hasEscapes ? String(JSON.parse(text.slice(start, offset + 1))) : text.slice(start + 1, offset)
      }
      if (code === BACKSLASH) {
        hasEscapes = true
        offset = this.#escape(offset)
      } else if (code < 0x20) {
        this.#offset = offset
        this.#fail('an escape such as \\n in place of a control character')
      }
    }
    this.#offset = text.length
    return this.#fail('a closing double quote')
  }

  /** Checks the escape that begins at this offset; returns the offset of its last character. */
  #escape(offset: number): number {
    const next = this.#text.charCodeAt(offset + 1)
    if (next === LETTER_U) {
      HEX4.lastIndex = offset + 2
      if (HEX4.test(this.#text)) return offset + 5
    } else if (offset + 1 < this.#text.length && '"\\/bfnrt'.includes(String.fromCharCode(next))) {
      return offset + 1
    }
    this.#offset = offset + 1
    return this.#fail('one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX')
  }

  #number(): number {
    NUMBER.lastIndex = this.#offset
    const digits = NUMBER.exec(this.#text)?.[0]
    if (digits === undefined) {
      this.#offset++
      return this.#fail('a digit')
    }
    const value = Number(digits)
    if (!Number.isFinite(value)) throw new JsonFault(this.#offset, 'the number is too large for a double')
    this.#offset += digits.length
    return value
  }

  #take(code: number): boolean {
    if (this.#text.charCodeAt(this.#offset) !== code) return false
    this.#offset++
    return true
  }

  #skipBlanks(): void {
    let code = this.#text.charCodeAt(this.#offset)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09)
      code = this.#text.charCodeAt(++this.#offset)
  }

  #failDuplicate(key: string, keyOffset: number, start: number): never {
    const earlier = keyOffsetIn(this.#text, start - 1, key) ?? start
    throw new JsonFault(keyOffset, `the key ${quote(key)} stands twice in one object`, { earlier })
  }

  #fail(expected: string): never {
    const code = this.#text.codePointAt(this.#offset)
    const found = code === undefined ? 'the end of the text' : quote(String.fromCodePoint(code))
    throw new JsonFault(this.#offset, `expected ${expected}, found ${found}`)
  }
}
