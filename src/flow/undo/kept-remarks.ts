import type { Manifest } from '../../model/manifest.ts'
import type { Remark } from '../../model/resolution.ts'
import { keptWorkingFile } from '../../store/backups.ts'
import { peekChange } from '../../store/change-log.ts'
import type { Store } from '../../store/open-store.ts'
import type { World } from '../world.ts'
import type { UndoStep } from './undo-target.ts'

/**
 * Says where the user's versions of files are that an undone change took along with their uncommitted work: the undo brings back what was
 * committed, and that is not what the user had.
 */
export async function keptRemarks(
  world: World,
  store: Store,
  steps: readonly Pick<UndoStep, 'id' | 'change' | 'direction'>[],
  manifest: Manifest,
): Promise<readonly Remark[]> {
  const reader = await world.reader()
  const touched = new Set(manifest.map((t) => t.path))
  const remarks: Remark[] = []
  for (const { id, change, direction } of steps) {
    if (id === null || direction === 'again') continue
    const files = (change ?? (await peekChange(reader, id)))?.revisions.at(-1)?.files ?? []
    for (const { path, taken } of files) {
      if (taken === undefined || taken === null || !touched.has(path)) continue
      const command = await keptWorkingFile(store, reader, id, path)
      const where = command === null ? 'is not kept any more' : `is printed by: ${command}`
      const text = `${id} took uncommitted work along; the file as it was before ${where}`
      remarks.push({ kind: 'uncommitted-kept', item: 0, path, text })
    }
  }
  return remarks
}
