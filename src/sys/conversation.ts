import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'

/** A program that is kept running and asked again and again, in order. */
export interface Conversation {
  readonly pid: number
  readonly write: (bytes: Uint8Array | string) => void
  /** The next `count` bytes of its output. Rejects when it ends before. */
  readonly readBytes: (count: number) => Promise<Buffer>
  /** The next line of its output, without the LF. */
  readonly readLine: () => Promise<string>
  /** Closes its input and waits for its end. */
  readonly end: () => Promise<number | null>
  readonly kill: () => void
  /** What it said on stderr so far (bounded). */
  readonly stderr: () => string
}

export function converse(request: {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** In a session of its own, so that a Ctrl-C at the terminal, meant for another program, does not end it. */
  readonly ownSession?: true
}): Conversation {
  const child: ChildProcessWithoutNullStreams = spawn(request.file, [...request.args], {
    cwd: request.cwd,
    env: { ...request.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: request.ownSession === true,
    windowsHide: true,
  })
  const output = new OutputQueue()
  let stderr = ''
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      output.fail(error)
      resolve(null)
    })
    child.on('close', (code, signal) => {
      if (signal !== null) stderr += `ended by ${signal}`
      output.fail(
        new Error(`${request.file} ${request.args.join(' ')} ended with exit code ${code}: ${stderr.trim()}`),
      )
      resolve(code)
    })
  })
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < 8192) stderr += chunk.toString('utf8')
  })
  // A broken pipe shows as the program's end, which every pending read reports.
  child.stdin.on('error', () => undefined)
  return {
    pid: child.pid ?? -1,
    write: (bytes) => void child.stdin.write(bytes),
    readBytes: (count) => output.take(count),
    readLine: () => output.takeLine(),
    end: () => {
      child.stdin.end()
      return ended
    },
    kill: () => void child.kill('SIGKILL'),
    stderr: () => stderr,
  }
}

/** Bytes that arrived, and the one reader at a time who waits for more. */
class OutputQueue {
  private chunks: Buffer[] = []
  private size = 0
  private failure: Error | null = null
  private wake: (() => void) | null = null

  push(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.size += chunk.length
    this.wake?.()
  }

  fail(error: Error): void {
    this.failure ??= error
    this.wake?.()
  }

  async take(count: number): Promise<Buffer> {
    while (this.size < count) await this.more()
    const all = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks)
    this.keep(all.subarray(count))
    return all.subarray(0, count)
  }

  async takeLine(): Promise<string> {
    for (;;) {
      const all = Buffer.concat(this.chunks)
      const end = all.indexOf(0x0a)
      this.keep(end === -1 ? all : all.subarray(end + 1))
      if (end !== -1) return all.subarray(0, end).toString('utf8')
      await this.more()
    }
  }

  private keep(rest: Buffer): void {
    this.chunks = rest.length === 0 ? [] : [rest]
    this.size = rest.length
  }

  private more(): Promise<void> {
    if (this.failure) return Promise.reject(this.failure)
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = null
        resolve()
      }
    })
  }
}
