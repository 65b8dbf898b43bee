import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { errorCode } from '../model/errno.ts'
import { type GroupMember, membersOf, type RunMark, startOf } from './process-group-members.ts'

export interface GroupRequest {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment; `mark` is in one of its values, so that descendants can be recognised by it. */
  readonly env: Readonly<Record<string, string>>
  readonly mark: string
  /** A tree that nobody but the command has to do with; null = none. */
  readonly tree: string | null
  /**
   * `inherit`: the caller's own input, output and errors. `stderr`: what it prints goes to the caller's errors. `pipes`: the caller speaks
   * with it through what `onStarted` gets; its errors are the caller's.
   */
  readonly stdio: 'inherit' | 'stderr' | 'none' | 'pipes'
  readonly onStarted?: (group: StartedGroup) => void
  /** Hands on the signals that this process gets, instead of ending by them. For programs that are nothing but the command. */
  readonly forwardsSignals: boolean
}

/** A command that runs, with `pipes`. */
export interface StartedGroup {
  readonly input: Writable
  readonly output: Readable
  /** Asks the whole group to end, or makes it. */
  readonly signal: (signal: 'SIGTERM' | 'SIGKILL') => void
}

export interface GroupResult {
  /** null = ended by a signal. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** As a shell has it: the exit code, or 128 and the signal's number. */
  readonly status: number
  /** Processes that the command left running, and that were ended. */
  readonly ended: number
  /** Those that could not be ended, such as another account's. */
  readonly survivors: readonly number[]
}

/** Between the request to end and the end by force. */
const GRACE_MS = 2_000
const POLL_MS = 20
/** Of a tree of processes that starts new ones as fast as they are ended. */
const KILL_ROUNDS_MAX = 200

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/** The terminal sends these to the whole group by itself. */
const BY_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT']

/**
 * Runs a command to its end, then ends whatever it left running: its process group, its session, and on Linux every process
 * that has `mark` in its environment, wherever it has gone since, and every later one that holds something of its tree.
 *
 * The command leads a session of its own, except where its input is a terminal: a program that works at a terminal needs to stay in
 * the terminal's session. Resolves for every exit code; rejects only when the command could not be started.
 */
export async function runInGroup(request: GroupRequest): Promise<GroupResult> {
  const atTerminal = ['inherit', 'stderr'].includes(request.stdio) && process.stdin.isTTY === true
  let pid: number | undefined
  // Before there is a child: a signal that comes while it starts is for it, and must not end this process beside it.
  const stopForwarding = request.forwardsSignals ? forwardSignals(() => pid, atTerminal) : () => undefined
  try {
    const child = spawn(request.file, [...request.args], {
      cwd: request.cwd,
      env: { ...request.env },
      stdio: stdioOf(request.stdio),
      detached: !atTerminal,
      windowsHide: true,
    })
    pid = child.pid
    tellStarted(child, request.onStarted)
    const since = pid === undefined ? null : startOf(pid)
    const tree = request.tree === null ? null : { path: request.tree, since }
    const mark: RunMark = { text: request.mark, leader: atTerminal ? null : (pid ?? null), tree }
    const { exitCode, signal } = await endOf(child)
    const { ended, survivors } = await endMembers(mark)
    const status = exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal])
    return { exitCode, signal, status, ended, survivors }
  } finally {
    stopForwarding()
  }
}

function stdioOf(stdio: GroupRequest['stdio']): StdioOptions {
  if (stdio === 'none') return 'ignore'
  if (stdio === 'pipes') return ['pipe', 'pipe', 'inherit']
  return stdio === 'inherit' ? 'inherit' : ['inherit', 2, 2]
}

function tellStarted({ pid, stdin, stdout }: ChildProcess, onStarted: GroupRequest['onStarted']): void {
  if (pid === undefined || stdin === null || stdout === null) return
  // A command that has ended takes no more; that it has ended is told by the result.
  stdin.on('error', () => undefined)
  onStarted?.({ input: stdin, output: stdout, signal: (signal) => sendSignal(-pid, signal) })
}

function endOf(
  child: ChildProcess,
): Promise<{ readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    // Not `close`: a background process may keep the output open for ever.
    child.on('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
}

function forwardSignals(childPid: () => number | undefined, atTerminal: boolean): () => void {
  const handlers = FORWARDED.map((signal) => {
    const handler = () => {
      const pid = childPid()
      if (pid === undefined || (atTerminal && BY_TERMINAL.includes(signal))) return
      sendSignal(atTerminal ? pid : -pid, signal)
    }
    process.on(signal, handler)
    return [signal, handler] as const
  })
  // A session of its own hears nothing of the window's size.
  const resized = () => {
    const pid = childPid()
    if (pid !== undefined && !atTerminal) sendSignal(-pid, 'SIGWINCH')
  }
  process.on('SIGWINCH', resized)
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
    process.off('SIGWINCH', resized)
  }
}

/** Ends every process of a run that is still there: asked first, then by force. */
export async function endMembers(
  mark: RunMark,
  graceMs: number = GRACE_MS,
): Promise<{ readonly ended: number; readonly survivors: readonly number[] }> {
  const seen = new Set<string>()
  const look = (): readonly GroupMember[] => {
    const members = membersOf(mark)
    for (const member of members) seen.add(member.key)
    return members
  }
  let members = look()
  for (const { pid } of members) sendSignal(pid, 'SIGTERM')
  const until = performance.now() + graceMs
  while (members.length > 0 && performance.now() < until) {
    await pause(POLL_MS)
    members = look()
  }
  for (let round = 0; members.length > 0 && round < KILL_ROUNDS_MAX; round++) {
    for (const { pid } of members) sendSignal(pid, 'SIGKILL')
    await pause(round < 5 ? 1 : POLL_MS)
    members = look()
  }
  return { ended: seen.size - members.length, survivors: members.map(({ pid }) => pid) }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // ESRCH: it has ended by itself. EPERM: another account's; it shows among the survivors.
    if (!['ESRCH', 'EPERM'].includes(errorCode(error))) throw error
  }
}
