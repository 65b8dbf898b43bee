import type { IndexView } from '../git/index-file.ts'
import type { RepositoryFacts } from './repository-facts.ts'
import type { LandRequest } from './request.ts'

/** The paths of the manifest that the sparse checkout leaves out. None where the checkout is whole. */
export async function outsideCone(
  request: LandRequest,
  facts: RepositoryFacts,
  view: IndexView,
  _scratch: string,
): Promise<ReadonlySet<string>> {
  const outside = new Set<string>()
  if (!facts.isSparse) return outside
  for (const { path } of request.manifest) {
    if (view.entries.get(path)?.skipWorktree === true) outside.add(path)
  }
  return outside
}
