/**
 * Checks base64 strictly (RFC 4648 section 4): the standard alphabet, padded, no line ends, and no bits set that no
 * byte holds, so that each run of bytes has exactly one spelling.
 *
 * @returns null, or what is wrong, with its offset in UTF-16 units from 0.
 */
export function base64Fault(text: string): string | null {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const digits = text.length - padding
  let last = 0
  for (let offset = 0; offset < digits; offset++) {
    last = digitValue(text.charCodeAt(offset))
    if (last === -1) return `the character at offset ${offset} is not of the base64 alphabet`
  }
  if (text.length % 4 !== 0) return `its length, ${text.length}, is not a multiple of 4`
  const unused = padding === 2 ? 0b1111 : padding === 1 ? 0b11 : 0
  if ((last & unused) !== 0) return 'its last digit has bits set that belong to no byte'
  return null
}

function digitValue(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 26
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 52
  if (code === 0x2b) return 62
  return code === 0x2f ? 63 : -1
}
