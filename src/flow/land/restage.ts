import { parseCommit } from '../../git/commit.ts'
import { diffTrees } from '../../git/diff-tree.ts'
import { emptyTree } from '../../git/fast-import.ts'
import { mergeTrees } from '../../git/merge-trees.ts'
import { refuse } from '../../model/error.ts'
import type { CommitId } from '../../model/ids.ts'
import type { LoggedChange } from '../../store/change-log.ts'
import type { Store } from '../../store/open-store.ts'
import { checkRevision, currentRevision } from '../check.ts'
import { countFiles } from '../count-files.ts'
import { drawConflicts, samePath } from '../draw-conflicts.ts'
import { type PolicyInForce, withBasePolicy } from '../read-policy.ts'
import { stageRevision } from '../stage.ts'
import type { World } from '../world.ts'

/**
 * The branch has moved in files that the change touches: git merges; a clean result is a new revision that needs its own
 * approval.
 *
 * @throws GalleyError `conflict`, naming the paths; `not-approved`, with the new revision's number, when the merge is clean.
 */
export async function restageByMerge(
  world: World,
  store: Store,
  logged: LoggedChange,
  request: {
    /** The tip's policy. */
    readonly inForce: PolicyInForce
    readonly tip: CommitId | null
    readonly moved: readonly string[]
  },
): Promise<never> {
  const { inForce, tip, moved } = request
  const reader = await world.reader()
  const { change } = logged
  const revision = currentRevision(logged)
  const treeOf = async (commit: CommitId | null) => (commit === null ? null : reader.commitTree(commit))
  const ours = await treeOf(tip)
  const merge = await mergeTrees(store.door, {
    base: await treeOf(revision.base),
    ours,
    theirs: revision.tree,
  })
  if (merge.kind === 'conflict') {
    const trees = { base: await treeOf(revision.base), ours, theirs: revision.tree }
    const drawn = await drawConflicts(reader, merge.paths.map(samePath), trees)
    refuse('conflict', `${change.id} conflicts with newer commits in ${merge.paths.join(', ')}`, {
      id: change.id,
      paths: merge.paths,
      messages: merge.messages,
      base: revision.base,
      tip,
      drawn,
    })
  }
  const manifest = await diffTrees(store.door, ours ?? emptyTree(store.door.objectFormat), merge.tree)
  if (manifest.length === 0)
    refuse(
      'no-change',
      `${change.id} is in ${change.onto} already`,
      { id: change.id, tip },
      'Nothing is left to land. Leave it as it is: a rejection would take its approval from the commit that brought it.',
    )
  const { author } = await parseCommit(reader, revision.commit)
  const staged = await stageRevision(
    world,
    store,
    logged,
    {
      base: tip,
      content: { kind: 'tree', tree: merge.tree, manifest },
      files: await countFiles(reader, manifest, revision.files),
      // No check has rewritten what the merge made.
      remarks: revision.remarks.filter((remark) => remark.kind !== 'rewritten'),
      reads: revision.reads,
      author,
      committer: await world.identity(),
    },
    `merged with ${tip ?? 'nothing'}`,
  )
  await checkRevision(world, store, staged, await withBasePolicy(world, inForce, revision.base))
  const number = currentRevision(staged).number
  refuse(
    'not-approved',
    `${change.onto} has moved in ${moved.join(', ')}; the merge is clean and staged as revision ${number}, which nobody has approved`,
    { id: change.id, revision: number, movedPaths: moved },
    `See the difference with \`galley diff ${change.id}\`, then approve and land again.`,
  )
}
