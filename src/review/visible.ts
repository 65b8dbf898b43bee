import { codeOf, unseenIn } from '../model/unseen.ts'
import { misleadingIn } from './look-alikes.ts'

/** A piece of foreign text, as it may go to a terminal or a page. */
export interface VisiblePart {
  /** `mark`: stands for one character or byte that has no shape of its own. `trailing-blank`: blanks that end the line. */
  readonly kind: 'text' | 'mark' | 'trailing-blank'
  readonly text: string
}

/**
 * Foreign bytes or text with everything unseen or misleading written out: characters as `\u{202E}`, bytes that are not UTF-8 as
 * `\x{FF}`.
 *
 * Total, and linear in the length. The result holds no control character but tab and line feed, so that no text can
 * reach the terminal as a command.
 */
export const visible = (content: Uint8Array | string): string =>
  markedParts(content)
    .map(({ text }) => text)
    .join('')

/**
 * One line (without its line feed) in parts, for surfaces that draw marks and trailing blanks in another colour.
 * Joined, the parts are what `visible` gives.
 */
export function visibleParts(line: Uint8Array | string): readonly VisiblePart[] {
  const parts = markedParts(line)
  const last = parts.at(-1)
  if (last?.kind !== 'text') return parts
  const end = lengthWithoutBlanks(last.text)
  if (end === last.text.length) return parts
  const before = end === 0 ? [] : [{ kind: 'text', text: last.text.slice(0, end) } as const]
  return [...parts.slice(0, -1), ...before, { kind: 'trailing-blank', text: last.text.slice(end) }]
}

function lengthWithoutBlanks(text: string): number {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return end
}

function markedParts(content: Uint8Array | string): VisiblePart[] {
  const parts: VisiblePart[] = []
  for (const piece of typeof content === 'string' ? [content] : decoded(content)) {
    if (typeof piece === 'number') parts.push({ kind: 'mark', text: `\\x{${hex(piece).padStart(2, '0')}}` })
    else pushMarked(parts, piece)
  }
  return parts
}

function pushMarked(parts: VisiblePart[], text: string): void {
  let from = 0
  // In whole lines, blank, tab and line feed are what they seem.
  const unseen = [...unseenIn(text)].filter(({ character }) => character !== '\t' && character !== '\n')
  const misleading = misleadingIn(text)
  const all = misleading.length === 0 ? unseen : [...unseen, ...misleading].sort((a, b) => a.index - b.index)
  for (const { character, index } of all) {
    // A mark may be both.
    if (index < from) continue
    if (index > from) parts.push({ kind: 'text', text: text.slice(from, index) })
    parts.push({ kind: 'mark', text: codeOf(character) })
    from = index + character.length
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) })
}

const hex = (value: number): string => value.toString(16).toUpperCase()

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The bytes as runs of UTF-8 text and, as numbers, bytes that are none. */
function* decoded(bytes: Uint8Array): Generator<string | number> {
  let from = 0
  let at = 0
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at)
    if (length > 0) {
      at += length
      continue
    }
    if (at > from) yield decoder.decode(bytes.subarray(from, at))
    yield bytes[at] ?? 0
    at += 1
    from = at
  }
  if (at > from) yield decoder.decode(bytes.subarray(from, at))
}

/** Length of the UTF-8 sequence that begins here; 0 if none does. The ranges are those of Unicode's table 3-7. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  const second = bytes[at + 1] ?? 0
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  if (second < lowest || second > highest) return 0
  for (let i = 2; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}
