import type { Change } from '../../model/change.ts'
import type { ChangeId } from '../../model/ids.ts'
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
  const touched = new Set(manifest.map((t) => t.path))
  const back = steps.filter((step) => step.direction === 'back')
  const remarks: Remark[] = []
  for (const change of await changesOf(world, store, back)) {
    for (const { path, command } of await keptFiles(world, store, change)) {
      if (!touched.has(path)) continue
      const where = command === null ? 'is not kept here' : `is printed by: ${command}`
      const text = `${change.id} took uncommitted work along; the file as it was before ${where}`
      remarks.push({ kind: 'uncommitted-kept', item: 0, path, text })
    }
  }
  return remarks
}

/** The changes that are undone, each once, as far as they are known here. The archived ones are read all at once. */
async function changesOf(
  world: World,
  store: Store,
  steps: readonly Pick<UndoStep, 'id' | 'change'>[],
): Promise<readonly Change[]> {
  const reader = await world.reader()
  const found = new Map<ChangeId, Change>()
  const archived = new Set<ChangeId>()
  for (const { id, change } of steps) {
    if (id === null || found.has(id)) continue
    const live = change ?? (await peekChange(reader, id))?.change ?? null
    if (live === null) archived.add(id)
    else found.set(id, live)
  }
  return [...found.values(), ...(await readChanges(store, reader, archived))]
}
