/** One line of input, as far as it may be believed without having been parsed. */
export type ScannedLine =
  | { readonly kind: 'line'; readonly text: string }
  /** Not kept: too long, or nested too deeply. `id` is that of the request, where the line said it. */
  | {
      readonly kind: 'refused'
      readonly reason: 'too-large' | 'too-deep'
      readonly id: string | number | null
    }

export interface ScanLimits {
  readonly lineMaxBytes: number
  readonly maxDepth: number
}

const LF = 10
const QUOTE = 34
const BACKSLASH = 92
const ID_MAX_BYTES = 256

/**
 * Splits a stream of JSON texts, one a line, without trusting any of them: a line that is too long is not kept, one that is nested too
 * deeply is not parsed, and both are told with the id of the request, so that its caller gets an answer.
 */
export class LineScanner {
  readonly #limits: ScanLimits
  #kept: Buffer[] = []
  #size = 0
  #depth = 0
  #deepest = 0
  #inString = false
  #isEscaped = false
  /** Bytes since the last comma or brace of the outermost object: one member of it. */
  #member: number[] = []
  #id: string | number | null = null

  constructor(limits: ScanLimits) {
    this.#limits = limits
  }

  /** Gives the lines that a piece of input ends. */
  *feed(chunk: Buffer): Generator<ScannedLine> {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      if (byte !== LF) {
        this.#look(byte)
        continue
      }
      this.#keep(chunk.subarray(from, at))
      from = at + 1
      const line = this.#end()
      if (line !== null) yield line
    }
    this.#keep(chunk.subarray(from))
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size > this.#limits.lineMaxBytes) this.#kept = []
    else if (bytes.length > 0) this.#kept.push(bytes)
  }

  #look(byte: number): void {
    if (this.#inString) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#inString = false
      this.#note(byte)
      return
    }
    if (byte === QUOTE) this.#inString = true
    const character = String.fromCharCode(byte)
    if (character === '{' || character === '[') this.#deepest = Math.max(this.#deepest, ++this.#depth)
    const endsMember = this.#depth === 1 && (character === ',' || character === '{' || character === '}')
    if (endsMember) this.#readMember()
    else this.#note(byte)
    if (character === '}' || character === ']') this.#depth--
  }

  #note(byte: number): void {
    if (this.#depth === 1 && this.#member.length < ID_MAX_BYTES) this.#member.push(byte)
  }

  #readMember(): void {
    const found = /^\s*"id"\s*:\s*("(?:[^"\\])*"|-?\d{1,15})\s*$/.exec(
      Buffer.from(this.#member).toString('utf8'),
    )
    if (found?.[1] !== undefined) this.#id = JSON.parse(found[1]) as string | number
    this.#member = []
  }

  #end(): ScannedLine | null {
    const [size, deepest, id, kept] = [this.#size, this.#deepest, this.#id, this.#kept]
    this.#kept = []
    this.#size = this.#depth = this.#deepest = 0
    this.#inString = this.#isEscaped = false
    this.#member = []
    this.#id = null
    if (size > this.#limits.lineMaxBytes) return { kind: 'refused', reason: 'too-large', id }
    if (deepest > this.#limits.maxDepth) return { kind: 'refused', reason: 'too-deep', id }
    const text = Buffer.concat(kept).toString('utf8').replace(/\r$/, '')
    return text.trim() === '' ? null : { kind: 'line', text }
  }
}
