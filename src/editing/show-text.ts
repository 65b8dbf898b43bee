import { limits } from '../model/limits.ts'

/** What a reader cannot see or tell apart: controls, formats, separators, every space but the plain one. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Text of a file or a request as a message shows it: cut to `limits.quoteMaxCharacters`, with everything that cannot
 * be seen written out (`\u{00A0}`). Bytes that are not UTF-8 show as U+FFFD.
 */
export function showText(content: Uint8Array | string): string {
  const text = typeof content === 'string' ? content : decoded(content)
  const cut = text.length > limits.quoteMaxCharacters
  const head = cut ? text.slice(0, limits.quoteMaxCharacters) : text
  return head.replace(UNSEEN, escapeOf) + (cut ? '…' : '')
}

/** Only as many bytes are decoded as can be shown: a line may be megabytes long. */
const decoded = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(0, 4 * (limits.quoteMaxCharacters + 1))).toString('utf8')

function escapeOf(character: string): string {
  if (character === '\t') return '\\t'
  if (character === '\r') return '\\r'
  if (character === '\n') return '\\n'
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}}`
}
