import { basename, join } from 'node:path'
import { blobIdOf } from '../git/blob-id.ts'
import { loosePath } from '../git/loose-object.ts'
import type { GitObject, ObjectReader } from '../git/objects.ts'
import { packDirectory } from '../git/pack-objects.ts'
import { keepInStore } from '../git/promote.ts'
import { type BlobId, isObjectId } from '../model/ids.ts'
import { namesIn } from '../sys/directories.ts'
import { agesIn, removeQuietly, touchQuietly } from '../sys/file-ages.ts'
import { PackIndex } from '../sys/pack-index.ts'
import type { Store } from './open-store.ts'
import { placeObject } from './write-objects.ts'

/** Above either, one process that copies what git has packed already is quicker than writing file after file. */
const LOOSE_MAX_OBJECTS = 64
const LOOSE_MAX_BYTES = 4 * 1024 * 1024

/** What lies in the store itself, whatever its alternate, the user's repository, holds too. */
export interface OwnObjects {
  readonly has: (id: string) => boolean
  readonly inPack: (id: string) => boolean
}

export const packIndexOf = ({ door }: Store, name: string): PackIndex =>
  new PackIndex(join(packDirectory(door), `${name}.idx`), door.objectFormat === 'sha1' ? 20 : 32)

/** Costs a look at the names of the store's packs; then some small reads for each object that is asked about. */
export async function ownObjects(store: Store): Promise<OwnObjects> {
  const { door } = store
  const names = (await namesIn(packDirectory(door))).filter((name) => name.endsWith('.idx'))
  const packs = names.map((name) => packIndexOf(store, basename(name, '.idx')))
  const inPack = (id: string) => packs.some((pack) => pack.has(id))
  return {
    inPack,
    // One that lies loose counts as new again, so that a collection which runs just now leaves it.
    has: (id) => touchQuietly(join(door.gitDir, 'objects', loosePath(id))) || inPack(id),
  }
}

/**
 * Puts objects into the store itself that it sees only in the user's repository, whose own collection may drop them there. Those that it
 * has are not written again; what is nowhere is passed over.
 *
 * No process, unless there are many or large ones. Not synced: until their change lands, the user's repository has them too.
 */
export async function keepObjects(store: Store, reader: ObjectReader, ids: Iterable<string>): Promise<void> {
  const own = await ownObjects(store)
  const missing = [...new Set(ids)].filter((id) => !own.has(id))
  const found: GitObject[] = []
  for (const id of missing) {
    const object = await reader.info(id)
    if (object !== null) found.push(object)
  }
  const bytes = found.reduce((sum, object) => sum + object.size, 0)
  if (found.length > LOOSE_MAX_OBJECTS || bytes > LOOSE_MAX_BYTES) {
    await keepInStore(
      store.door,
      found.map((object) => object.id),
    )
    return
  }
  for (const { id } of found) {
    const read = await reader.contents(id)
    if (read !== null) await placeObject(store, id, read.object.type, read.bytes)
  }
}

/** Keeps bytes as a blob of the store itself. */
export async function keepBytes(store: Store, bytes: Uint8Array): Promise<BlobId> {
  const id = await blobIdOf(bytes, store.door.objectFormat)
  if (!(await ownObjects(store)).has(id)) await placeObject(store, id, 'blob', bytes)
  return id
}

/** Keeps bytes that were only looked at: not again where the user's repository has them, which is soon enough to know what they were. */
export async function keepSeen(store: Store, reader: ObjectReader, bytes: Uint8Array): Promise<BlobId> {
  const id = await blobIdOf(bytes, store.door.objectFormat)
  if ((await reader.info(id)) === null) await placeObject(store, id, 'blob', bytes)
  return id
}

/** An object in a file of its own. */
export interface LooseFile {
  readonly id: string
  readonly file: string
  readonly modifiedMs: number
}

export async function looseObjects(store: Store): Promise<readonly LooseFile[]> {
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

/** Removes files of single objects that a pack of the store holds too. A pack of the user's does not count: it may go. */
export async function pruneLoose(store: Store, loose: readonly LooseFile[]): Promise<void> {
  const own = await ownObjects(store)
  for (const { id, file } of loose) if (own.inPack(id)) removeQuietly(file)
}
