import { type StatEntry, statEntries } from '../../git/index-stats.ts'
import { ownRepositoryOf } from '../../store/own-repository.ts'
import type { Slot } from '../../store/pool-slot.ts'
import { viewIndex } from '../../store/scratch.ts'
import { modifiedMs } from '../../sys/file-ages.ts'
import { readQuickly } from '../../sys/quick-files.ts'
import type { FilesBefore } from './sort-tree.ts'

/**
 * Remembers how a tree of the pool was handed out: by galley's own index of it, and by the time of the note of what it was given, which is written
 * last. Before anything runs there this is certain; afterwards it is as good as those two files, which lie outside the tree.
 */
export async function filesBefore(slot: Slot, brought: readonly string[]): Promise<FilesBefore> {
  const index = readQuickly(viewIndex(slot))
  const stats: ReadonlyMap<string, StatEntry> =
    index === null ? new Map() : statEntries(index, slot.door.objectFormat)
  const { handedOut } = await ownRepositoryOf(slot)
  return { stats, brought, atMs: handedOut?.atMs ?? modifiedMs(slot.stateFile) }
}
