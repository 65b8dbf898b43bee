import { notAddedBy } from '../git/check-ignore.ts'
import type { Manifest } from '../model/manifest.ts'
import type { World } from './world.ts'

/**
 * New files of a change that `git add` would leave out: secrets and leavings, which no rule can have meant to approve. Judged by the
 * ignore rules of the work tree as it is, and of each other tree given: a change may be for another branch.
 */
export async function ignoredAdditions(
  { repository }: Pick<World, 'repository'>,
  manifest: Manifest,
  trees: readonly string[] = [],
): Promise<readonly string[]> {
  const added = manifest.flatMap((t) => (t.oldMode === '000000' ? [t.path] : []))
  const roots = repository.workTree === null ? trees : [repository.workTree, ...trees]
  const found = await Promise.all(roots.map((root) => notAddedBy(repository.door, root, added)))
  return added.filter((path) => found.some((ignored) => ignored.has(path)))
}
