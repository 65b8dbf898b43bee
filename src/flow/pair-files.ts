import type { ObjectReader } from '../git/objects.ts'
import { refuse } from '../model/error.ts'
import type { FileMode, Manifest } from '../model/manifest.ts'
import type { DiffFile, DiffSide } from '../review/diff-file.ts'

/** What a tree entry reads as: a file's bytes, a link's target, a submodule's commit as git draws it. null = its blob is not there. */
export async function sideBytes(reader: ObjectReader, mode: FileMode, blob: string): Promise<Buffer | null> {
  if (mode === '160000') return Buffer.from(`Subproject commit ${blob}\n`)
  return (await reader.contents(blob))?.bytes ?? null
}

/**
 * The bytes of both sides of every path of a manifest. A rename is one pair.
 *
 * @param renames - New path to old path.
 * @throws GalleyError `stale`, if a blob is not in the repository any more.
 */
export async function pairFiles(
  reader: ObjectReader,
  manifest: Manifest,
  renames: ReadonlyMap<string, string>,
): Promise<readonly DiffFile[]> {
  const sideOf = async (mode: FileMode, blob: string): Promise<DiffSide | null> => {
    if (mode === '000000') return null
    const bytes = await sideBytes(reader, mode, blob)
    if (bytes === null) refuse('stale', `the blob ${blob} is not in the repository any more`, { blob })
    return { mode, blob, bytes }
  }
  const moved = new Set(renames.values())
  const byPath = new Map(manifest.map((t) => [t.path, t]))
  const pairs: DiffFile[] = []
  for (const t of manifest) {
    if (t.newMode === '000000' && moved.has(t.path)) continue
    const origin = renames.get(t.path)
    const source = origin === undefined ? t : (byPath.get(origin) ?? t)
    const sides = {
      before: await sideOf(source.oldMode, source.oldBlob),
      after: await sideOf(t.newMode, t.newBlob),
    }
    pairs.push({ path: t.path, ...sides, ...(origin === undefined ? {} : { renamedFrom: origin }) })
  }
  return pairs
}
