const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'

/** Writes bytes as the lines of a `GIT binary patch`: 52 bytes a line behind a letter for their number. */
export function encodeBase85(bytes: Uint8Array): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 52) lines.push(encodeLine(bytes.subarray(at, at + 52)))
  return lines
}

function encodeLine(bytes: Uint8Array): string {
  const length = String.fromCharCode(bytes.length <= 26 ? 64 + bytes.length : 70 + bytes.length)
  let line = length
  for (let at = 0; at < bytes.length; at += 4) {
    let value = 0
    for (let byte = 0; byte < 4; byte++) value = value * 256 + (bytes[at + byte] ?? 0)
    const digits: string[] = []
    for (let digit = 0; digit < 5; digit++) {
      digits.unshift(ALPHABET.charAt(value % 85))
      value = Math.floor(value / 85)
    }
    line += digits.join('')
  }
  return line
}
