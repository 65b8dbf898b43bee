import { type ChildProcess, spawn } from 'node:child_process'
import { errorCode } from '../model/errno.ts'
import { startOf } from './process-group-members.ts'

export interface RunRequest {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly input?: Uint8Array | string
  readonly timeoutMs: number
  readonly outputMaxBytes: number
  /** Own process group, ended as a whole on time-out (checks). */
  readonly ownGroup?: boolean
}

export interface RunResult {
  /** null = ended by a signal. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly timedOut: boolean
  readonly outputTruncated: boolean
  /** The process, and when it began in clock ticks since the start of the system; for looking who is left of it. */
  readonly started: { readonly pid: number; readonly since: number | null } | null
}

/** How long output is still listened to after a program with a group of its own has ended. */
const LEFTOVER_OUTPUT_MS = 500

/**
 * Runs a program to its end. Resolves for every exit code; rejects only when it could not be started.
 *
 * Output beyond `outputMaxBytes` (stdout and stderr each) is dropped and `outputTruncated` set.
 */
export function run(request: RunRequest): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(request.file, [...request.args], {
      cwd: request.cwd,
      env: { ...request.env },
      stdio: [request.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: request.ownGroup === true,
      windowsHide: true,
    })
    const out = collect(child.stdout, request.outputMaxBytes)
    const err = collect(child.stderr, request.outputMaxBytes)
    const started =
      request.ownGroup === true && child.pid !== undefined
        ? { pid: child.pid, since: startOf(child.pid) }
        : null
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child, request.ownGroup === true)
    }, request.timeoutMs)
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    let letGo: NodeJS.Timeout | null = null
    child.on('exit', () => {
      if (request.ownGroup !== true) return
      // What it left running may hold its output open for ever: the group is ended, and after a moment we stop listening.
      endGroup(child, true)
      letGo = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
      }, LEFTOVER_OUTPUT_MS)
    })
    child.on('close', (exitCode, signal) => {
      clearTimeout(timer)
      if (letGo !== null) clearTimeout(letGo)
      resolve({
        exitCode,
        signal,
        stdout: out.bytes(),
        stderr: err.bytes(),
        timedOut,
        outputTruncated: out.truncated() || err.truncated(),
        started,
      })
    })
    if (child.stdin) {
      // A program that ends without reading its input is judged by its exit code, not by our broken pipe.
      child.stdin.on('error', () => undefined)
      child.stdin.end(request.input)
    }
  })
}

function endGroup(child: ChildProcess, ownGroup: boolean): void {
  if (child.pid === undefined) return
  try {
    process.kill(ownGroup ? -child.pid : child.pid, 'SIGKILL')
  } catch (error) {
    // ESRCH: the group ended by itself, which is what was wanted.
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

function collect(stream: NodeJS.ReadableStream | null, maxBytes: number) {
  const chunks: Buffer[] = []
  let size = 0
  let dropped = false
  stream?.on('data', (chunk: Buffer) => {
    const room = maxBytes - size
    if (chunk.length > room) dropped = true
    if (room > 0) chunks.push(chunk.subarray(0, room))
    size += Math.min(chunk.length, Math.max(room, 0))
  })
  return { bytes: () => Buffer.concat(chunks), truncated: () => dropped }
}
