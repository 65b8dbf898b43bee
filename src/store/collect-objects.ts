import { join } from 'node:path'
import { openObjectReader } from '../git/objects.ts'
import { foldRefsAndLoose, objectsIn, packReachable, packThese } from '../git/pack-objects.ts'
import { listRefs } from '../git/refs.ts'
import { listWorktrees } from '../git/worktree-list.ts'
import { isObjectId } from '../model/ids.ts'
import { randomName } from '../sys/clock.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { agesIn, removeQuietly, setModified } from '../sys/file-ages.ts'
import { replaceQuickly } from '../sys/quick-files.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import type { Store } from './open-store.ts'
import { listPacks, type Pack, packIndex, removePacks } from './packs.ts'

/** What is younger may belong to somebody who is about to make the ref that leads to it. */
const YOUNG_MS = 24 * 3_600_000

/** Refs that hold commits with parents of the user's. */
const ON_USERS_HISTORY = ['refs/galley/changes/', 'refs/galley/landing/', 'refs/galley/left/'] as const

/**
 * Packs the store anew: what its refs and work trees lead to, `also`, and everything that is less than a day old. The rest goes, and so does
 * what the user's repository holds too. Packs that are kept stay as they are.
 *
 * Nothing of the user's history is walked, and nothing that it has dropped meanwhile is missed.
 *
 * @param also - Objects that no ref leads to and that are needed.
 */
export async function collectObjects(store: Store, also: readonly string[], nowMs: number): Promise<void> {
  await foldRefsAndLoose(store.door)
  const packs = (await listPacks(store.door)).filter((pack) => pack.keep === null)
  const loose = await looseObjects(store)
  const ends = await writeEnds(store)
  try {
    const roots = await existing(store, also)
    const reachable = await packReachable(store.door, { also: roots, besides: [], ends })
    const young = await packYoung(store, packs, loose, nowMs)
    const made = new Set([reachable, young])
    await removePacks(
      store.door,
      packs.flatMap(({ name }) => (made.has(name) ? [] : [name])),
    )
  } finally {
    removeQuietly(ends)
  }
  await foldRefsAndLoose(store.door)
  // What was reachable, or young, is in a pack now.
  for (const { file, modifiedMs } of await looseObjects(store))
    if (nowMs - modifiedMs > YOUNG_MS) removeQuietly(file)
}

interface LooseFile {
  readonly id: string
  readonly file: string
  readonly modifiedMs: number
}

async function looseObjects(store: Store): Promise<readonly LooseFile[]> {
  const objects = join(store.door.gitDir, 'objects')
  const found: LooseFile[] = []
  for (const { name } of await agesIn(objects)) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue
    for (const { name: rest, modifiedMs } of await agesIn(join(objects, name))) {
      const id = `${name}${rest}`
      if (isObjectId(id)) found.push({ id, file: join(objects, name, rest), modifiedMs })
    }
  }
  return found
}

/** A passing file with the commits at which the user's history begins, in the form of git's own `shallow`. */
async function writeEnds(store: Store): Promise<string> {
  const shallow = store.door.extraEnv?.['GIT_SHALLOW_FILE']
  const theirs = shallow === undefined ? null : await readFileOrNull(shallow)
  const rows = await listRefs(store.door, ...ON_USERS_HISTORY)
  const heads = (await listWorktrees(store.door)).flatMap((row) => row.head ?? [])
  const ids = [...rows.map((row) => row.object), ...heads]
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
