import { join } from 'node:path'
import { readStaged } from '../git/diff-index.ts'
import { changedFiles, checkOutScratch } from '../git/scratch-tree.ts'
import { snapshotTree } from '../git/snapshot-tree.ts'
import type { CommitId } from '../model/ids.ts'
import { viewIndex } from '../store/scratch.ts'
import { type Left, lookAtShown, type Shown, type TreeSeal } from '../store/tree-seal.ts'
import { removeTree } from '../sys/trees.ts'
import type { CheckRun, Rewriting } from './run-command.ts'

/** Decides whether what a check made of the files may become a revision: null = it may; otherwise why not. */
export type JudgeRewriting = (check: string, rewriting: Rewriting) => Promise<string | null>

/** What a command has left in a scratch tree. */
export type Aftermath =
  /** Every tracked file, and the index, is as the commit has it. Files that git does not know are nobody's work. */
  | { readonly kind: 'as-it-was' }
  | { readonly kind: 'rewritten'; readonly rewriting: Rewriting }
  /** It did what no command may do there; the tree stands at the commit again, or is `gone`. */
  | { readonly kind: 'spoilt'; readonly why: string; readonly isGone: boolean }

/**
 * Looks at what a command has left in a scratch tree, by galley's own index of the commit, not by the one that the command may have written.
 * Leaves the files as they stand, and the objects of a rewriting in the store.
 *
 * @param shown - What the command was shown: HEAD was to stay there.
 */
export async function findRewriting(
  seal: TreeSeal,
  brought: readonly string[],
  shown: Shown,
): Promise<Aftermath> {
  const otherIndex = join(seal.tree.door.gitDir, 'index.other')
  const left = await lookAtShown(seal, shown.index ?? viewIndex(seal.tree), otherIndex)
  if (left.kind === 'gone') return { kind: 'spoilt', why: 'took its own tree away', isGone: true }
  const found = await lookAtFiles(seal, brought, left, otherIndex)
  await removeTree(otherIndex)
  const why = typeof found === 'string' ? found : whyMoved(left, shown.head)
  if (typeof found !== 'string' && why === null) return found
  await putTreeBack(seal)
  return { kind: 'spoilt', why: why ?? '', isGone: false }
}

/** A text = why what the command left says nothing. */
async function lookAtFiles(
  { tree, commit }: TreeSeal,
  brought: readonly string[],
  left: Exclude<Left, { readonly kind: 'gone' }>,
  otherIndex: string,
): Promise<Exclude<Aftermath, { readonly kind: 'spoilt' }> | string> {
  const { door } = tree
  if (left.kind === 'torn') return `took ${left.what} away, or broke it`
  const staged = left.index === 'other' ? await readStaged(door, otherIndex, commit) : []
  if (staged === null) return 'broke its index'
  const paths = [...new Set([...(await changedFiles(door)), ...staged.map((d) => d.shown)])]
  if (paths.length === 0) return { kind: 'as-it-was' }
  const added = staged.filter((d) => d.oldMode === '000000')
  const removed = staged.filter((d) => d.newMode === '000000' && !d.isUnmerged)
  const odd = [...added, ...removed].find((d) => d.path === null)
  if (odd !== undefined) return `staged ${odd.shown}, a name that is not UTF-8`
  const namesOf = (differences: typeof staged) => differences.map((d) => d.shown)
  const passing = join(door.gitDir, 'index.rewritten')
  await removeTree(passing)
  const about = { added: namesOf(added), removed: namesOf(removed) }
  const snapshot = await snapshotTree(door, viewIndex(tree), passing, about)
  await removeTree(passing)
  return { kind: 'rewritten', rewriting: { tree: snapshot, paths, brought, message: null } }
}

/** A branch of a command's own at the very commit is no other place. */
const whyMoved = (left: Left, head: CommitId): string | null =>
  left.kind === 'standing' && left.head !== head ? MOVED : null

const MOVED = 'moved HEAD'

/** Puts the files of a tree back to its commit. */
export async function putTreeBack({ tree, commit }: TreeSeal): Promise<void> {
  if ((await changedFiles(tree.door)).length > 0) await checkOutScratch(tree.door, commit)
}

/**
 * What a run comes to that has rewritten files or message. It looked at bytes that are not those of the commit, so it has not passed there; where
 * the rewriting is taken, the run carries it. Puts the tree back to the commit.
 */
export async function judgeRewriting(
  run: CheckRun,
  rewriting: Rewriting,
  place: { readonly seal: TreeSeal; readonly judge: JudgeRewriting },
): Promise<CheckRun> {
  const { name } = run.result
  await putTreeBack(place.seal)
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

/** The run of a command that did what none may do there: it has failed, whatever it came to. */
export function asSpoilt(run: CheckRun, who: string, why: string): CheckRun {
  const kind = run.result.name === who ? 'check' : 'hook'
  return asFailed(run, `${who} ${why}${why === MOVED ? `; a ${kind} may not commit` : ''}`)
}
