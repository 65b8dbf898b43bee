import { join } from 'node:path'
import { addChangedFiles, checkOutScratch, moveScratchHead } from '../git/scratch-tree.ts'
import type { CheckResult } from '../model/change.ts'
import type { CommitId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { randomName } from '../sys/clock.ts'
import { readOwnFile, writeOwnFile } from '../sys/durable.ts'
import { run } from '../sys/process.ts'
import { asFailed, findRewriting, type JudgeRewriting, judgeRewriting } from './rewriting.ts'
import {
  type CheckContext,
  type CheckRun,
  checkEnvironment,
  firstLine,
  type Rewriting,
} from './run-command.ts'

/** A hook of the team's own, as git would run it for a commit of the user's. */
export interface TeamHook {
  readonly name: 'pre-commit' | 'commit-msg'
  /** Absolute; in the user's own repository, never in what is being checked. */
  readonly path: string
}

export interface TeamHookContext extends CheckContext {
  readonly judge: JudgeRewriting
  /** What had been brought into the tree, and is no part of any change. */
  readonly brought: readonly string[]

  /** What HEAD shows while the hooks run: the commit's parent, or a commit of nothing where it has none. */
  readonly parent: CommitId
  readonly message: string
}

/**
 * Runs the team's own hooks on a commit that is not made yet as far as they can see: HEAD is its parent, the index holds its tree, and
 * the message is in a file (DESIGN.md section 9). They get no `GIT_*`, so that git commands of theirs find the scratch tree by itself and
 * never the user's repository.
 *
 * A hook that fails blocks, and so does one that commits. What one makes of the files, or of the message, is judged; where it fails after
 * it wrote files, as a hook does that wants a person to look, it is asked once more on them. Leaves the tree at the commit.
 */
export async function runTeamHooks(
  hooks: readonly TeamHook[],
  context: TeamHookContext,
): Promise<readonly CheckRun[]> {
  const runs: CheckRun[] = []
  for (const hook of hooks) {
    runs.push(await askHook(hook, context))
    // As git does: the second is not asked when the first says no.
    if (runs.at(-1)?.result.outcome !== 'passed') break
  }
  return runs
}

async function askHook(hook: TeamHook, context: TeamHookContext): Promise<CheckRun> {
  const { commit, judge, tree } = context
  const { run, isHeadBack, rewriting } = await runBeforeCommit(hook, context)
  if (isHeadBack && rewriting === null) return run
  if (rewriting !== null) {
    const { outcome, exitCode } = run.result
    if (outcome === 'passed') return judgeRewriting(run, rewriting, { door: tree.door, commit, judge })
    if (outcome === 'failed' && exitCode !== 0) return askAgain(hook, run, context)
  }
  await checkOutScratch(tree.door, commit)
  return isHeadBack ? run : asFailed(run, `${hook.name} moved HEAD; a hook may not commit`)
}

/** What a person does when a hook has mended the files and failed: adds that, and commits again. */
async function askAgain(hook: TeamHook, first: CheckRun, context: TeamHookContext): Promise<CheckRun> {
  const { commit, judge, tree } = context
  await addChangedFiles(tree.door)
  const { run, rewriting } = await runBeforeCommit(hook, context)
  const output = Buffer.concat([first.output, Buffer.from('\nasked again, on what it wrote:\n'), run.output])
  if (run.result.outcome === 'passed' && rewriting !== null)
    return judgeRewriting({ ...run, output }, rewriting, { door: tree.door, commit, judge })
  await checkOutScratch(tree.door, commit)
  return { ...first, output }
}

/** Runs a hook while HEAD shows the parent, puts HEAD back, and looks at what the hook has made of files and message. */
async function runBeforeCommit(
  hook: TeamHook,
  context: TeamHookContext,
): Promise<{ readonly run: CheckRun; readonly isHeadBack: boolean; readonly rewriting: Rewriting | null }> {
  const { brought, tree, commit, parent } = context
  if (!(await moveScratchHead(tree.door, { from: commit, to: parent })))
    await checkOutScratch(tree.door, commit)
  const messageFile = join(tree.door.gitDir, 'COMMIT_EDITMSG')
  const isMessage = hook.name === 'commit-msg'
  if (isMessage) await writeOwnFile(messageFile, context.message, `message-${randomName()}`)
  const run = await runHook(hook, context, isMessage ? [messageFile] : [])
  if (!(await moveScratchHead(tree.door, { from: parent, to: commit })))
    return { run, isHeadBack: false, rewriting: null }
  const files = await findRewriting(tree.door, brought)
  const now = isMessage ? ((await readOwnFile(messageFile))?.toString('utf8') ?? '') : context.message
  if (now === context.message) return { run, isHeadBack: true, rewriting: files }
  const rewriting = { ...(files ?? { tree: null, paths: [], brought }), message: now }
  return { run, isHeadBack: true, rewriting }
}

/** What a hook is called among the checks. */
export const hookCheckName = (hook: TeamHook): string => `hooks/${hook.name}`

async function runHook(hook: TeamHook, context: TeamHookContext, args: readonly string[]): Promise<CheckRun> {
  const { tree, commit } = context
  const started = performance.now()
  const outcome = await run({
    file: hook.path,
    args,
    cwd: tree.path,
    env: { ...checkEnvironment(context), GIT_EDITOR: ':' }, // as git sets it: a hook cannot ask
    timeoutMs: limits.checkDefaultTimeoutMs,
    outputMaxBytes: limits.checkOutputMaxBytes,
    ownGroup: true,
  }).catch((error: NodeJS.ErrnoException) => error)
  const durationMs = Math.round(performance.now() - started)
  const base = { name: hookCheckName(hook), commit, required: true, durationMs }
  if (outcome instanceof Error) {
    const summary = `could not be started: ${outcome.code ?? outcome.message}`
    return {
      result: { ...base, outcome: 'missing', exitCode: null, summary },
      output: Buffer.from(`${summary}\n`),
    }
  }
  const output = Buffer.concat([outcome.stdout, outcome.stderr])
  const verdict = outcome.timedOut ? 'timed-out' : outcome.exitCode === 0 ? 'passed' : 'failed'
  const result: CheckResult = {
    ...base,
    outcome: verdict,
    exitCode: outcome.exitCode,
    summary: firstLine(output),
  }
  return { result, output }
}
