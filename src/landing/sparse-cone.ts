import type { IndexView } from '../git/index-file.ts'
import { outsideSparseCheckout } from '../git/sparse-rules.ts'
import type { RepositoryFacts } from './repository-facts.ts'
import type { LandRequest } from './request.ts'

/**
 * The paths of the manifest that the sparse checkout leaves out: entries that are marked so, and new paths by
 * the rules. None where the checkout is whole.
 */
export async function outsideCone(
  { manifest, repository }: LandRequest,
  facts: RepositoryFacts,
  view: IndexView,
  scratch: string,
): Promise<ReadonlySet<string>> {
  if (!facts.isSparse) return new Set()
  const marked = manifest
    .filter(({ path }) => view.entries.get(path)?.skipWorktree === true)
    .map((t) => t.path)
  const added = manifest.filter(({ path }) => !view.entries.has(path)).map((t) => t.path)
  const left = await outsideSparseCheckout(repository.door, facts.config, added, scratch)
  return new Set([...marked, ...left])
}
