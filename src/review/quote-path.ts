import { visible } from './visible.ts'

const SHORT: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\u000b', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
])

/**
 * A path as it stands in a diff: plain where that is safe, else in git's C style (`"a\tb\342\200\256"`), which git reads.
 *
 * Letters of any script stay as they are (git's `core.quotePath=false`); what cannot be seen is written as the octal
 * digits of its UTF-8 bytes.
 */
export function quotePath(path: string): string {
  const quoted = Array.from(path, quoteCharacter).join('')
  return quoted === path ? path : `"${quoted}"`
}

function quoteCharacter(character: string): string {
  const short = SHORT.get(character)
  if (short !== undefined) return short
  if (visible(character) === character) return character
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
  ).join('')
}
