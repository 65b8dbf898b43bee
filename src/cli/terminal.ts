import { createInterface } from 'node:readline/promises'
import type { CliProcess } from './cli-process.ts'
import type { LiveLine } from './live-line.ts'
import type { Terminal } from './verb.ts'

/**
 * Colours, prompts and width by the terminal's habits: `NO_COLOR`, `TERM=dumb` and a pipe mean plain text.
 *
 * @param json - Standard output is for one JSON value; what people see goes to standard error.
 */
export function openTerminal(proc: CliProcess, json: boolean, live: LiveLine): Terminal {
  const output = json ? proc.stderr : proc.stdout
  const isInteractive = output.isTTY === true && proc.stdin.isTTY === true
  const plain = (proc.env['NO_COLOR'] ?? '') !== '' || proc.env['TERM'] === 'dumb'
  return {
    isInteractive,
    useColour: output.isTTY === true && !plain,
    write: (text) => {
      live.clear()
      output.write(text)
    },
    note: (text) => {
      live.clear()
      proc.stderr.write(text)
    },
    progress: live.show,
    confirm: async (question) => {
      if (!isInteractive) return false
      live.clear()
      const asker = createInterface({ input: proc.stdin, output })
      // The end of input is an answer too: no.
      const ended = new Promise<string>((resolve) => asker.once('close', () => resolve('')))
      const answer = await Promise.race([asker.question(`${question} [y/N] `), ended])
      asker.close()
      return /^y(es)?$/i.test(answer.trim())
    },
  }
}
