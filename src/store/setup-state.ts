import { sha256Hex } from '../git/blob-id.ts'
import { lookUpPath, type ObjectReader } from '../git/objects.ts'
import { listUntracked } from '../git/untracked.ts'
import type { CommitId } from '../model/ids.ts'
import type { Policy } from '../model/policy.ts'
import { type Census, takeCensus } from '../sys/census.ts'
import { removeAllInTree } from '../sys/tree-files.ts'
import type { SetupState, Slot } from './pool-slot.ts'

type Setup = NonNullable<Policy['setup']>

/** What a setup is remembered by: the command, and the blobs of the lock files that it reads. */
export async function setupKey(reader: ObjectReader, commit: CommitId, setup: Setup): Promise<string> {
  const tree = await reader.commitTree(commit)
  const blobs: (string | null)[] = []
  for (const path of setup.lockFiles) {
    const found = await lookUpPath(reader, tree, path)
    blobs.push(found.kind === 'file' ? found.entry.id : null)
  }
  return sha256Hex(JSON.stringify([setup.run, setup.lockFiles, blobs]))
}

/** Everything that is untracked in a tree now: what setup brought, when nothing else has run there. */
export async function noteBrought(slot: Slot, key: string): Promise<SetupState> {
  const { paths } = await listUntracked(slot.door, { ignored: 'listed', foldsDirectories: true })
  const census = takeCensus(slot.path, paths)
  return { key, at: census.newestMs, brought: paths, files: census.files }
}

/**
 * Whether what setup brought is still what it brought. New files in it are removed; when an old one was changed or has gone, nothing of it
 * is to be relied on.
 */
export async function holdsStill(slot: Slot, state: SetupState): Promise<boolean> {
  const census: Census = takeCensus(slot.path, state.brought, state.at)
  for (const path of census.added) await removeAllInTree(slot.path, path)
  return census.changed === 0 && census.files === state.files
}
