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
  const output = Buffer.allocUnsafe(resultSize.value)
  const fault = fill(output, { source, delta, from: resultSize.next })
  return fault === null ? { kind: 'applied', bytes: output } : faulty(fault)
}

/** Carries out the instructions; returns what is wrong with them, or null. */
function fill(
  output: Buffer,
  { source, delta, from }: { readonly source: Buffer; readonly delta: Buffer; readonly from: number },
): string | null {
  let length = 0
  let at = from
  while (at < delta.length) {
    const code = delta[at] ?? 0
    const step = code >= 0x80 ? copyAt(source, delta, at) : insertAt(delta, at)
    if (typeof step === 'string') return step
    if (length + step.length > output.length)
      return `it makes more than the ${output.length} bytes that it states`
    step.source.copy(output, length, step.offset, step.offset + step.length)
    length += step.length
    at = step.next
  }
  return length === output.length ? null : `it makes ${length} bytes and states ${output.length}`
}

/** Bytes that one instruction adds, and the offset of the next instruction. */
interface Step {
  readonly source: Buffer
  readonly offset: number
  readonly length: number
  readonly next: number
}

function insertAt(delta: Buffer, at: number): Step | string {
  const length = delta[at] ?? 0
  if (length === 0) return 'it holds the reserved instruction 0'
  const next = at + 1 + length
  return next > delta.length ? 'an insertion is cut off' : { source: delta, offset: at + 1, length, next }
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
  return { source, offset, length, next }
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
