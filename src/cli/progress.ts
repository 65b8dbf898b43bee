import type { TransportOptions } from '../flow/exchange/push.ts'
import type { Terminal } from './verb.ts'

/** How far git is with a transfer, on one line of standard error that is written over; and that git may ask there. */
export function progressOf(terminal: Terminal): TransportOptions {
  if (!terminal.isInteractive) return {}
  return {
    mayAsk: true,
    onProgress: ({ stage, percent }) => terminal.note(`\r${stage} ${percent}%${percent === 100 ? '\n' : ''}`),
  }
}
