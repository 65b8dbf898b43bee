const GRAM = 4
const LF = 10
/** Bytes of the wanted line that are compared. */
const WANTED_MAX = 400
/** Share of neighbouring letters that must be the same. */
const SHARE_MIN = 0.4

/**
 * Index of the line that shares most runs of four bytes with the wanted one, counted against the longer of the two;
 * null where none shares two fifths. One pass.
 */
export function similarLine(bytes: Buffer, wanted: Buffer): number | null {
  const grams = new Uint8Array(65536)
  const count = Math.min(wanted.length, WANTED_MAX) - GRAM + 1
  if (count < 1) return null
  for (let i = 0; i < count; i++) grams[gramAt(wanted, i)] = 1
  let best = -1
  let bestShare = SHARE_MIN
  let line = 0
  let start = 0
  let hits = 0
  for (let i = 0; i <= bytes.length; i++) {
    if (i === bytes.length || bytes[i] === LF) {
      const share = Math.min(hits, count) / Math.max(count, i - start - GRAM + 1)
      if (share > bestShare) {
        best = line
        bestShare = share
      }
      line++
      start = i + 1
      hits = 0
    } else if (i - start >= GRAM - 1 && grams[gramAt(bytes, i - GRAM + 1)] === 1) hits++
  }
  return best === -1 ? null : best
}

const gramAt = (bytes: Buffer, at: number): number =>
  (Math.imul(
    (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24),
    0x9e3779b1,
  ) >>>
    16) &
  0xffff
