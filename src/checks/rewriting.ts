import { join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import { changedFiles, checkOutScratch } from '../git/scratch-tree.ts'
import { snapshotTree } from '../git/snapshot-tree.ts'
import type { CommitId } from '../model/ids.ts'
import { removeTree } from '../sys/trees.ts'
import type { CheckRun, Rewriting } from './run-command.ts'

/** Decides whether what a check made of the files may become a revision: null = it may; otherwise why not. */
export type JudgeRewriting = (check: string, rewriting: Rewriting) => Promise<string | null>

/**
 * Looks at what a command has left in a scratch tree: null = every tracked file, and the index, is as the commit has it. Files that
 * git does not know are nobody's work. Otherwise leaves the objects of what stands there in the store; the tree stays as it is.
 */
export async function findRewriting(tree: GitDoor, brought: readonly string[]): Promise<Rewriting | null> {
  const paths = await changedFiles(tree)
  if (paths.length === 0) return null
  const indexFile = join(tree.gitDir, 'index.rewritten')
  await removeTree(indexFile)
  const written = await snapshotTree(tree, join(tree.gitDir, 'index'), indexFile, [])
  await removeTree(indexFile)
  return { tree: written, paths, brought, message: null }
}

/**
 * What a run comes to that has rewritten files or message. It looked at bytes that are not those of the commit, so it has not passed there; where
 * the rewriting is taken, the run carries it. Puts the tree back to the commit.
 */
export async function judgeRewriting(
  run: CheckRun,
  rewriting: Rewriting,
  place: { readonly door: GitDoor; readonly commit: CommitId; readonly judge: JudgeRewriting },
): Promise<CheckRun> {
  const { name } = run.result
  await checkOutScratch(place.door, place.commit)
  const words = rewriting.message === null ? [] : ['the message']
  const shown = [...words, ...rewriting.paths.slice(0, 5)].join(', ')
  const why = await place.judge(name, rewriting)
  if (why !== null) return asFailed(run, `${name} rewrote ${shown}: ${why}`)
  return { ...asFailed(run, `${name} rewrote ${shown}`), rewriting }
}

/** The run, as one that did not pass for a reason that its own output does not give. */
export const asFailed = ({ result, output }: CheckRun, summary: string): CheckRun => ({
  result: { ...result, outcome: 'failed', summary },
  output: Buffer.concat([output, Buffer.from(`\n${summary}\n`)]),
})
