import type { TransportOptions } from '../flow/exchange/push.ts'
import type { Terminal } from './verb.ts'

/** How far git is with a transfer; and that git may ask at the terminal. */
export function progressOf(terminal: Terminal): TransportOptions {
  if (!terminal.isInteractive) return {}
  return {
    mayAsk: true,
    onProgress: ({ stage, percent }) => terminal.progress(`${stage}: ${percent} %`),
  }
}
