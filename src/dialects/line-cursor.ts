const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const SEEN_MAX_BYTES = 120

/** Walks bytes line by line. Looks at each byte a bounded number of times and keeps no list of lines. */
export class LineCursor {
  readonly bytes: Uint8Array
  /** Of the current line. */
  start = 0
  /** Of the current line: the offset of its newline, or of the end of the bytes. */
  end: number
  /** Number of the current line, from 1. */
  line = 1

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.end = this.#endFrom(0)
  }

  /** Whether all lines have been walked. */
  get isDone(): boolean {
    return this.start >= this.bytes.length
  }

  /** Goes to the next line. */
  advance(): void {
    this.start = Math.min(this.end + 1, this.bytes.length)
    this.end = this.#endFrom(this.start)
    this.line++
  }

  /** Whether the current line begins so. */
  startsWith(ascii: string): boolean {
    return this.#startsAt(this.start, this.end, ascii)
  }

  /** Whether the line after the current one begins so. */
  nextStartsWith(ascii: string): boolean {
    const start = this.end + 1
    return start < this.bytes.length && this.#startsAt(start, this.#endFrom(start), ascii)
  }

  /** The current line is exactly this, an optional carriage return aside. */
  is(ascii: string): boolean {
    return this.startsWith(ascii) && this.#contentEnd() - this.start === ascii.length
  }

  /** Whether the current line ends so, an optional carriage return aside. */
  endsWith(ascii: string): boolean {
    const start = this.#contentEnd() - ascii.length
    return start >= this.start && this.#startsAt(start, this.end, ascii)
  }

  /** First byte of the line; null where it is empty. */
  get first(): number | null {
    return this.start < this.end ? (this.bytes[this.start] ?? null) : null
  }

  /** The line from this offset in it on, as a view. */
  content(from = 0): Uint8Array {
    return this.bytes.subarray(Math.min(this.start + from, this.end), this.end)
  }

  /** The line from this offset in it on, as a byte string, without a carriage return at its end. */
  text(from = 0, maxBytes = Number.POSITIVE_INFINITY): string {
    const start = Math.min(this.start + from, this.end)
    const end = Math.max(start, Math.min(this.#contentEnd(), start + maxBytes))
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start, end - start).toString('latin1')
  }

  /** The line's beginning for a message: read as UTF-8. */
  seen(from = 0): string {
    return Buffer.from(this.text(from, SEEN_MAX_BYTES), 'latin1').toString('utf8')
  }

  #contentEnd(): number {
    return this.end > this.start && this.bytes[this.end - 1] === CARRIAGE_RETURN ? this.end - 1 : this.end
  }

  #startsAt(start: number, end: number, ascii: string): boolean {
    if (end - start < ascii.length) return false
    for (let i = 0; i < ascii.length; i++) if (this.bytes[start + i] !== ascii.charCodeAt(i)) return false
    return true
  }

  #endFrom(start: number): number {
    const newline = start < this.bytes.length ? this.bytes.indexOf(NEWLINE, start) : -1
    return newline === -1 ? this.bytes.length : newline
  }
}
