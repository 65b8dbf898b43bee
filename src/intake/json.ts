import type { Refusal } from '../model/error.ts'
import { type JsonPlace, jsonPlaces } from './json-places.ts'
import { JsonFault, JsonScanner } from './json-scanner.ts'

export { pointerOf } from './json-pointer.ts'

/** Whether a JSON value is an object: neither a list nor null. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A parsed text. Objects in `value` have no prototype: a key such as `__proto__` is a key like any other.
 */
export interface ParsedJson {
  readonly kind: 'value'
  readonly value: unknown
  /**
   * Returns where the value at a JSON pointer begins; where the pointer leads to nothing, the place of the innermost
   * value on its way. Lines are counted from 1 by line feeds; columns from 1 in UTF-16 units.
   */
  readonly positionOf: (pointer: string) => JsonPlace
  /** As `positionOf`, but of the key under which the value stands, where it stands in an object. */
  readonly keyPositionOf: (pointer: string) => JsonPlace
}

export interface RefusedJson {
  readonly kind: 'refused'
  readonly refusal: Refusal
}

/**
 * Parses JSON strictly as RFC 8259 has it, and stricter in what that page leaves open: a key that an object holds
 * twice is refused with both places, and so is a number too large for a double. Halves of surrogate pairs are taken.
 *
 * Costs one pass over the text. Positions are looked up by later passes over the containers on the way only.
 *
 * @param maxDepth - Deepest nesting of arrays and objects taken; the root container is at depth 1.
 * @returns the value, or a refusal: `too-large` for the depth, else `invalid-json`; `data` holds line and column.
 */
export function parseJson(text: string, maxDepth: number): ParsedJson | RefusedJson {
  const places = jsonPlaces(text)
  try {
    const value = new JsonScanner(text, maxDepth).scan()
    return { kind: 'value', value, positionOf: places.positionOf, keyPositionOf: places.keyPositionOf }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    return { kind: 'refused', refusal: refusalOf(error, places.placeAt) }
  }
}

function refusalOf(fault: JsonFault, placeAt: (offset: number) => JsonPlace): Refusal {
  const place = placeAt(fault.offset)
  const first = fault.earlier === null ? null : placeAt(fault.earlier)
  const before = first === null ? '' : `; it stands at line ${first.line}, column ${first.column} already`
  return {
    code: fault.isDepth ? 'too-large' : 'invalid-json',
    message: `JSON at line ${place.line}, column ${place.column}: ${fault.message}${before}`,
    data: first === null ? { ...place } : { ...place, first },
  }
}

/**
 * Decodes UTF-8 strictly. One byte-order mark at the beginning is dropped.
 *
 * @returns the text, or a refusal `invalid-json` with the offset of the first byte that is not UTF-8, from 0.
 */
export function decodeUtf8(bytes: Uint8Array): string | Refusal {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return notUtf8(bytes)
  }
}

function notUtf8(bytes: Uint8Array): Refusal {
  const offset = validPrefix(bytes)
  const byte = (bytes[offset] ?? 0).toString(16).toUpperCase().padStart(2, '0')
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return {
    code: 'invalid-json',
    message: `text at byte offset ${offset}: expected UTF-8, found byte 0x${byte}`,
    data: { offset },
    ...(isUtf16 ? { hint: 'The text begins with the mark of UTF-16; save it as UTF-8.' } : {}),
  }
}

/** Length of the longest beginning that is UTF-8. Decoding is far faster than a loop of our own, so pieces are tried. */
function validPrefix(bytes: Uint8Array): number {
  let valid = 0
  while (isUtf8Start(bytes.subarray(valid, valid + PIECE)) && valid + PIECE < bytes.length) {
    valid += PIECE
    // Back to the beginning of a character that the piece's end cut through.
    while (((bytes[valid] ?? 0) & 0xc0) === 0x80) valid--
  }
  const start = valid
  let invalid = Math.min(bytes.length, start + PIECE)
  while (valid < invalid) {
    const middle = (valid + invalid + 1) >> 1
    if (isUtf8Start(bytes.subarray(start, middle))) valid = middle
    else invalid = middle - 1
  }
  return characterStart(bytes, valid)
}

/** Where the character begins that breaks off at `end`; `end` itself where none does. */
function characterStart(bytes: Uint8Array, end: number): number {
  let start = end - 1
  while (start > end - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  const lead = bytes[start] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start + length > end ? start : end
}

const PIECE = 64 * 1024

/** Whether the bytes can be the beginning of UTF-8 text: a character cut off at the end is no fault. */
function isUtf8Start(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return false
  }
}
