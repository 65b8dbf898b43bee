const [QUOTE, BACKSLASH] = [34, 92]
const OPENING = [91, 123]
const CLOSING = [93, 125]

/** How deeply a JSON text nests, without parsing it. Of a text that is no JSON, some number. */
export function jsonDepth(bytes: Uint8Array): number {
  let [depth, deepest, inString] = [0, 0, false]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (inString && byte === BACKSLASH) at++
    else if (byte === QUOTE) inString = !inString
    else if (!inString && OPENING.includes(byte)) deepest = Math.max(deepest, ++depth)
    else if (!inString && CLOSING.includes(byte)) depth--
  }
  return deepest
}
