import { limits } from '../model/limits.ts'
import { isWellFormed } from '../policy/quote.ts'
import { fault, type ParseFault } from './parse-fault.ts'

interface RequestLines {
  readonly kind: 'lines'
  /** Without their terminators; no empty last line stands for a final newline. */
  readonly lines: readonly string[]
}

/** Splits a text of a request at its newlines. Refuses `not-utf8` (half of a surrogate pair) and `too-large`. */
export function requestLines(text: string): RequestLines | ParseFault {
  if (!isWellFormed(text)) {
    return fault(1, 'the text holds half of a surrogate pair', { code: 'not-utf8' })
  }
  const count = countLines(text)
  if (count > limits.patchMaxLines) {
    const message = `the text has ${count} lines; at most ${limits.patchMaxLines} are read`
    return fault(limits.patchMaxLines + 1, message, { code: 'too-large' })
  }
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return { kind: 'lines', lines }
}

function countLines(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** The line without the `\r` that a text with CRLF endings leaves on it. */
export const withoutCr = (line = ''): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
