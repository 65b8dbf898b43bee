/** What a delta makes of its source, or why it cannot. */
export type DeltaResult =
  | { readonly kind: 'applied'; readonly bytes: Buffer }
  | { readonly kind: 'faulty'; readonly reason: string }

const faulty = (reason: string): DeltaResult => ({ kind: 'faulty', reason })

/**
 * Applies a delta in git's pack form: the sizes of source and result, then copies from the source and insertions.
 *
 * Both sizes must be right. Nothing is allocated beyond `resultMaxBytes`.
 */
export function applyDelta(source: Buffer, delta: Buffer, resultMaxBytes: number): DeltaResult {
  const sourceSize = sizeAt(delta, 0)
  const resultSize = sourceSize === null ? null : sizeAt(delta, sourceSize.next)
  if (sourceSize === null || resultSize === null) return faulty('its sizes are cut off')
  if (sourceSize.value !== source.length) {
    return faulty(`it is made for ${sourceSize.value} bytes; the file has ${source.length}`)
  }
  if (resultSize.value > resultMaxBytes) {
    return faulty(`its result would have ${resultSize.value} bytes; ${resultMaxBytes} are allowed`)
  }
  const parts = partsOf(source, delta, { from: resultSize.next, size: resultSize.value })
  if (typeof parts === 'string') return faulty(parts)
  return { kind: 'applied', bytes: Buffer.concat(parts) }
}

/** The result in pieces of source and delta, or what is wrong. */
function partsOf(
  source: Buffer,
  delta: Buffer,
  { from, size }: { readonly from: number; readonly size: number },
): readonly Buffer[] | string {
  const parts: Buffer[] = []
  let length = 0
  let at = from
  while (at < delta.length) {
    const code = delta[at] ?? 0
    const step = code >= 0x80 ? copyAt(source, delta, at) : insertAt(delta, at)
    if (typeof step === 'string') return step
    length += step.part.length
    if (length > size) return `it makes more than the ${size} bytes that it states`
    parts.push(step.part)
    at = step.next
  }
  return length === size ? parts : `it makes ${length} bytes and states ${size}`
}

interface Step {
  readonly part: Buffer
  readonly next: number
}

function insertAt(delta: Buffer, at: number): Step | string {
  const length = delta[at] ?? 0
  if (length === 0) return 'it holds the reserved instruction 0'
  const next = at + 1 + length
  return next > delta.length ? 'an insertion is cut off' : { part: delta.subarray(at + 1, next), next }
}

function copyAt(source: Buffer, delta: Buffer, at: number): Step | string {
  const code = delta[at] ?? 0
  let next = at + 1
  const number = (bits: readonly number[]): number =>
    bits.reduce((value, bit, index) => (code & bit ? value + (delta[next++] ?? 0) * 256 ** index : value), 0)
  const offset = number([0x01, 0x02, 0x04, 0x08])
  const length = number([0x10, 0x20, 0x40]) || 0x10000
  if (next > delta.length) return 'a copy is cut off'
  if (offset + length > source.length) return `it copies up to byte ${offset + length} of ${source.length}`
  return { part: source.subarray(offset, offset + length), next }
}

/** A size: seven bits a byte, the low ones first. */
function sizeAt(delta: Buffer, from: number): { readonly value: number; readonly next: number } | null {
  let value = 0
  for (let at = from; at < Math.min(delta.length, from + 7); at++) {
    const byte = delta[at] ?? 0
    value += (byte & 0x7f) * 128 ** (at - from)
    if (byte < 0x80) return { value, next: at + 1 }
  }
  return null
}
