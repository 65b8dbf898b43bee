import type { CheckResult } from '../model/change.ts'
import type { CommitId, TreeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { CheckCommand, Command } from '../model/policy.ts'
import type { ScratchTree } from '../store/scratch.ts'
import { run } from '../sys/process.ts'

/** What a check is told of the change it looks at. */
export interface CheckContext {
  readonly tree: ScratchTree
  readonly commit: CommitId
  readonly base: CommitId | null
  readonly change: string
  readonly paths: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface CheckRun {
  readonly result: CheckResult
  /** stdout, then stderr, both bounded. */
  readonly output: Buffer
  /** It rewrote files or message, and that is to be the next revision. */
  readonly rewriting?: Rewriting
}

/** What a check made of the files, or the message, that it was to look at. */
export interface Rewriting {
  /** All tracked files as it left them, in the store; null = as they were. */
  readonly tree: TreeId | null
  /** What differs from the commit. */
  readonly paths: readonly string[]
  /** What had been brought into the tree, and is no part of any change. */
  readonly brought: readonly string[]
  /** The whole message as a hook left it; null = as it was. */
  readonly message: string | null
}

/** A program to run on a commit, and what to call it among the checks. */
export interface CheckProgram {
  readonly name: string
  readonly required: boolean
  readonly file: string
  readonly args: readonly string[]
  readonly timeoutMs: number
  /** Added to the environment that every check gets. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs one command of the policy in the scratch tree: `runProgram` says how. */
export function runCheck(check: CheckCommand, context: CheckContext): Promise<CheckRun> {
  const [file, args] = programOf(check.run)
  const { name, required, timeoutMs } = check
  return runProgram({ name, required, timeoutMs, file, args }, context)
}

/**
 * Runs a program in the scratch tree, with a bound on time and output and in a process group of its own. What it leaves running is ended.
 *
 * It gets the caller's environment without any `GIT_*` and without a prompt. Never rejects for what the program does: one that cannot be
 * started is `missing`.
 */
export async function runProgram(program: CheckProgram, context: CheckContext): Promise<CheckRun> {
  const { name, required, file, args, timeoutMs, env } = program
  const started = performance.now()
  const outcome = await run({
    file,
    args,
    cwd: context.tree.path,
    env: { ...checkEnvironment(context), ...env },
    timeoutMs,
    outputMaxBytes: limits.checkOutputMaxBytes,
    ownGroup: true,
  }).catch((error: NodeJS.ErrnoException) => error)
  const durationMs = Math.round(performance.now() - started)
  const base = { name, commit: context.commit, required, durationMs }
  if (outcome instanceof Error) {
    const summary = `could not be started: ${outcome.code ?? outcome.message}`
    return {
      result: { ...base, outcome: 'missing', exitCode: null, summary },
      output: Buffer.from(`${summary}\n`),
    }
  }
  const output = Buffer.concat([outcome.stdout, outcome.stderr])
  const verdict = outcome.timedOut ? 'timed-out' : outcome.exitCode === 0 ? 'passed' : 'failed'
  return {
    result: { ...base, outcome: verdict, exitCode: outcome.exitCode, summary: firstLine(output) },
    output,
  }
}

const programOf = (command: Command): readonly [string, readonly string[]] =>
  command.kind === 'argv' ? [command.argv[0] ?? '', command.argv.slice(1)] : ['/bin/sh', ['-c', command.line]]

/** Variables of the caller that a check must not see: another repository's, and any that could answer a prompt. */
function checkEnvironment(context: CheckContext): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(context.env)) {
    if (value !== undefined && !name.startsWith('GIT_')) env[name] = value
  }
  return {
    ...env,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CEILING_DIRECTORIES: context.tree.path, // a check that looks for another repository finds none above
    GALLEY_CHANGE: context.change,
    GALLEY_COMMIT: context.commit,
    ...(context.base === null ? {} : { GALLEY_BASE: context.base }),
  }
}

/** The first line of output that says something, for lists. */
function firstLine(output: Buffer): string {
  const line =
    output
      .toString('utf8')
      .split('\n')
      .find((l) => l.trim() !== '') ?? ''
  return line.trim().slice(0, limits.quoteMaxCharacters)
}
