import { type StatEntry, statEntries } from '../../git/index-stats.ts'
import type { Slot } from '../../store/pool-slot.ts'
import { viewIndex } from '../../store/scratch.ts'
import { modifiedMs } from '../../sys/file-ages.ts'
import { readQuickly } from '../../sys/quick-files.ts'
import type { FilesBefore } from './sort-tree.ts'

/**
 * Remembers how a tree of the pool was handed out: by galley's own index of it, and by the time of the state file, which is written
 * last. Before anything runs there this is certain; afterwards it is as good as those two files, which lie outside the tree.
 */
export function filesBefore(slot: Slot, brought: readonly string[]): FilesBefore {
  const index = readQuickly(viewIndex(slot))
  const stats: ReadonlyMap<string, StatEntry> =
    index === null ? new Map() : statEntries(index, slot.door.objectFormat)
  return { stats, brought, atMs: modifiedMs(slot.stateFile) }
}
