import { join } from 'node:path'
import { stagedIndex } from '../git/scratch-tree.ts'
import type { CommitHook } from '../model/hook.ts'
import type { CommitId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { ownRepositoryOf } from '../store/own-repository.ts'
import { viewIndex } from '../store/scratch.ts'
import { type Shown, showRepository, type TreeSeal } from '../store/tree-seal.ts'
import { randomName } from '../sys/clock.ts'
import { readIfFile } from '../sys/quick-files.ts'
import { writeOwnFile } from '../sys/small-files.ts'
import { removeTree } from '../sys/trees.ts'
import {
  type Aftermath,
  asSpoilt,
  findRewriting,
  type JudgeRewriting,
  judgeRewriting,
  putTreeBack,
} from './rewriting.ts'
import { type CheckContext, type CheckRun, type Rewriting, runProgram } from './run-command.ts'

/** A hook of the team's own, as git would run it for a commit of the user's. */
export interface TeamHook {
  readonly name: CommitHook
  /** Absolute; in the user's own repository, never in what is being checked. */
  readonly path: string
}

export interface TeamHookContext extends CheckContext {
  readonly judge: JudgeRewriting
  /** Of the tree. */
  readonly seal: TreeSeal
  /** What had been brought into the tree, and is no part of any change. */
  readonly brought: readonly string[]
  /** What HEAD shows while the hooks run: the commit's parent, or a commit of nothing where it has none. */
  readonly parent: CommitId
  /** What the hooks are to be asked about. */
  readonly message: string
  /** The hooks have had their turn at that message, and what they made of it is the change's own by now: they only say yes or no. */
  readonly isReworded: boolean
}

/**
 * Runs the team's own hooks on a commit that is not made yet as far as they can see: HEAD is its parent, the index holds its tree, and
 * the message is in a file (DESIGN.md section 9). They get no `GIT_*`, so that git commands of theirs find the scratch tree by itself and
 * never the user's repository.
 *
 * A hook that fails blocks, and so does one that commits. What one makes of the files is judged at once, what they make of the message when all
 * were asked: git hands it on from one to the next. Where one fails after it wrote files, as a hook does that wants a person to look, it is
 * asked once more on them. Leaves the tree at the commit.
 */
export async function runTeamHooks(
  hooks: readonly TeamHook[],
  context: TeamHookContext,
): Promise<readonly CheckRun[]> {
  const runs: CheckRun[] = []
  let { message } = context
  let reworder: number | null = null
  for (const hook of hooks) {
    const asked = await askHook(hook, { ...context, message })
    // As git does: the next is not asked when one says no.
    if (asked.run.result.outcome !== 'passed') return [...runs, asked.run]
    if (asked.message !== message) reworder = runs.length
    message = asked.message
    runs.push(asked.run)
  }
  const last = reworder === null || context.isReworded ? undefined : runs[reworder]
  if (last === undefined || reworder === null || message === context.message) return runs
  const rewriting: Rewriting = { tree: null, paths: [], brought: context.brought, message }
  return [...runs.slice(0, reworder), await judgeRewriting(last, rewriting, context)]
}

/** What a hook came to, and the message as it left it. */
interface Asked {
  readonly run: CheckRun
  readonly message: string
}

async function askHook(hook: TeamHook, context: TeamHookContext): Promise<Asked> {
  const { judge, seal } = context
  const { run, left, message } = await runBeforeCommit(hook, context, { head: context.parent })
  if (left.kind === 'as-it-was') return { run, message }
  if (left.kind === 'spoilt') return { run: asSpoilt(run, hook.name, left.why), message }
  const { outcome, exitCode } = run.result
  if (outcome === 'passed')
    return { run: await judgeRewriting(run, left.rewriting, { seal, judge }), message }
  if (outcome === 'failed' && exitCode !== 0)
    return { run: await askAgain(hook, run, left.rewriting, context), message }
  await putTreeBack(seal)
  return { run, message }
}

/** What a person does when a hook has mended the files and failed: adds that, and commits again. */
async function askAgain(
  hook: TeamHook,
  first: CheckRun,
  { tree }: Rewriting,
  context: TeamHookContext,
): Promise<CheckRun> {
  const { judge, seal } = context
  const { door } = seal.tree
  const index = join(door.gitDir, 'index.asked')
  if (tree !== null) await stagedIndex(door, viewIndex(seal.tree), index, tree)
  const shown = { head: context.parent, ...(tree === null ? {} : { index }) }
  const { run, left } = await runBeforeCommit(hook, context, shown)
  await removeTree(index)
  const output = Buffer.concat([first.output, Buffer.from('\nasked again, on what it wrote:\n'), run.output])
  if (left.kind === 'spoilt') return asSpoilt({ ...first, output }, hook.name, left.why)
  if (run.result.outcome === 'passed' && left.kind === 'rewritten')
    return judgeRewriting({ ...run, output }, left.rewriting, { seal, judge })
  await putTreeBack(seal)
  return { ...first, output }
}

/** Runs a hook while HEAD shows the parent, and looks at what it has made of files and message. */
async function runBeforeCommit(
  hook: TeamHook,
  context: TeamHookContext,
  shown: Shown,
): Promise<{ readonly run: CheckRun; readonly left: Aftermath; readonly message: string }> {
  const { brought, seal, tree } = context
  await showRepository(seal, shown)
  const messageFile = join((await ownRepositoryOf(tree)).gitDir, 'COMMIT_EDITMSG')
  const isAsked = hook.name !== 'pre-commit'
  if (isAsked) await writeOwnFile(messageFile, context.message, `message-${randomName()}`)
  const run = await runHook(hook, context, argumentsOf(hook, messageFile))
  const left = await findRewriting(seal, brought, shown)
  const message = isAsked ? textOf(readIfFile(messageFile)) : context.message
  if (message !== null) return { run, left, message }
  if (left.kind === 'rewritten') await putTreeBack(seal)
  // Its bytes are the team's, and as text they would be others.
  const refused = asSpoilt(run, hook.name, 'left a message that is not UTF-8')
  return {
    run: refused,
    left: left.kind === 'spoilt' ? left : { kind: 'as-it-was' },
    message: context.message,
  }
}

/** null = it is no text. */
function textOf(bytes: Buffer | null): string | null {
  const text = bytes?.toString('utf8') ?? ''
  return bytes === null || Buffer.from(text).equals(bytes) ? text : null
}

/** As git gives them for `git commit -m`. */
function argumentsOf({ name }: TeamHook, messageFile: string): readonly string[] {
  if (name === 'pre-commit') return []
  return name === 'commit-msg' ? [messageFile] : [messageFile, 'message']
}

/** What a hook is called among the checks. */
export const hookCheckName = (hook: TeamHook): string => `hooks/${hook.name}`

const runHook = (hook: TeamHook, context: TeamHookContext, args: readonly string[]): Promise<CheckRun> =>
  runProgram(
    {
      name: hookCheckName(hook),
      required: true,
      file: hook.path,
      args,
      timeoutMs: limits.checkDefaultTimeoutMs,
      worker: `hook:${hook.name}`,
      env: { GIT_EDITOR: ':' }, // as git sets it: a hook cannot ask
    },
    context,
  )
