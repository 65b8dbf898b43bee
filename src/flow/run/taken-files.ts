import { takenText } from '../../editing/taken-lines.ts'
import { lookUpPath } from '../../git/objects.ts'
import type { RevisionFile } from '../../model/change.ts'
import type { TreeId } from '../../model/ids.ts'
import type { FileMode } from '../../model/manifest.ts'
import type { Remark } from '../../model/resolution.ts'
import type { FileKey } from '../../store/landing-journal.ts'
import type { World } from '../world.ts'

/** A tree of a run's, and the files of the user's in it that nobody has committed, as they were when the command began. */
export interface WithTaken {
  readonly tree: TreeId
  readonly taken?: ReadonlyMap<string, FileKey>
}

/** What a revision says of files of the user's that it holds although nobody has committed them. */
export const filesTaken = ({ taken }: WithTaken): readonly RevisionFile[] =>
  [...(taken ?? [])].map(([path, { mode, id }]) => ({
    path,
    tier: 'exact',
    added: null,
    removed: null,
    taken: { mode: mode as FileMode, id },
  }))

/** The same as remarks: how much of the user's each holds, and what the command did to that. */
export async function takenRemarks(world: World, { taken, tree }: WithTaken): Promise<readonly Remark[]> {
  const reader = await world.reader()
  const bytesOf = async (id: string) => (await reader.contents(id))?.bytes ?? null
  const remarks: Remark[] = []
  for (const [path, { id }] of taken ?? []) {
    const found = await lookUpPath(reader, tree, path)
    const next = found.kind === 'file' ? await bytesOf(found.entry.id) : null
    const text = takenText({ base: null, mine: await bytesOf(id), next })
    remarks.push({ kind: 'takes-uncommitted', item: 0, path, text })
  }
  return remarks
}
