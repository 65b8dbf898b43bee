import type { Change } from '../model/change.ts'
import { keptWorkingFile } from '../store/backups.ts'
import type { Store } from '../store/open-store.ts'
import type { World } from './world.ts'

/** A file whose uncommitted work a change took along, and a command that prints it as it was; null = it is not kept here. */
export interface KeptFile {
  readonly path: string
  readonly command: string | null
}

/** Finds where the user's versions of files are that a change took along with their uncommitted work. No process where there are none. */
export async function keptFiles(
  world: World,
  store: Store,
  change: Pick<Change, 'id' | 'revisions'>,
): Promise<readonly KeptFile[]> {
  const reader = await world.reader()
  const kept: KeptFile[] = []
  for (const { path, taken } of change.revisions.at(-1)?.files ?? []) {
    if (taken !== undefined && taken !== null)
      kept.push({ path, command: await keptWorkingFile(store, reader, change.id, path) })
  }
  return kept
}
