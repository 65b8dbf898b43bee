import type { Work } from './work.ts'

/** How far a prefix of the needle is also the end of what was read: Knuth, Morris and Pratt's table. */
function fallbacksOf(needle: Buffer): Int32Array {
  const fallbacks = new Int32Array(needle.length)
  let length = 0
  for (let i = 1; i < needle.length; i++) {
    while (length > 0 && needle[i] !== needle[length]) length = fallbacks[length - 1] ?? 0
    if (needle[i] === needle[length]) length++
    fallbacks[i] = length
  }
  return fallbacks
}

/**
 * Places of the needle at or after `from`, ascending, overlapping ones included.
 *
 * Takes time in proportion to both lengths whatever they hold; `Buffer.indexOf`, quicker on ordinary text, takes their
 * product on text made for it.
 */
export function* findLinear(bytes: Buffer, needle: Buffer, from: number): Generator<number> {
  const fallbacks = fallbacksOf(needle)
  let matched = 0
  for (let i = from; i < bytes.length; i++) {
    while (matched > 0 && bytes[i] !== needle[matched]) matched = fallbacks[matched - 1] ?? 0
    if (bytes[i] === needle[matched]) matched++
    if (matched < needle.length) continue
    yield i - needle.length + 1
    matched = fallbacks[matched - 1] ?? 0
  }
}

/** Longest prefix that `Buffer.indexOf` is trusted with: it bounds the cost of each byte. */
const PREFIX_BYTES = 24
/** Places where the prefix stands and the whole does not, before the linear search takes over. */
const FALSE_PLACES_MAX = 64

/** What the linear search costs for each byte. */
const LINEAR_COST = 4

/** Like `findLinear`, and quick on ordinary text. Charges what it costs beyond one quick pass. */
export function* findOccurrences(bytes: Buffer, needle: Buffer, from: number, work: Work): Generator<number> {
  const prefix = needle.subarray(0, PREFIX_BYTES)
  let wrong = 0
  for (let at = bytes.indexOf(prefix, from); at !== -1; at = bytes.indexOf(prefix, at + 1)) {
    const end = at + needle.length
    if (end > bytes.length) return
    if (needle.length === prefix.length || bytes.compare(needle, 0, needle.length, at, end) === 0) yield at
    else if (++wrong > FALSE_PLACES_MAX) {
      work.spend(LINEAR_COST * (bytes.length - at) + needle.length)
      yield* findLinear(bytes, needle, at + 1)
      return
    }
  }
}
