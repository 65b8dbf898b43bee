import { type HeldObject, parentsOf, type Quarantine, reachableFrom } from '../../git/quarantine.ts'

/** What of some new objects can be kept by refs: all that each of them leads to is there. */
export interface Keepable {
  /** New commits that no other of them builds on. */
  readonly tips: readonly string[]
  /** Trees, blobs and tags that no commit leads to: what was staged and never committed, say. */
  readonly loose: readonly HeldObject[]
  /** Everything that is kept so. */
  readonly all: ReadonlySet<string>
  /** Objects that lead to something missing. */
  readonly torn: readonly string[]
}

/** Torn objects that are looked at one by one; there is no honest history with more. */
const SINGLY_MAX = 500

/**
 * Finds the ends of what somebody's git has left. Goes by the objects alone: it does not matter which of them a ref, a log or nothing led to.
 *
 * @param known - Commits whose history is the user's.
 */
export async function findKeepable(
  quarantine: Quarantine,
  objects: readonly HeldObject[],
  known: readonly string[],
): Promise<Keepable> {
  const isKnown = new Set(known)
  const commits = objects.filter(({ id, type }) => type === 'commit' && !isKnown.has(id)).map(({ id }) => id)
  const parents = await parentsOf(quarantine, commits)
  const search = new Search(quarantine, known)
  const tips = await search.whole(endsOf(commits, parents), (id) =>
    (parents.get(id) ?? []).filter((parent) => parents.has(parent)),
  )
  const others = objects.filter(({ id, type }) => type !== 'commit' && !search.all.has(id))
  const roots = new Set(
    await search.whole(
      others.map(({ id }) => id),
      () => [],
    ),
  )
  return { tips, loose: others.filter(({ id }) => roots.has(id)), all: search.all, torn: search.torn }
}

/** The commits that are no parent of another. */
function endsOf(
  commits: readonly string[],
  parents: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const inner = new Set([...parents.values()].flat())
  return commits.filter((id) => !inner.has(id))
}

class Search {
  readonly all = new Set<string>()
  readonly torn: string[] = []
  private readonly quarantine: Quarantine
  private readonly known: readonly string[]

  constructor(quarantine: Quarantine, known: readonly string[]) {
    this.quarantine = quarantine
    this.known = known
  }

  /** Those of which nothing is missing; where something is, what `behind` gives is looked at in their place. */
  async whole(
    roots: readonly string[],
    behind: (id: string) => readonly string[],
  ): Promise<readonly string[]> {
    if (await this.holds(roots)) return roots
    const found: string[] = []
    const waiting = [...roots]
    for (let i = 0; i < waiting.length && i < SINGLY_MAX; i++) {
      const id = waiting[i] ?? ''
      if (this.all.has(id)) continue
      if (await this.holds([id])) found.push(id)
      else {
        this.torn.push(id)
        waiting.push(...behind(id).filter((other) => !waiting.includes(other)))
      }
    }
    this.torn.push(...waiting.slice(SINGLY_MAX))
    return found
  }

  private async holds(roots: readonly string[]): Promise<boolean> {
    const reached = await reachableFrom(this.quarantine, roots, this.known)
    for (const id of reached ?? []) this.all.add(id)
    return reached !== null
  }
}
