import { countLines } from '../editing/diff-lines.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { RevisionFile } from '../model/change.ts'
import type { FileMode, Manifest } from '../model/manifest.ts'
import { sideBytes } from './pair-files.ts'

/** What a manifest cannot say of its paths, for a revision that came from a tree: lines added and removed, renames. */
export async function countFiles(
  reader: ObjectReader,
  manifest: Manifest,
  known: readonly RevisionFile[] = [],
  renames: ReadonlyMap<string, string> = new Map(),
): Promise<readonly RevisionFile[]> {
  const facts = new Map(known.map((f) => [f.path, f]))
  const byPath = new Map(manifest.map((t) => [t.path, t]))
  const originOf = (path: string) => renames.get(path) ?? facts.get(path)?.renamedFrom
  const origins = new Set(manifest.flatMap((t) => originOf(t.path) ?? []))
  const bytesOf = async (mode: FileMode, blob: string) =>
    mode === '000000' ? null : sideBytes(reader, mode, blob)
  const files: RevisionFile[] = []
  for (const t of manifest) {
    const renamedFrom = originOf(t.path)
    const taken = facts.get(t.path)?.taken
    const source = (renamedFrom === undefined ? t : byPath.get(renamedFrom)) ?? t
    // What a rename takes along is counted where it goes.
    const before = origins.has(t.path) ? null : await bytesOf(source.oldMode, source.oldBlob)
    const counted = countLines(before, await bytesOf(t.newMode, t.newBlob))
    files.push({
      path: t.path,
      tier: facts.get(t.path)?.tier ?? 'exact',
      added: counted?.added ?? null,
      removed: counted?.removed ?? null,
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      ...(taken === undefined ? {} : { taken }),
    })
  }
  return files
}
