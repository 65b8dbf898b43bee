import { basename, join } from 'node:path'
import type { GitDoor } from '../git/door.ts'
import { packDirectory } from '../git/pack-objects.ts'
import { randomName } from '../sys/clock.ts'
import { agesIn, removeQuietly } from '../sys/file-ages.ts'
import { readFileOrNull, writeOwnFile } from '../sys/small-files.ts'

/** One pack of the store. */
export interface Pack {
  /** `pack-<hash>`. */
  readonly name: string
  readonly modifiedMs: number
  readonly bytes: number
  /** What its `.keep` file says; null = it has none. */
  readonly keep: string | null
}

export async function listPacks(store: GitDoor): Promise<readonly Pack[]> {
  const directory = packDirectory(store)
  const files = await agesIn(directory)
  const packs = files.filter((file) => file.name.endsWith('.pack'))
  return Promise.all(
    packs.map(async (file) => {
      const name = basename(file.name, '.pack')
      const keep = await readFileOrNull(join(directory, `${name}.keep`))
      return { name, modifiedMs: file.modifiedMs, bytes: file.bytes, keep: keep?.toString('utf8') ?? null }
    }),
  )
}

/** Marks a pack as one that no repack and no collection removes; on the disk when this returns. */
export const keepPack = (store: GitDoor, name: string, reason: string): Promise<void> =>
  writeOwnFile(join(packDirectory(store), `${name}.keep`), reason, `tmp_keep_${randomName()}`)

export const packIndex = (store: GitDoor, name: string): Promise<Buffer | null> =>
  readFileOrNull(join(packDirectory(store), `${name}.idx`))

/**
 * Removes packs whose objects are elsewhere. The index goes first, so that nobody looks for the pack behind it; a multi-pack index,
 * which names them, before that.
 */
export async function removePacks(store: GitDoor, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const directory = packDirectory(store)
  removeQuietly(join(directory, 'multi-pack-index'))
  for (const name of names) {
    for (const kind of ['idx', 'keep', 'rev', 'bitmap', 'mtimes', 'pack'])
      removeQuietly(join(directory, `${name}.${kind}`))
  }
}
