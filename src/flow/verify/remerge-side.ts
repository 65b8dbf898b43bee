import { stepBetween } from '../../git/commit-log.ts'
import { emptyTree } from '../../git/fast-import.ts'
import { mergeTrees } from '../../git/merge-trees.ts'
import { GalleyError } from '../../model/error.ts'
import type { TreeId } from '../../model/ids.ts'
import type { Manifest } from '../../model/manifest.ts'
import type { Covering } from './covering.ts'
import type { Place } from './verifier.ts'

/** Changes that are merged anew for one merge commit: beyond that those of its side count only where their bytes are as approved. */
const MERGES_MAX = 500

export interface RemergeRequest {
  /** Where to merge: see `makeMergePlace`. */
  readonly place: Place
  /** In the order of the side. */
  readonly order: readonly Covering[]
  /** null = nothing. */
  readonly onto: TreeId | null
  /** Whether a change counts as what a merge made of it. */
  readonly counted: (covering: Covering, made: Manifest) => Promise<boolean>
}

export interface Remade {
  readonly tree: TreeId
  readonly used: readonly { readonly covering: Covering; readonly made: Manifest }[]
}

/**
 * Merges approved changes one after another into a tree, each between its own base and its own tree, as git merges. One that conflicts,
 * changes nothing, or does not count as what it came to is left out.
 *
 * Leaves objects in `place`. Costs four processes a change.
 */
export async function remergeInOrder(request: RemergeRequest): Promise<Remade> {
  const { place, order, onto, counted } = request
  let tree = onto ?? emptyTree(place.door.objectFormat)
  const used: Remade['used'][number][] = []
  for (const covering of order.slice(0, MERGES_MAX)) {
    const next = await mergeOne(place, covering, tree)
    if (next === null || next === tree) continue
    const made = await stepBetween(place.door, tree, next)
    if (!(await counted(covering, made))) continue
    used.push({ covering, made })
    tree = next
  }
  return { tree, used }
}

async function mergeOne(
  place: Place,
  { base, tree: theirs }: Covering,
  ours: TreeId,
): Promise<TreeId | null> {
  try {
    const from = base === null ? null : await place.reader.commitTree(base)
    const merged = await mergeTrees(place.door, {
      base: from,
      ours,
      theirs,
      ...(base === null ? {} : { baseCommit: base }),
    })
    return merged.kind === 'clean' ? merged.tree : null
  } catch (error) {
    // Its base may be gone: then it cannot be made anew, and only its very bytes count.
    if (error instanceof GalleyError) return null
    throw error
  }
}
