import { limits } from '../model/limits.ts'
import { withUnseenShown } from '../model/unseen.ts'

/**
 * Text of a file or a request as a message shows it: cut to `limits.quoteMaxCharacters`, with everything that cannot
 * be seen written out (`\u{A0}`). Bytes that are not UTF-8 show as U+FFFD.
 */
export function showText(content: Uint8Array | string): string {
  const text = typeof content === 'string' ? content : decoded(content)
  const cut = text.length > limits.quoteMaxCharacters
  const head = cut ? text.slice(0, limits.quoteMaxCharacters) : text
  return withUnseenShown(head) + (cut ? '…' : '')
}

/** Only as many bytes are decoded as can be shown: a line may be megabytes long. */
const decoded = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(0, 4 * (limits.quoteMaxCharacters + 1))).toString('utf8')
