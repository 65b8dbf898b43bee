import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { usageError } from './errors.ts'

/** Reads the input that a verb names: `-` is standard input. Bounded by the limit for batches. */
export async function readInput(file: string, cwd: string, stdin: NodeJS.ReadStream): Promise<Uint8Array> {
  if (file === '-') return readStream(stdin)
  const bytes = await readFile(resolve(cwd, file)).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`cannot read ${file}: ${error.code ?? error.message}`)
  })
  if (bytes.length > limits.batchMaxBytes) tooLarge(bytes.length)
  return bytes
}

async function readStream(stdin: NodeJS.ReadStream): Promise<Uint8Array> {
  if (stdin.isTTY) throw usageError('no input: name a file, or pipe a batch into standard input')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdin) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > limits.batchMaxBytes) tooLarge(size)
  }
  return Buffer.concat(chunks)
}

const tooLarge = (size: number): never =>
  refuse('too-large', `the batch has ${size} bytes or more; ${limits.batchMaxBytes} are allowed`, {
    limit: limits.batchMaxBytes,
  })
