import { join } from 'node:path'
import type { GitDoor } from '../../git/door.ts'
import { type ObjectType, objectIdOf } from '../../git/loose-object.ts'
import { packOf } from '../../git/pack-text.ts'
import {
  admitPack,
  admitPackFile,
  type HeldObject,
  heldObjects,
  missingFrom,
  type Quarantine,
  quarantineAt,
  unpackReadable,
} from '../../git/quarantine.ts'
import type { Store } from '../../store/open-store.ts'
import { randomName } from '../../sys/clock.ts'
import { makePrivateDirectory } from '../../sys/directories.ts'
import { moveFile } from '../../sys/move-file.ts'
import { objectFilesIn, readLooseObject } from '../../sys/object-files.ts'
import { readQuickly } from '../../sys/quick-files.ts'
import { copyIntoTree } from '../../sys/tree-files.ts'
import { removeTree } from '../../sys/trees.ts'

/** Objects of a tree's own store that the user's has not. */
export interface TakenObjects {
  readonly quarantine: Quarantine
  /** They are sound; what they lead to may be missing. */
  readonly objects: readonly HeldObject[]
  /** What could not be taken, each as a sentence's beginning; empty = all of it is here. */
  readonly faults: readonly string[]
}

export interface ObjectStores {
  readonly store: Store
  /** What the store itself has says nothing: somebody may have been killed between placing objects there and making their refs. */
  readonly user: GitDoor
}

/** One object, and what is handed to git at once. */
const OBJECT_MAX_BYTES = 256 * 1024 * 1024
const BATCH_MAX_BYTES = 64 * 1024 * 1024
const PACKS_MAX_BYTES = 1024 * 1024 * 1024
const LOOSE_MAX = 500_000
/** Halving finds a bad one among thousands in a dozen tries. */
const TRIES_MAX = 400

/**
 * Takes the objects of a tree's own store over, as data: git looks at each in a folder of the store's, and a bad one is left out by itself.
 * Nothing that the store there points to is followed.
 *
 * Leaves the folder, for `task` to read and to place; it is removed at the end.
 */
export async function withObjectsTaken<T>(
  { store, user }: ObjectStores,
  objectsDir: string,
  task: (taken: TakenObjects) => Promise<T>,
): Promise<T> {
  const directory = join(store.galleyDir, 'tmp', randomName())
  await makePrivateDirectory(join(directory, 'pack'))
  try {
    const quarantine = quarantineAt(store.door, directory)
    const faults = await fill({ store, user }, quarantine, objectsDir)
    const held = await heldObjects(quarantine)
    const missing = await missingFrom(
      user,
      held.map(({ id }) => id),
    )
    return await task({ quarantine, objects: held.filter(({ id }) => missing.has(id)), faults })
  } finally {
    await removeTree(directory)
  }
}

async function fill(
  { store, user }: ObjectStores,
  quarantine: Quarantine,
  objectsDir: string,
): Promise<readonly string[]> {
  const { loose, packs, others } = objectFilesIn(objectsDir)
  const faults = others.slice(0, 5).map((name) => `its objects/${name} is no object`)
  if (loose.length > LOOSE_MAX) return [...faults, `it holds ${loose.length} objects`]
  const wanted = [...(await missingFrom(user, loose))]
  faults.push(...(await fillLoose(quarantine, objectsDir, wanted)))
  let room = PACKS_MAX_BYTES
  for (const { name, bytes } of packs) {
    room -= bytes
    if (room < 0) return [...faults, 'its packs are too large']
    faults.push(...(await fillPack(store, quarantine, objectsDir, name, bytes)))
  }
  return faults
}

interface Read {
  readonly id: string
  readonly type: ObjectType
  readonly content: Buffer
}

async function fillLoose(
  quarantine: Quarantine,
  objectsDir: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const bad: string[] = []
  let tries = TRIES_MAX
  const admit = async (batch: readonly Read[]): Promise<void> => {
    if (batch.length === 0) return
    if (--tries >= 0 && (await admitPack(quarantine, packOf(batch, quarantine.door.objectFormat)))) return
    if (batch.length === 1 || tries < 0) {
      bad.push(...batch.map(({ id }) => id))
      return
    }
    const half = batch.length >> 1
    await admit(batch.slice(0, half))
    await admit(batch.slice(half))
  }
  let batch: Read[] = []
  let size = 0
  for (const id of ids) {
    const found = readLooseObject(objectsDir, id, OBJECT_MAX_BYTES)
    if (found === null || objectIdOf(found.type, found.content, quarantine.door.objectFormat) !== id) {
      bad.push(id)
      continue
    }
    batch.push({ id, ...found })
    size += found.content.length
    if (size < BATCH_MAX_BYTES) continue
    await admit(batch)
    batch = []
    size = 0
  }
  await admit(batch)
  return bad.length === 0 ? [] : [`${bad.length} of its objects cannot be read, ${bad[0]} among them`]
}

/** A pack that git does not take as a whole is taken apart. */
async function fillPack(
  store: Store,
  quarantine: Quarantine,
  objectsDir: string,
  name: string,
  bytes: number,
): Promise<readonly string[]> {
  const path = `pack/${name}`
  if (copyIntoTree(objectsDir, quarantine.directory, path, bytes).kind !== 'copied')
    return [`its ${path} cannot be read`]
  // Under a name that no pack of the store has, whatever this one calls itself.
  const own = `pack-${randomName().replaceAll('-', '')}00000000.pack`
  const file = join(quarantine.directory, 'pack', own)
  await moveFile(join(quarantine.directory, path), file)
  if (await admitPackFile(quarantine, own)) return []
  const pack = readQuickly(file) ?? ''
  await removeTree(file)
  const apart = join(store.galleyDir, 'tmp', randomName())
  await makePrivateDirectory(apart)
  try {
    await unpackReadable(quarantineAt(store.door, apart), pack)
    const faults = await fillLoose(quarantine, apart, objectFilesIn(apart).loose)
    return [...faults, `its ${path} cannot be read as a whole`]
  } finally {
    await removeTree(apart)
  }
}
