import { limits } from '../model/limits.ts'
import type { Command } from '../model/policy.ts'
import { run } from '../sys/process.ts'

/** What a repository's own command is run with. */
export interface BoundedProgram {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment. */
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

/**
 * Runs a program of the repository's choice with a bound on time and output, no input, and a process group of its own. What it leaves
 * running is ended. Never rejects for what the program does.
 */
export async function runBounded(program: BoundedProgram): Promise<BoundedEnd> {
  const result = await run({
    ...program,
    outputMaxBytes: limits.checkOutputMaxBytes,
    ownGroup: true,
  }).catch((error: NodeJS.ErrnoException) => error)
  if (result instanceof Error)
    return { kind: 'not-started', why: `could not be started: ${result.code ?? result.message}` }
  const { timedOut, exitCode, signal, stdout, stderr } = result
  return { kind: 'ended', timedOut, exitCode, signal, output: Buffer.concat([stdout, stderr]) }
}

/** The program and arguments of a policy's command; a line is for the shell. */
export const programOf = (command: Command): { readonly file: string; readonly args: readonly string[] } =>
  command.kind === 'argv'
    ? { file: command.argv[0] ?? '', args: command.argv.slice(1) }
    : { file: '/bin/sh', args: ['-c', command.line] }
