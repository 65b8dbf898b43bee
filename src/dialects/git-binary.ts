import { inflateSync } from 'node:zlib'
import { limits } from '../model/limits.ts'
import { quote } from '../policy/quote.ts'
import type { LineCursor } from './line-cursor.ts'
import { fault, isFault, type ParseFault } from './parse-fault.ts'

/** One direction of a binary patch, inflated: the whole content, or git's delta against the old one. */
export interface BinaryHunk {
  readonly method: 'literal' | 'delta'
  readonly data: Uint8Array
}

/** A binary patch as read: there, and back where the diff holds that too. */
export interface BinaryPatch {
  readonly kind: 'binary'
  readonly forward: BinaryHunk
  readonly reverse: BinaryHunk | null
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
const NOT_A_DIGIT = 255

/** Value of each byte as a digit of git's base85. */
const DIGITS = digitTable()

function digitTable(): Uint8Array {
  const table = new Uint8Array(256).fill(NOT_A_DIGIT)
  for (let value = 0; value < ALPHABET.length; value++) table[ALPHABET.charCodeAt(value)] = value
  return table
}

/** One length character and 1 to 13 groups of 5 digits for 4 bytes each. */
const LINE_MAX_BYTES = 66

const madeWith = 'Make the diff with `git diff --binary`.'

/** Whether a binary patch with its data begins here. */
export const isBinaryPatch = (cursor: LineCursor): boolean => cursor.is('GIT binary patch')

/** How much the binary patches of one diff may still inflate to. */
export class Room {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Takes so many bytes, if they are left. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }
}

/**
 * Reads a `GIT binary patch` that begins at the current line: forward and, where given, reverse. Leaves the cursor
 * behind it. Sizes are those that the patch states; one above `limits.fileMaxBytes` or beyond the room is `too-large`, unread.
 */
export function readBinaryPatch(cursor: LineCursor, room: Room): BinaryPatch | ParseFault {
  cursor.advance()
  const forward = readBinaryHunk(cursor, room)
  if (isFault(forward)) return forward
  const hasReverse = cursor.startsWith('literal ') || cursor.startsWith('delta ')
  const reverse = hasReverse ? readBinaryHunk(cursor, room) : null
  if (isFault(reverse)) return reverse
  return { kind: 'binary', forward, reverse }
}

function readBinaryHunk(cursor: LineCursor, room: Room): BinaryHunk | ParseFault {
  const line = cursor.line
  const header = /^(literal|delta) ([0-9]{1,12})$/.exec(cursor.text(0, 80))
  if (header === null) {
    const message = `found ${quote(cursor.seen())}; expected "literal <size>" or "delta <size>"`
    return fault(line, message, { hint: madeWith })
  }
  const size = Number(header[2])
  if (size > limits.fileMaxBytes) {
    const message = `the binary patch has ${size} bytes; at most ${limits.fileMaxBytes} are taken`
    return fault(line, message, { code: 'too-large' })
  }
  if (!room.take(size)) {
    const message = `the binary patches down to here inflate to more than ${limits.binaryPatchMaxBytes} bytes`
    return fault(line, message, { code: 'too-large' })
  }
  cursor.advance()
  const packed = readBase85(cursor)
  if (isFault(packed)) return packed
  const data = inflated(packed.bytes, size)
  if (data === null) {
    return fault(line, `the data does not inflate to the ${size} bytes stated: it is damaged or cut off`)
  }
  return { method: header[1] === 'literal' ? 'literal' : 'delta', data }
}

interface Packed {
  readonly kind: 'packed'
  readonly bytes: Uint8Array
}

/** Reads lines of base85 up to an empty one, or to the end of the text where that was trimmed. */
function readBase85(cursor: LineCursor): Packed | ParseFault {
  let bytes = new Uint8Array(1024)
  let length = 0
  for (; !cursor.isDone && !cursor.is(''); cursor.advance()) {
    if (bytes.length - length < LINE_MAX_BYTES) {
      const larger = new Uint8Array(bytes.length * 2)
      larger.set(bytes)
      bytes = larger
    }
    const count = decodeLine(cursor.text(0, LINE_MAX_BYTES + 1), bytes, length)
    if (count === null) return fault(cursor.line, `${quote(cursor.seen())} is not a line of a binary patch`)
    length += count
  }
  cursor.advance()
  return { kind: 'packed', bytes: bytes.subarray(0, length) }
}

/** Decodes one line into `target`; returns the number of bytes, or null where the line is not of the form. */
function decodeLine(line: string, target: Uint8Array, offset: number): number | null {
  const count = lineLength(line.charCodeAt(0))
  const groups = Math.ceil(count / 4)
  if (count === 0 || line.length !== 1 + groups * 5) return null
  for (let group = 0; group < groups; group++) {
    const value = decodeGroup(line, 1 + group * 5)
    if (value === null) return null
    for (let byte = 0; byte < 4 && group * 4 + byte < count; byte++) {
      target[offset + group * 4 + byte] = (value >>> (24 - byte * 8)) & 0xff
    }
  }
  return count
}

function decodeGroup(line: string, start: number): number | null {
  let value = 0
  for (let at = start; at < start + 5; at++) {
    const digit = DIGITS[line.charCodeAt(at)] ?? NOT_A_DIGIT
    if (digit === NOT_A_DIGIT) return null
    value = value * 85 + digit
  }
  return value > 0xffff_ffff ? null : value
}

/** `A` to `Z` are 1 to 26 bytes, `a` to `z` are 27 to 52; 0 = neither. */
function lineLength(code: number): number {
  if (code >= 65 && code <= 90) return code - 64
  return code >= 97 && code <= 122 ? code - 70 : 0
}

function inflated(packed: Uint8Array, size: number): Uint8Array | null {
  try {
    const data = inflateSync(packed, { maxOutputLength: Math.max(size, 1) })
    return data.length === size ? data : null
  } catch {
    // Whatever zlib finds (damaged, cut off, larger than stated) comes to the same: not the bytes that were promised.
    return null
  }
}
