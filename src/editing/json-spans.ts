import { limits } from '../model/limits.ts'

/** A JSON value with its place in the text; ends are exclusive. */
export type JsonNode =
  | {
      readonly kind: 'object'
      readonly start: number
      readonly end: number
      readonly members: readonly JsonMember[]
    }
  | {
      readonly kind: 'array'
      readonly start: number
      readonly end: number
      readonly items: readonly JsonNode[]
    }
  | { readonly kind: 'string' | 'scalar'; readonly start: number; readonly end: number }

export interface JsonMember {
  readonly key: string
  readonly start: number
  readonly value: JsonNode
}

/** The text is no JSON, at this offset. */
export class JsonFault extends Error {
  readonly offset: number

  constructor(offset: number) {
    super(`no JSON at character ${offset}`)
    this.name = 'JsonFault'
    this.offset = offset
  }
}

const SCALAR = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/y

/**
 * Reads JSON and keeps the place of every value, so that one can be replaced and all other bytes stay.
 *
 * @throws {JsonFault} where the text is no JSON, or nested deeper than `limits.jsonMaxDepth`.
 */
export function parseJsonSpans(text: string): JsonNode {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.blanks()
  if (reader.at < text.length) throw new JsonFault(reader.at)
  return value
}

/** The string that a node of kind `string` stands for. */
export const stringValue = (text: string, node: JsonNode): string =>
  String(JSON.parse(text.slice(node.start, node.end)))

class Reader {
  at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
    if (text.startsWith('\ufeff')) this.at = 1
  }

  blanks(): void {
    while (' \t\r\n'.includes(this.text[this.at] ?? 'x')) this.at++
  }

  value(depth: number): JsonNode {
    if (depth > limits.jsonMaxDepth) throw new JsonFault(this.at)
    this.blanks()
    const first = this.text[this.at]
    if (first === '{') return this.object(depth)
    if (first === '[') return this.array(depth)
    return first === '"' ? this.string() : this.scalar()
  }

  private object(depth: number): JsonNode {
    const start = this.at
    const members: JsonMember[] = []
    this.list('}', () => {
      const key = this.string()
      this.blanks()
      this.take(':')
      members.push({ key: stringValue(this.text, key), start: key.start, value: this.value(depth + 1) })
    })
    return { kind: 'object', start, end: this.at, members }
  }

  private array(depth: number): JsonNode {
    const start = this.at
    const items: JsonNode[] = []
    this.list(']', () => items.push(this.value(depth + 1)))
    return { kind: 'array', start, end: this.at, items }
  }

  /** Entries between commas, from the opening character to the closing one. */
  private list(closing: string, entry: () => void): void {
    this.at++
    this.blanks()
    if (this.text[this.at] === closing) {
      this.at++
      return
    }
    for (;;) {
      this.blanks()
      entry()
      this.blanks()
      if (this.text[this.at] === closing) break
      this.take(',')
    }
    this.at++
  }

  private string(): JsonNode {
    const start = this.at
    this.take('"')
    while (this.text[this.at] !== '"') {
      const character = this.text[this.at]
      if (character === undefined || character < ' ') throw new JsonFault(this.at)
      this.at += character === '\\' ? 2 : 1
    }
    this.at++
    const node = { kind: 'string', start, end: this.at } as const
    this.checkEscapes(node)
    return node
  }

  private checkEscapes({ start, end }: JsonNode): void {
    try {
      JSON.parse(this.text.slice(start, end))
    } catch (error) {
      if (error instanceof SyntaxError) throw new JsonFault(start)
      throw error
    }
  }

  private scalar(): JsonNode {
    SCALAR.lastIndex = this.at
    const start = this.at
    const found = SCALAR.exec(this.text)
    if (found === null) throw new JsonFault(start)
    this.at += found[0].length
    return { kind: 'scalar', start, end: this.at }
  }

  private take(character: string): void {
    if (this.text[this.at] !== character) throw new JsonFault(this.at)
    this.at++
  }
}
