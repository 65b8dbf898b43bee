import { type ObjectFormat, zeroId } from '../model/ids.ts'
import { type GitDoor, git } from './door.ts'
import type { IndexForm } from './index-file.ts'

/** What one entry of the index is to become. */
export type IndexChange =
  | { readonly kind: 'set'; readonly path: string; readonly mode: string; readonly id: string }
  | { readonly kind: 'remove'; readonly path: string }

/**
 * A sparse index that is changed while it is folded up comes out of git 2.39 with entries twice: it is
 * unfolded first.
 */
const UNFOLDED = ['-c', 'index.sparse=false']

/**
 * An index is split afterwards if it was before, whatever the configuration asks for, and goes on with the part that is shared: git
 * writes a new one beside the user's index at once, where a landing that is refused would leave it.
 */
const splitAsBefore = (form: IndexForm): readonly string[] =>
  form === 'split' ? ['-c', 'splitIndex.maxPercentChange=100'] : ['-c', 'core.splitIndex=false']

/**
 * Changes entries in an index file of galley's own. One process; reads and writes the whole index once, and
 * nothing else: no file of the work tree is looked at, the objects need not exist yet. A sparse index takes
 * two processes more and is sparse again afterwards.
 *
 * @param indexFile - Becomes a new file; a hard link to the user's index is a good start, since git replaces
 * it as a whole.
 * @param form - Of the index as it is now.
 * @param skipWorktree - Paths whose entries are to be marked as not checked out.
 */
export async function updateIndexFile(
  door: GitDoor,
  indexFile: string,
  form: IndexForm,
  changes: readonly IndexChange[],
  skipWorktree: readonly string[],
): Promise<void> {
  const env = { GIT_INDEX_FILE: indexFile }
  const kept = splitAsBefore(form)
  const config = form === 'sparse' ? [...kept, ...UNFOLDED] : kept
  const rewrite = ['update-index', '--force-write-index']
  if (form === 'sparse') await git(door, { args: [...config, ...rewrite], env })
  await git(door, {
    args: [...config, 'update-index', '-z', '--index-info'],
    input: indexInfo(changes, door.objectFormat),
    env,
  })
  if (skipWorktree.length > 0) {
    const args = [...config, 'update-index', '-z', '--skip-worktree', '--stdin']
    await git(door, { args, input: skipWorktree.map((path) => `${path}\0`).join(''), env })
  }
  if (form === 'sparse') await git(door, { args: [...kept, ...rewrite], env })
}

function indexInfo(changes: readonly IndexChange[], format: ObjectFormat): string {
  // Removals first: a file may make room for a directory of its name.
  const ordered = [...changes.filter((c) => c.kind === 'remove'), ...changes.filter((c) => c.kind === 'set')]
  return ordered
    .map((c) => (c.kind === 'remove' ? `0 ${zeroId(format)}\t${c.path}\0` : `${c.mode} ${c.id}\t${c.path}\0`))
    .join('')
}

/** Unfolds a split or sparse index of galley's own into one file with every entry, for reading. */
export async function unfoldIndexFile(door: GitDoor, indexFile: string): Promise<void> {
  await git(door, {
    args: [...UNFOLDED, 'update-index', '--no-split-index', '--force-write-index'],
    env: { GIT_INDEX_FILE: indexFile },
  })
}

/**
 * Brings file times and sizes up to date, by git, taking git's own lock: reads every file that looks changed.
 */
export async function refreshIndex(door: GitDoor): Promise<void> {
  // Exit code 1: some file differs from its entry, which is the user's business. 128: somebody else has the
  // lock.
  await git(door, { args: ['update-index', '-q', '--refresh'], okCodes: [0, 1, 128] })
}
