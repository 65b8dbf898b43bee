import { join } from 'node:path'
import type { FileChange } from '../../git/fast-import.ts'
import { isSoundIndex } from '../../git/index-file.ts'
import { type StatEntry, statEntries } from '../../git/index-stats.ts'
import { listTree } from '../../git/list-tree.ts'
import { missingFrom } from '../../git/quarantine.ts'
import type { CommitId, TreeId } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'
import { readQuickly } from '../../sys/quick-files.ts'
import type { BytePath } from '../../sys/walk-tree.ts'
import { furtherChanged } from './changed-tree.ts'

/** The files of a tree, of which a sparse checkout leaves some out of sight. */
export interface PartlySeen {
  readonly tree: TreeId
  /** Paths of the base that were not handed out, and that do not stand there now. */
  readonly unseen: readonly BytePath[]
}

/**
 * What becomes of files that a sparse checkout left out: whoever works in the tree merges, picks and removes them without their standing there, so
 * that only the index there tells of it. Where there is none to be read, they stay as the base has them.
 *
 * @param gitDir - The tree's own; its objects have been taken over.
 */
export async function settleUnseen(
  store: Store,
  { tree, unseen }: PartlySeen,
  { base, gitDir }: { readonly base: CommitId; readonly gitDir: string },
): Promise<TreeId> {
  const entries = unseen.length === 0 ? null : entriesIn(gitDir, store)
  if (entries === null) return tree
  const before = await listTree(store.door, base)
  const moved = unseen.flatMap((path) => {
    const to = whereTo(entries.get(path))
    const from = before.get(path)
    return to !== null && to.id === from?.id && to.mode === from.mode ? [] : [{ path, to }]
  })
  const named = moved.flatMap(({ to }) => (to === null || to.mode === '160000' ? [] : [to.id]))
  const missing = await missingFrom(store.door, named)
  const changes = moved
    .filter(({ to }) => to === null || !missing.has(to.id))
    .map(({ path, to }): FileChange => ({ kind: 'entry', path: Buffer.from(path, 'latin1'), to }))
  return changes.length === 0 ? tree : furtherChanged(store, tree, changes)
}

/** Null where the index says nothing: it is gone or broken, or whole directories are one entry of it. */
function entriesIn(gitDir: string, { door }: Store): ReadonlyMap<string, StatEntry> | null {
  const bytes = readQuickly(join(gitDir, 'index'))
  if (bytes === null || !isSoundIndex(bytes, door.objectFormat)) return null
  const entries = statEntries(bytes, door.objectFormat)
  if (entries.size === 0) return null
  return [...entries.values()].some(({ mode }) => mode === '040000') ? null : entries
}

/** Null = nothing. What git would look for in the tree, and does not find, is gone. */
const whereTo = (entry: StatEntry | undefined): Pick<StatEntry, 'id' | 'mode'> | null =>
  entry?.skipWorktree === true ? { id: entry.id, mode: entry.mode } : null
