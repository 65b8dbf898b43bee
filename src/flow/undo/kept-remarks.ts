import type { Manifest } from '../../model/manifest.ts'
import type { Remark } from '../../model/resolution.ts'
import { peekChange, readChanges } from '../../store/change-log.ts'
import type { Store } from '../../store/open-store.ts'
import { keptFiles } from '../kept-files.ts'
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
  for (const step of steps) {
    const { id } = step
    if (id === null || step.direction === 'again') continue
    const live = step.change ?? (await peekChange(reader, id))
    const [change = live] = live === null ? await readChanges(store, reader, new Set([id])) : []
    for (const { path, command } of change === null ? [] : await keptFiles(world, store, change)) {
      if (!touched.has(path)) continue
      const where = command === null ? 'is not kept here' : `is printed by: ${command}`
      const text = `${id} took uncommitted work along; the file as it was before ${where}`
      remarks.push({ kind: 'uncommitted-kept', item: 0, path, text })
    }
  }
  return remarks
}
