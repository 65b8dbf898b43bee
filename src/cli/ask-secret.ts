import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'

/** Asks at the terminal; of a secret, nothing is echoed. null = the input ended. */
export async function askAtTerminal(
  input: Readable,
  write: (text: string) => void,
  question: string,
  isSecret: boolean,
): Promise<string | null> {
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!isSecret) write(chunk.toString('utf8'))
      done()
    },
  })
  write(question)
  const reader = createInterface({ input, output, terminal: true })
  const ended = new Promise<null>((resolve) => {
    reader.once('close', () => resolve(null))
    reader.once('SIGINT', () => reader.close())
  })
  const answer = await Promise.race([reader.question(''), ended])
  reader.close()
  if (isSecret) write('\n')
  return answer
}
