import { join } from 'node:path'
import { emptyTree } from '../../git/fast-import.ts'
import {
  gatherCommits,
  type HeldObject,
  missingFrom,
  type Quarantine,
  reachableFrom,
  treeOfObjects,
} from '../../git/quarantine.ts'
import { type CommitId, commitId, type TreeId } from '../../model/ids.ts'
import type { Person } from '../../model/person.ts'
import type { Store } from '../../store/open-store.ts'
import { readOwnHead } from '../../store/own-refs.ts'
import type { OwnRepository } from '../../store/own-repository.ts'
import { objectFilesIn } from '../../sys/object-files.ts'
import { placeObjects } from '../../sys/place-objects.ts'
import { type NamedObject, namedObjects } from './git-names.ts'
import { findKeepable, type Keepable } from './keepable.ts'
import { oddities } from './oddities.ts'
import { type ObjectStores, withObjectsTaken } from './take-objects.ts'

/** What the git directory of a tree holds beyond what it was given. */
export interface CollectedGit {
  /** What HEAD comes to; null = nothing that can be read whole. */
  readonly head: CommitId | null
  /** Names for refs of what was left, and what each leads to. HEAD's is `head`. */
  readonly kept: readonly { readonly name: string; readonly id: string }[]
  /** Why the directory itself is to be kept, each as a sentence; empty = everything of worth in it is in `kept`. */
  readonly faults: readonly string[]
}

/** A commit of more parents would be hard to read for any tool. */
const PARENTS_MAX = 500

/**
 * Takes over what somebody's git has left in a tree: commits of whatever refs, logs, stashes and unfinished operations, and staged contents. Reads
 * the directory as files; no git runs in it, and nothing that it says of itself is believed.
 *
 * Leaves objects in the store and no ref.
 *
 * @param files - All files of the work, which are kept whatever becomes of it: what they hold needs no name of its own.
 */
export async function collectGit(
  stores: ObjectStores,
  own: OwnRepository,
  { who, files }: { readonly who: Person; readonly files: TreeId },
): Promise<CollectedGit> {
  const { store } = stores
  const head = readOwnHead(own.gitDir)
  if (head === null) return { head: null, kept: [], faults: ['its .git is no directory any more'] }
  if (holdsNone(own)) {
    const sound =
      head.commit === own.handedOut?.commit ? head.commit : await soundHead(store, head.commit, [])
    return { head: sound, kept: [], faults: oddities(own, head) }
  }
  return withObjectsTaken(stores, join(own.gitDir, 'objects'), async (taken) => {
    const known = await knownCommits(store, own)
    const found = await findKeepable(taken.quarantine, taken.objects, known)
    const held = found.loose.length === 0 ? null : await reachableFrom(taken.quarantine, [files], known)
    const keepable = { ...found, loose: found.loose.filter(({ id }) => held?.has(id) !== true) }
    const isNew = new Set(taken.objects.map(({ id }) => id))
    const named = namedObjects(own.gitDir).filter(({ id }) => keepable.all.has(id) && isNew.has(id))
    const kept = withFreeNames(named)
    const rest = await gatherRest(taken.quarantine, keepable, named, who)
    if (taken.objects.length > 0) placeObjects(taken.quarantine.directory, join(store.door.gitDir, 'objects'))
    const torn = keepable.torn.map((id) => `a part of ${id} is missing`).slice(0, 3)
    return {
      head: await soundHead(store, head.commit, keepable.torn),
      kept: [...kept, ...rest],
      faults: [...taken.faults, ...torn, ...oddities(own, head)],
    }
  })
}

/** Nobody wrote an object there: what was looked at only leaves none. */
function holdsNone({ gitDir }: OwnRepository): boolean {
  const { loose, packs, others } = objectFilesIn(join(gitDir, 'objects'))
  return loose.length + packs.length + others.length === 0
}

/** What the tree was given, as far as it is there still. */
async function knownCommits(store: Store, { handedOut }: OwnRepository): Promise<readonly string[]> {
  const given = new Set([
    ...(handedOut?.commit ? [handedOut.commit] : []),
    ...Object.values(handedOut?.refs ?? {}),
  ])
  const missing = await missingFrom(store.door, [...given])
  return [...given].filter((id) => !missing.has(id))
}

/** A commit that cannot be read whole would stop whoever builds on it. */
async function soundHead(
  store: Store,
  head: CommitId | null,
  torn: readonly string[],
): Promise<CommitId | null> {
  if (head === null || torn.includes(head)) return null
  return (await missingFrom(store.door, [head])).size === 0 ? head : null
}

/** Two names may become one as parts of a ref, and `a` leaves no room for `a/b`. */
function withFreeNames(named: readonly NamedObject[]): readonly NamedObject[] {
  const taken = new Set<string>()
  const isFree = (name: string) => {
    const above = name.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'))
    return !above.some((part) => taken.has(part)) && ![...taken].some((other) => other.startsWith(`${name}/`))
  }
  return named.map(({ id, name }) => {
    let free = name
    for (let n = 2; !isFree(free); n++) free = `${name.replaceAll('/', '-')}-${n}`
    taken.add(free)
    return { id, name: free }
  })
}

/** What no name leads to: one commit with all of it behind, and each tag by itself. */
async function gatherRest(
  quarantine: Quarantine,
  { tips, loose }: Keepable,
  named: readonly NamedObject[],
  who: Person,
): Promise<readonly NamedObject[]> {
  const isNamed = new Set(named.map(({ id }) => id))
  const ends = tips.filter((id) => !isNamed.has(id))
  const others = loose.filter(({ id }) => !isNamed.has(id))
  const tags = others
    .filter(({ type }) => type === 'tag')
    .map(({ id }) => ({ id, name: `tag-${id.slice(0, 12)}` }))
  const contents = others.filter(({ type }) => type !== 'tag')
  if (ends.length === 0 && contents.length === 0) return tags
  const id = await gather(quarantine, ends, contents, who)
  return [...tags, { id, name: 'unnamed' }]
}

async function gather(
  quarantine: Quarantine,
  ends: readonly string[],
  contents: readonly HeldObject[],
  who: Person,
): Promise<CommitId> {
  const nothing = emptyTree(quarantine.door.objectFormat)
  const tree =
    contents.length === 0 ? await treeOfObjects(quarantine, []) : await treeOfObjects(quarantine, contents)
  const message =
    'What no branch led to\n\nIts parents are commits, its files are contents that were staged or stashed.\n'
  let parents = ends
  while (parents.length > PARENTS_MAX) {
    const lumped: string[] = []
    for (let i = 0; i < parents.length; i += PARENTS_MAX)
      lumped.push(
        await gatherCommits(quarantine, nothing, parents.slice(i, i + PARENTS_MAX), { who, message }),
      )
    parents = lumped
  }
  return commitId(await gatherCommits(quarantine, tree, parents, { who, message }))
}
