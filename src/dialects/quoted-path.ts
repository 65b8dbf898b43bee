/**
 * Names in diffs are handled as byte strings: one character, U+0000 to U+00FF, for each byte. Only as a path of the
 * repository are they read as UTF-8.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
}

/** A name read from the start of a text, and what follows it. */
interface QuotedName {
  readonly name: string
  /** Index of the first character after the closing quote. */
  readonly end: number
}

/**
 * Reads a C-style quoted name, as git writes names with control characters, quotes, backslashes or non-ASCII bytes.
 *
 * @param start - Index of the opening quote.
 * @returns null where the quoting is not git's.
 */
export function unquoteName(text: string, start: number): QuotedName | null {
  const parts: string[] = []
  let plain = start + 1
  for (let at = plain; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') {
      parts.push(text.slice(plain, at))
      return { name: parts.join(''), end: at + 1 }
    }
    if (character !== '\\') continue
    const found = escapeAt(text, at + 1)
    if (found === null) return null
    parts.push(text.slice(plain, at), found.value)
    plain = at + 1 + found.length
    at = plain - 1
  }
  return null
}

function escapeAt(text: string, at: number): { readonly value: string; readonly length: number } | null {
  const octal = text.slice(at, at + 3)
  if (/^[0-3][0-7]{2}$/.test(octal))
    return { value: String.fromCharCode(Number.parseInt(octal, 8)), length: 3 }
  const character = text.charAt(at)
  const value = Object.hasOwn(ESCAPES, character) ? ESCAPES[character] : undefined
  return value === undefined ? null : { value, length: 1 }
}

/** The bytes of a byte string. */
export const nameBytes = (name: string): Uint8Array => Buffer.from(name, 'latin1')

/** Takes the first `strip` components off a name; null where it has no more than these. */
export function stripName(name: string, strip: number): string | null {
  let start = 0
  for (let count = 0; count < strip; count++) {
    const slash = name.indexOf('/', start)
    if (slash === -1) return null
    start = slash + 1
  }
  return start < name.length ? name.slice(start) : null
}
