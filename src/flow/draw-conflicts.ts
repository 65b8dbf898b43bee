import { lookUpPath, type ObjectReader } from '../git/objects.ts'
import type { TreeId } from '../model/ids.ts'
import type { Drawing } from '../review/draw-conflict.ts'

/** Conflicting files that are drawn; the others are named. */
const CONFLICTS_DRAWN = 5

/** A conflicting file, which may have another name on each side. */
export interface ConflictPaths {
  readonly path: string
  readonly ours: string
  readonly base: string
  readonly theirs: string
}

export const samePath = (path: string): ConflictPaths => ({ path, ours: path, base: path, theirs: path })

export interface ConflictTrees {
  readonly base: TreeId | null
  readonly ours: TreeId | null
  readonly theirs: TreeId | null
}

export interface DrawnFile {
  readonly path: string
  readonly drawing: Drawing
}

/** Both sides and the base of each conflicting file, for whoever has to decide. */
export async function drawConflicts(
  reader: ObjectReader,
  files: readonly ConflictPaths[],
  trees: ConflictTrees,
): Promise<readonly DrawnFile[]> {
  const { drawConflict } = await import('../review/draw-conflict.ts')
  const drawn: DrawnFile[] = []
  for (const file of files.slice(0, CONFLICTS_DRAWN)) {
    const [ours, base, theirs] = await Promise.all([
      bytesAt(reader, trees.ours, file.ours),
      bytesAt(reader, trees.base, file.base),
      bytesAt(reader, trees.theirs, file.theirs),
    ])
    const isWhole = ours !== null && base !== null && theirs !== null
    drawn.push({
      path: file.path,
      drawing: isWhole
        ? drawConflict({ ours, base, theirs })
        : { kind: 'not-drawn', reason: 'it is on one side only' },
    })
  }
  return drawn
}

/** The bytes of a file in a tree; null where there is none. */
export async function bytesAt(
  reader: ObjectReader,
  tree: TreeId | null,
  path: string,
): Promise<Buffer | null> {
  const found = await lookUpPath(reader, tree, path)
  return found.kind === 'file' ? ((await reader.contents(found.entry.id))?.bytes ?? null) : null
}
