import { join } from 'node:path'
import { changedFiles, checkOutScratch, moveScratchHead } from '../git/scratch-tree.ts'
import type { CheckResult } from '../model/change.ts'
import type { CommitId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { randomName } from '../sys/clock.ts'
import { readOwnFile, writeOwnFile } from '../sys/durable.ts'
import { run } from '../sys/process.ts'
import { type CheckContext, type CheckRun, checkEnvironment, firstLine } from './run-command.ts'

/** A hook of the team's own, as git would run it for a commit of the user's. */
export interface TeamHook {
  readonly name: 'pre-commit' | 'commit-msg'
  /** Absolute; in the user's own repository, never in what is being checked. */
  readonly path: string
}

export interface TeamHookContext extends CheckContext {
  /** What HEAD shows while the hooks run: the commit's parent, or a commit of nothing where it has none. */
  readonly parent: CommitId
  readonly message: string
}

/**
 * Runs the team's own hooks on a commit that is not made yet as far as they can see: HEAD is its parent, the index holds its tree, and
 * the message is in a file (DESIGN.md section 9). They get no `GIT_*`, so that git commands of theirs find the scratch tree by itself and
 * never the user's repository.
 *
 * A hook that fails blocks; so does one that rewrites files, index or message: what it looked at would not be what is approved. Leaves
 * the tree at the commit.
 */
export async function runTeamHooks(
  hooks: readonly TeamHook[],
  context: TeamHookContext,
): Promise<readonly CheckRun[]> {
  const { tree, commit, parent } = context
  const runs: CheckRun[] = []
  for (const hook of hooks) {
    if (!(await moveScratchHead(tree.door, { from: commit, to: parent })))
      await checkOutScratch(tree.door, commit)
    const ran = await runHook(hook, context)
    runs.push(await judgeAfterwards(hook, ran, context))
    // As git does: the second is not asked when the first says no.
    if (runs.at(-1)?.result.outcome !== 'passed') break
  }
  return runs
}

const checkName = (hook: TeamHook): string => `hooks/${hook.name}`

async function runHook(hook: TeamHook, context: TeamHookContext): Promise<CheckRun> {
  const { tree, commit } = context
  const started = performance.now()
  const messageFile = join(tree.door.gitDir, 'COMMIT_EDITMSG')
  const isMessage = hook.name === 'commit-msg'
  if (isMessage) await writeOwnFile(messageFile, context.message, `message-${randomName()}`)
  const outcome = await run({
    file: hook.path,
    args: isMessage ? [messageFile] : [],
    cwd: tree.path,
    env: { ...checkEnvironment(context), GIT_EDITOR: ':' }, // as git sets it: a hook cannot ask
    timeoutMs: limits.checkDefaultTimeoutMs,
    outputMaxBytes: limits.checkOutputMaxBytes,
    ownGroup: true,
  }).catch((error: NodeJS.ErrnoException) => error)
  const durationMs = Math.round(performance.now() - started)
  const base = { name: checkName(hook), commit, required: true, durationMs }
  if (outcome instanceof Error) {
    const summary = `could not be started: ${outcome.code ?? outcome.message}`
    return {
      result: { ...base, outcome: 'missing', exitCode: null, summary },
      output: Buffer.from(`${summary}\n`),
    }
  }
  const output = Buffer.concat([outcome.stdout, outcome.stderr])
  const verdict = outcome.timedOut ? 'timed-out' : outcome.exitCode === 0 ? 'passed' : 'failed'
  const now = isMessage ? (await readOwnFile(messageFile))?.toString('utf8') : context.message
  const result: CheckResult = {
    ...base,
    outcome: verdict,
    exitCode: outcome.exitCode,
    summary: firstLine(output),
  }
  return verdict === 'passed' && now !== context.message
    ? asFailed({ result, output }, `${hook.name} rewrote the message; give it the form that the hook wants`)
    : { result, output }
}

/** The tree must be as it was: the commit's, with nothing changed in files or index. */
async function judgeAfterwards(hook: TeamHook, ran: CheckRun, context: TeamHookContext): Promise<CheckRun> {
  const { tree, commit, parent } = context
  const isBack = await moveScratchHead(tree.door, { from: parent, to: commit })
  const changed = isBack ? await changedFiles(tree.door) : []
  if (isBack && changed.length === 0) return ran
  await checkOutScratch(tree.door, commit)
  const what = isBack ? changed.slice(0, 5).join(', ') : 'HEAD'
  return asFailed(ran, `${hook.name} changed ${what}; propose what it makes of the files`)
}

const asFailed = ({ result, output }: CheckRun, summary: string): CheckRun => ({
  result: { ...result, outcome: 'failed', summary },
  output: Buffer.concat([output, Buffer.from(`\n${summary}\n`)]),
})
