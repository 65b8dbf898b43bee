import { join } from 'node:path'
import { diffTrees, isUncertainName } from '../../git/diff-tree.ts'
import { emptyTree, type FileChange } from '../../git/fast-import.ts'
import { mergeTrees } from '../../git/merge-trees.ts'
import { uncommittedPaths } from '../../git/uncommitted.ts'
import { refuse } from '../../model/error.ts'
import type { TreeId } from '../../model/ids.ts'
import { quote } from '../../policy/quote.ts'
import type { FileKey } from '../../store/landing-journal.ts'
import type { Store } from '../../store/open-store.ts'
import { standsAt } from '../../sys/plain-file.ts'
import { copyIntoTree, removeAllInTree } from '../../sys/tree-files.ts'
import { furtherChanged } from '../collect/changed-tree.ts'
import type { World } from '../world.ts'
import type { RunStep } from './run-stage.ts'

/** As many as say what it is about. */
const SHOWN = 3

/** What of the user's work a run does not see, as a sentence; none = it sees all of it. */
export async function unseenWork({ repository }: World): Promise<readonly string[]> {
  if (repository.workTree === null) return []
  const paths = await uncommittedPaths(repository.door, false)
  if (paths.length === 0) return []
  const named = paths.slice(0, SHOWN).map(quote).join(', ')
  const more = paths.length > SHOWN ? `, and ${paths.length - SHOWN} more` : ''
  return [
    `the command does not see what is uncommitted: ${named}${more}; \`--with-uncommitted\` brings it along`,
  ]
}

/**
 * Puts the user's uncommitted work into a run's tree, file by file as it stands: what is not there is taken away.
 *
 * @returns What could not be brought, each as a sentence.
 */
export async function bringUncommitted(
  { repository }: World,
  tree: string,
  fileMaxBytes: number,
): Promise<readonly string[]> {
  const root = repository.workTree
  if (root === null) return []
  const remarks: string[] = []
  for (const path of await uncommittedPaths(repository.door, true)) {
    const why = isUncertainName(path)
      ? 'its name is not UTF-8'
      : path.endsWith('/')
        ? 'it is a repository of its own'
        : await bringOne(root, tree, path, fileMaxBytes)
    if (why !== null) remarks.push(`${quote(path)}, which is uncommitted, was not brought: ${why}`)
  }
  return remarks
}

async function bringOne(root: string, tree: string, path: string, maxBytes: number): Promise<string | null> {
  const found = standsAt(join(root, path))
  if (found !== 'file' && found !== 'absent') return 'it is no regular file'
  await removeAllInTree(tree, path)
  if (found === 'absent') return null
  const outcome = copyIntoTree(root, tree, path, maxBytes)
  if (outcome.kind === 'copied' || outcome.kind === 'missing') return null
  return outcome.kind === 'too-large' ? 'it is too large' : 'something stands in its place'
}

/**
 * What a run did, without the user's work that it was given: each step's tree merged onto the commit that the tree stood at, with the work
 * as what both began with. A file that the user has not committed at all, and that the command changed, is in the step as a whole: there is
 * nothing that it could be told apart from.
 *
 * @throws GalleyError `overlaps-uncommitted`, where the two cannot be told apart.
 */
export async function withoutGiven(
  store: Store,
  given: { readonly base: TreeId | null; readonly tree: TreeId },
  steps: readonly RunStep[],
): Promise<readonly RunStep[]> {
  const own: RunStep[] = []
  for (const step of steps) {
    const mergeFrom = (tree: TreeId) =>
      mergeTrees(store.door, { base: tree, ours: given.base, theirs: step.tree })
    let merge = await mergeFrom(given.tree)
    const taken = merge.kind === 'clean' ? new Map() : await takenAlong(store, given, merge.paths)
    if (taken.size > 0) {
      const gone = [...taken.keys()].map((path): FileChange => ({ kind: 'delete', path }))
      merge = await mergeFrom(await furtherChanged(store, given.tree, gone))
    }
    if (merge.kind === 'conflict') {
      const paths = merge.paths.map(quote).join(', ')
      const message = `the command changed lines of ${paths} that are uncommitted work of yours, and a change cannot hold the one without the other`
      refuse(
        'overlaps-uncommitted',
        message,
        { paths: merge.paths },
        'Commit that work first, or take what you need from where the work of the run is kept.',
      )
    }
    own.push({ ...step, tree: merge.tree, taken })
  }
  return own
}

/** Those of some paths that the user has and the base has not, as the command was given them. */
async function takenAlong(
  { door }: Store,
  { base, tree }: { readonly base: TreeId | null; readonly tree: TreeId },
  paths: readonly string[],
): Promise<ReadonlyMap<string, FileKey>> {
  const manifest = await diffTrees(door, base ?? emptyTree(door.objectFormat), tree)
  const isOneOf = new Set(paths)
  return new Map(
    manifest
      .filter(
        ({ path, oldMode, newMode }) => isOneOf.has(path) && oldMode === '000000' && newMode !== '160000',
      )
      .map(({ path, newMode, newBlob }) => [path, { mode: newMode, id: newBlob }]),
  )
}
