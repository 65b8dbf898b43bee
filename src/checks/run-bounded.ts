import { limits } from '../model/limits.ts'
import type { Command } from '../model/policy.ts'
import { randomName } from '../sys/clock.ts'
import { run } from '../sys/process.ts'
import { endMembers } from '../sys/process-group.ts'

/** What a repository's own command is run with. */
export interface BoundedProgram {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** A tree that nobody but the program has to do with; null = others may be in there too. */
  readonly tree: string | null
  /** The whole environment, but for a mark by which the program's processes are known. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export type BoundedEnd =
  | { readonly kind: 'not-started'; readonly why: string }
  | {
      readonly kind: 'ended'
      readonly timedOut: boolean
      /** null = ended by a signal. */
      readonly exitCode: number | null
      readonly signal: string | null
      /** stdout, then stderr, each bounded. */
      readonly output: Buffer
    }

/** A program that is asked to end may take that long; it has done what it was started for. */
const GRACE_MS = 300

/**
 * Runs a program of the repository's choice with a bound on time and output, no input, and a process group of its own. What it leaves
 * running is ended, wherever it has gone. Never rejects for what the program does.
 */
export async function runBounded(program: BoundedProgram): Promise<BoundedEnd> {
  const { file, args, cwd, timeoutMs, tree } = program
  const mark = randomName()
  // A program inside another one's has both marks, so that either finds it.
  const env = { ...program.env, GALLEY_TASK: [program.env['GALLEY_TASK'] ?? '', mark].join(' ').trim() }
  const result = await run({
    file,
    args,
    cwd,
    env,
    timeoutMs,
    outputMaxBytes: limits.checkOutputMaxBytes,
    ownGroup: true,
  }).catch((error: NodeJS.ErrnoException) => error)
  if (result instanceof Error)
    return { kind: 'not-started', why: `could not be started: ${result.code ?? result.message}` }
  const { timedOut, exitCode, signal, stdout, stderr, started } = result
  const held = tree === null ? null : { path: tree, since: started?.since ?? null }
  await endMembers({ text: mark, leader: started?.pid ?? null, tree: held }, GRACE_MS)
  return { kind: 'ended', timedOut, exitCode, signal, output: Buffer.concat([stdout, stderr]) }
}

/** The program and arguments of a policy's command; a line is for the shell. */
export const programOf = (command: Command): { readonly file: string; readonly args: readonly string[] } =>
  command.kind === 'argv'
    ? { file: command.argv[0] ?? '', args: command.argv.slice(1) }
    : { file: '/bin/sh', args: ['-c', command.line] }
