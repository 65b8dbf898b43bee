import { dirname } from 'node:path'
import type { CheckResult } from '../model/change.ts'
import type { CommitId, TreeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { CheckCommand } from '../model/policy.ts'
import type { ScratchTree } from '../store/scratch.ts'
import { programOf, runBounded } from './run-bounded.ts'
import { treeEnvironment } from './tree-environment.ts'

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
  /** What marks it in its environment, and all that it starts: `check:<name>`, `hook:<name>`. */
  readonly worker: string
  /** Added to the environment that every check gets. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs one command of the policy in the scratch tree: `runProgram` says how. */
export function runCheck(check: CheckCommand, context: CheckContext): Promise<CheckRun> {
  const { name, required, timeoutMs } = check
  const worker = `check:${name}`
  return runProgram({ name, required, timeoutMs, worker, ...programOf(check.run) }, context)
}

/**
 * Runs a program in the scratch tree, bounded (`runBounded`), with the caller's environment without any `GIT_*` and without a prompt,
 * marked by `GALLEY_AGENT`. One that cannot be started is `missing`.
 */
export async function runProgram(program: CheckProgram, context: CheckContext): Promise<CheckRun> {
  const { name, required, file, args, timeoutMs } = program
  const env = { ...checkEnvironment(context, program.worker), ...program.env }
  const { path, form } = context.tree
  const started = performance.now()
  const end = await runBounded({ file, args, cwd: path, tree: form === 'full' ? path : null, env, timeoutMs })
  const durationMs = Math.round(performance.now() - started)
  const base = { name, commit: context.commit, required, durationMs }
  if (end.kind === 'not-started') {
    return {
      result: { ...base, outcome: 'missing', exitCode: null, summary: end.why },
      output: Buffer.from(`${end.why}\n`),
    }
  }
  const { exitCode, output } = end
  const outcome = end.timedOut ? 'timed-out' : exitCode === 0 ? 'passed' : 'failed'
  return { result: { ...base, outcome, exitCode, summary: firstLine(output) }, output }
}

const checkEnvironment = (
  { env, tree, change, commit, base }: CheckContext,
  worker: string,
): Record<string, string> => ({
  ...treeEnvironment(env, worker),
  GIT_TERMINAL_PROMPT: '0',
  GIT_CEILING_DIRECTORIES: dirname(tree.path), // a check that looks for another repository finds none above
  GALLEY_CHANGE: change,
  GALLEY_COMMIT: commit,
  ...(base === null ? {} : { GALLEY_BASE: base }),
})

/** The first line of output that says something, for lists. */
function firstLine(output: Buffer): string {
  const line =
    output
      .toString('utf8')
      .split('\n')
      .find((l) => l.trim() !== '') ?? ''
  return line.trim().slice(0, limits.quoteMaxCharacters)
}
