const LF = 10

/** Offsets at which lines begin from `from` on, and the end: of `n` lines `n + 1` offsets. */
export function lineStarts(bytes: Uint8Array, from = 0, terminator = LF): Uint32Array {
  let count = 1
  for (let i = from; i < bytes.length; i++) if (bytes[i] === terminator) count++
  const isOpen = bytes.length > from && bytes[bytes.length - 1] !== terminator
  const starts = new Uint32Array(isOpen ? count + 1 : count)
  starts[0] = from
  let next = 1
  for (let i = from; i < bytes.length; i++) if (bytes[i] === terminator) starts[next++] = i + 1
  if (isOpen) starts[next] = bytes.length
  return starts
}
