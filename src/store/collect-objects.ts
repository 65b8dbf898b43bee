import { join } from 'node:path'
import { openObjectReader } from '../git/objects.ts'
import { foldRefs, objectsIn, packReachable, packThese } from '../git/pack-objects.ts'
import { withoutPromisor } from '../git/promisor.ts'
import { listRefs, type RefRow } from '../git/refs.ts'
import { listWorktrees } from '../git/worktree-list.ts'
import { randomName } from '../sys/clock.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { removeQuietly, setModified } from '../sys/file-ages.ts'
import { replaceQuickly } from '../sys/quick-files.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import { type LooseFile, looseObjects, packIndexOf, pruneLoose } from './keep-objects.ts'
import type { Store } from './open-store.ts'
import { ownReachable } from './own-reachable.ts'
import { listPacks, type Pack, packIndex, removePacks } from './packs.ts'

/** What is younger may belong to somebody who is about to make the ref that leads to it. */
const YOUNG_MS = 24 * 3_600_000

/** Refs that hold commits with parents of the user's. */
const ON_USERS_HISTORY = ['refs/galley/changes/', 'refs/galley/landing/', 'refs/galley/left/'] as const

/** Refs that hold work which is nowhere else: of a commit that a run left, its parents may be the run's own, too. */
const OF_USERS_WORK = ['refs/galley/left/', 'refs/galley/backup/'] as const

/** What is to stay although no ref of the store leads to all of it. */
export interface Needed {
  /** Objects with all that they lead to, as far as the user's repository does not hold it. */
  readonly roots: readonly string[]
  /** Objects that the store holds itself, whatever the user's repository holds: it may drop them. */
  readonly own: readonly string[]
}

/**
 * Packs the store anew: what its refs and work trees lead to, what is needed besides, and everything that is less than a day old. The rest
 * goes. Packs that are kept stay as they are.
 *
 * Nothing of the user's history is walked, and nothing that it has dropped meanwhile is missed.
 */
export async function collectObjects(given: Store, needed: Needed, nowMs: number): Promise<void> {
  const store = { ...given, door: withoutPromisor(given.door) }
  await foldRefs(store.door)
  const all = await listPacks(store.door)
  const packs = all.filter((pack) => pack.keep === null)
  const loose = await looseObjects(store)
  const heads = (await listWorktrees(store.door)).flatMap((row) => row.head ?? [])
  const refs = await listRefs(store.door, 'refs/')
  const ends = await writeEnds(store, [...objectsBelow(refs, ON_USERS_HISTORY), ...heads])
  try {
    const tops = [...refs.map((row) => row.object), ...heads, ...needed.roots]
    const reachable = await packReachable(store.door, { from: await existing(store, tops), ends })
    const settled = all.flatMap(({ name, keep }) => (keep === null ? [] : [name]))
    const own = await ownOf(store, needed.own, objectsBelow(refs, OF_USERS_WORK))
    const kept = await packOwn(store, own, reachable === null ? settled : [...settled, reachable])
    const young = await packYoung(store, packs, loose, nowMs)
    const made = new Set([reachable, kept, young])
    await removePacks(
      store.door,
      packs.flatMap(({ name }) => (made.has(name) ? [] : [name])),
    )
  } finally {
    removeQuietly(ends)
  }
  await pruneLoose(store, await looseObjects(store))
  // What was reachable, or young, is in a pack now.
  for (const { file, modifiedMs } of await looseObjects(store))
    if (nowMs - modifiedMs > YOUNG_MS) removeQuietly(file)
}

const objectsBelow = (refs: readonly RefRow[], prefixes: readonly string[]): readonly string[] =>
  refs.flatMap(({ ref, object }) => (prefixes.some((prefix) => ref.startsWith(prefix)) ? [object] : []))

/** What is needed, and the work under refs with all of it that lies in the store. */
async function ownOf(
  store: Store,
  needed: readonly string[],
  work: readonly string[],
): Promise<readonly string[]> {
  const reader = openObjectReader(store.door)
  try {
    return [...(await existing(store, needed)), ...(await ownReachable(store, reader, work))]
  } finally {
    await reader.close()
  }
}

async function packOwn(
  store: Store,
  ids: readonly string[],
  besides: readonly string[],
): Promise<string | null> {
  const held = besides.map((name) => packIndexOf(store, name))
  const left = [...new Set(ids)].filter((id) => !held.some((pack) => pack.has(id)))
  return packThese(
    store.door,
    left.map((id) => ({ id, name: '' })),
    { local: false },
  )
}

/** A passing file with the commits at which the user's history begins, in the form of git's own `shallow`. */
async function writeEnds(store: Store, ids: readonly string[]): Promise<string> {
  const shallow = store.door.extraEnv?.['GIT_SHALLOW_FILE']
  const theirs = shallow === undefined ? null : await readFileOrNull(shallow)
  const commits = await existing(store, ids, 'commit')
  const lines = new Set([...(theirs?.toString('latin1').split('\n') ?? []), ...commits])
  lines.delete('')
  const directory = join(store.galleyDir, 'tmp')
  await makePrivateDirectory(directory)
  const file = join(directory, `ends-${randomName()}`)
  await replaceQuickly(file, [...lines].map((line) => `${line}\n`).join(''))
  return file
}

async function existing(store: Store, ids: readonly string[], type?: string): Promise<readonly string[]> {
  const reader = openObjectReader(store.door)
  try {
    const found: string[] = []
    for (const id of new Set(ids)) {
      const info = await reader.info(id)
      if (info !== null && (type === undefined || info.type === type)) found.push(id)
    }
    return found
  } finally {
    await reader.close()
  }
}

/** One pack of all young objects that no other pack holds, as old as the youngest of them. */
async function packYoung(
  store: Store,
  packs: readonly Pack[],
  loose: readonly LooseFile[],
  nowMs: number,
): Promise<string | null> {
  const isYoung = (modifiedMs: number) => nowMs - modifiedMs <= YOUNG_MS
  const youngPacks = packs.filter((pack) => isYoung(pack.modifiedMs))
  const youngLoose = loose.filter((file) => isYoung(file.modifiedMs))
  const held = new Set<string>()
  const before = new Set(packs.map((pack) => pack.name))
  for (const { name } of await listPacks(store.door)) {
    if (before.has(name)) continue
    for (const id of await idsIn(store, name)) held.add(id)
  }
  const wanted = new Set(youngLoose.map((file) => file.id))
  for (const { name } of youngPacks) for (const id of await idsIn(store, name)) wanted.add(id)
  const left = [...wanted].filter((id) => !held.has(id))
  const made = await packThese(
    store.door,
    left.map((id) => ({ id, name: '' })),
    { local: false },
  )
  const ages = [...youngPacks, ...youngLoose].map((one) => one.modifiedMs)
  if (made !== null)
    setModified(join(store.door.gitDir, 'objects', 'pack', `${made}.pack`), Math.max(...ages))
  return made
}

async function idsIn(store: Store, name: string): Promise<readonly string[]> {
  const index = await packIndex(store.door, name)
  return index === null ? [] : objectsIn(store.door, index)
}
