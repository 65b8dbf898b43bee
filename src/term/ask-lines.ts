import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Questions whose answers are whole lines. */
export interface LineAsker {
  /** null = the input has ended. */
  readonly ask: (question: string) => Promise<string | null>
  readonly close: () => void
}

/**
 * Asks on a terminal that stays as it is: the system echoes and edits the line, so that nothing needs to be put back, however this ends.
 * What is typed ahead answers the next question.
 */
export function openAsker(input: Readable, write: (text: string) => void): LineAsker {
  const reader = createInterface({ input, terminal: false })
  const lines = reader[Symbol.asyncIterator]()
  return {
    ask: async (question) => {
      write(question)
      const { done, value } = await lines.next()
      if (done !== true) return value
      write('\n')
      return null
    },
    close: () => reader.close(),
  }
}
