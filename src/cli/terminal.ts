import { createInterface } from 'node:readline/promises'
import type { CliProcess } from './main.ts'
import type { Terminal } from './verb.ts'

/** Colours, prompts and width by the terminal's habits: `NO_COLOR`, `TERM=dumb` and a pipe mean plain text. */
export function openTerminal(proc: CliProcess): Terminal {
  const isInteractive = proc.stdout.isTTY === true && proc.stdin.isTTY === true
  const plain = (proc.env['NO_COLOR'] ?? '') !== '' || proc.env['TERM'] === 'dumb'
  return {
    isInteractive,
    useColour: proc.stdout.isTTY === true && !plain,
    write: (text) => void proc.stdout.write(text),
    confirm: async (question) => {
      if (!isInteractive) return false
      const asker = createInterface({ input: proc.stdin, output: proc.stdout })
      // The end of input is an answer too: no.
      const ended = new Promise<string>((resolve) => asker.once('close', () => resolve('')))
      const answer = await Promise.race([asker.question(`${question} [y/N] `), ended])
      asker.close()
      return /^y(es)?$/i.test(answer.trim())
    },
  }
}
